"""The example of a gate: the commands of its page, the steps of the action,
and the fixture of pytest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

pytestmark = pytest.mark.slow
METRICS = "cider,rouge"


@pytest.fixture(scope="module")
def runs(root, tmp_path_factory):
    """Folder with the runs of the page, scored by its commands."""
    folder = tmp_path_factory.mktemp("gate")
    source = root / "examples" / "gate"
    for version in ("baseline", "good", "worse", "unsure"):
        harness(
            folder,
            "score",
            source / f"{version}.jsonl",
            "--references",
            source / "references.jsonl",
            "-m",
            METRICS,
            "--output",
            f"runs/gate/{version}",
        )
    harness(
        folder,
        "export",
        "runs/gate/baseline",
        "--format",
        "baseline",
        "--output",
        "runs/gate/committed",
    )
    return folder


def harness(folder, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "harness", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("version", "verdict", "code"),
    [("good", "passed", 0), ("worse", "failed", 1), ("unsure", "undecided", 4)],
)
def test_the_commands_of_the_page_end_as_it_says(runs, root, version, verdict, code):
    command = (
        f"gate runs/gate/{version} --baseline runs/gate/committed -m CIDEr-D "
        "--max-drop 0.2"
    )
    assert command in (root / "examples" / "gate" / "README.md").read_text()
    out = harness(runs, *command.split(), code=code)
    assert out.splitlines()[-1].startswith(f"{verdict}: ") or f"\n{verdict}: " in out


def test_a_baseline_is_small_and_has_its_captions(runs):
    committed = runs / "runs" / "gate" / "committed"
    assert sum(path.stat().st_size for path in committed.rglob("*")) < 300_000
    assert not (committed / "candidates").exists()
    assert "identical" in harness(
        runs, "compare", "runs/gate/baseline", "runs/gate/committed", "--identical"
    )


def test_a_baseline_is_scored_again_without_the_files_that_made_it(runs, root):
    page = (root / "examples" / "gate" / "README.md").read_text()
    block = (
        page.partition("on any machine:\n\n```\n")[2]
        .partition("```")[0]
        .replace("examples/gate/", f"{root}/examples/gate/")
    )
    for command in block.splitlines():
        out = harness(runs, *command.split()[1:])
    assert "\npassed: " in out
    values = [
        json.loads((runs / "runs/gate" / name / "results.json").read_text())["results"][
            0
        ]
        for name in ("baseline", "again")
    ]
    assert (
        values[0]["value"] == values[1]["value"]
        and values[0]["ci95"] == values[1]["ci95"]
    )


REF = "https://github.com/OWNER/REPOSITORY@v0.1.0"


def install(root, folder, **inputs):
    """Run the action's installation with a ``python`` that prints its arguments, one a
    line; return the finished process.
    """
    action = yaml.safe_load((root / "examples" / "gate" / "action.yml").read_text())
    (step,) = (
        step for step in action["runs"]["steps"] if "install.sh" in step.get("run", "")
    )
    assert {
        key: text.removeprefix("${{ inputs.").removesuffix(" }}")
        for key, text in step["env"].items()
    } == {"PACKAGE": "package", "REF": "ref"}
    (folder / "python").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (folder / "python").chmod(0o755)
    script = step["run"].replace(
        "${{ github.action_path }}", str(root / "examples" / "gate")
    )
    path = f"{folder}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PACKAGE": "", "REF": "", **inputs, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("inputs", "sources"),
    [
        ({}, None),
        ({"PACKAGE": "./one ./two"}, ["./one", "./two"]),
        (
            {"REF": REF},
            [
                f"git+{REF}#subdirectory=kernels",
                f"git+{REF}",
            ],
        ),
    ],
)
def test_the_action_installs_what_is_there(root, tmp_path, inputs, sources):
    folders = [str(root / "kernels"), str(root)]
    lines = install(root, tmp_path, **inputs).stdout.splitlines()
    assert lines == ["-m", "pip", "install", *(sources or folders)]
    assert all((Path(folder) / "pyproject.toml").is_file() for folder in folders)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"REF": "v0.1.0"}, "ref is 'v0.1.0'; expected ADDRESS@TAG"),
        ({"REF": "git@github.com:o/r"}, "expected ADDRESS@TAG"),
        ({"REF": REF, "PACKAGE": "./one"}, "give one"),
    ],
)
def test_the_action_refuses_what_it_cannot_install(root, tmp_path, inputs, message):
    done = install(root, tmp_path, **inputs)
    assert done.returncode == 2
    assert message in done.stderr and not done.stdout


@pytest.mark.slow
def test_git_finds_both_distributions_at_an_address_and_tag(root, tmp_path):
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", f"file://{root}", tmp_path / "clone"],
        check=True,
    )
    subprocess.run(["git", "tag", "v0.1.0"], cwd=tmp_path / "clone", check=True)
    lines = install(root, tmp_path, REF=f"file://{tmp_path}/clone@v0.1.0").stdout
    for source in lines.splitlines()[3:]:
        address, _, folder = source.partition("git+")[2].partition("#subdirectory=")
        place, _, tag = address.rpartition("@")
        listed = subprocess.run(
            ["git", "ls-tree", "-r", "--name-only", tag, f"{folder or '.'}/"],
            cwd=place.removeprefix("file://"),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        assert str(Path(folder, "pyproject.toml")) in listed


def test_the_job_of_the_page_installs_before_it_scores(root):
    page = (root / "examples" / "gate" / "README.md").read_text()
    job = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])
    runs = [step.get("run", step.get("uses", "")) for step in job["steps"]]
    installing, scoring = (
        next(k for k, text in enumerate(runs) if word in text)
        for word in ("pip install", "harness score")
    )
    gate = job["steps"][-1]["with"]
    assert installing < scoring < len(runs) - 1 and gate["install"] == "false"
    action = yaml.safe_load((root / "examples" / "gate" / "action.yml").read_text())
    assert set(gate) <= set(action["inputs"])


@pytest.mark.slow
@pytest.mark.parametrize(("version", "code"), [("good", 0), ("worse", 1)])
def test_the_steps_of_the_action_run_as_a_script(runs, root, tmp_path, version, code):
    action = yaml.safe_load((root / "examples" / "gate" / "action.yml").read_text())
    step = action["runs"]["steps"][-1]
    values = {
        "new": f"runs/gate/{version}",
        "baseline": "runs/gate/committed",
        "metrics": METRICS,
        "max-drop": "0.2 0.05",
    }

    given = {
        name: values.get(name, settings.get("default", ""))
        for name, settings in action["inputs"].items()
    }

    environment = {}
    for name, text in step["env"].items():
        key = text.removeprefix("${{ ").removesuffix(" }}")
        environment[name] = (
            given[key.removeprefix("inputs.")]
            if key.startswith("inputs.")
            else {"github.token": "t"}.get(key, "7")
        )

    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "gh").write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/called\ncp gate.md {tmp_path}/comment\n'
    )
    (tools / "harness").write_text(
        f'#!/bin/sh\nexec {sys.executable} -m harness "$@"\n'
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)

    summary = tmp_path / "summary.md"
    script = step["run"].replace(
        "${{ github.action_path }}", str(root / "examples" / "gate")
    )
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=runs,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={
            **os.environ,
            **environment,
            "PATH": f"{tools}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(summary),
        },
    )

    assert done.returncode == code, done.stderr
    assert (
        "**harness gate " in summary.read_text()
        and "| CIDEr-D" in (tmp_path / "comment").read_text()
    )
    assert "pr comment 7" in (tmp_path / "called").read_text()
    assert ElementTree.parse(runs / "gate.xml").getroot().attrib["failures"] == (
        "0" if code == 0 else "1"
    ), "CIDEr-D"


@pytest.mark.slow
def test_the_fixture_of_pytest_fails_a_test_where_the_gate_does_not_pass(runs):
    (runs / "test_captions.py").write_text(
        "def test_good(caption_gate):\n"
        "    assert caption_gate('runs/gate/good', 'runs/gate/committed', "
        "{'CIDEr-D': 0.2}).verdict == 'passed'\n"
        "def test_worse(caption_gate):\n"
        "    caption_gate('runs/gate/worse', 'runs/gate/committed', {'CIDEr-D': 0.2})\n"
        "def test_unsure(caption_gate):\n"
        "    caption_gate('runs/gate/unsure', 'runs/gate/committed', {'CIDEr-D': "
        "0.2})\n"
        "def test_unsure_on_purpose(caption_gate):\n"
        "    result = caption_gate('runs/gate/unsure', 'runs/gate/committed', "
        "{'CIDEr-D': 0.2}, undecided='pass')\n"
        "    assert result.verdict == 'undecided'\n"
    )

    installed = any(
        entry.value == "harness.decisions.gate.pytest_plugin"
        for entry in entry_points(group="pytest11")
    )
    plugin = [] if installed else ["-p", "harness.decisions.gate.pytest_plugin"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *plugin,
        "test_captions.py",
    ]

    done = subprocess.run(
        command, cwd=runs, capture_output=True, text=True, check=False, timeout=120
    )
    assert "2 failed, 2 passed" in done.stdout, done.stdout
    assert (
        "caption_gate failed: CIDEr-D worse by" in done.stdout
        and "caption_gate undecided: CIDEr-D worse by" in done.stdout
    )
