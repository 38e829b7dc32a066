"""docs/plugins.md: its examples run, and it documents every hook,
manifest key, protocol and kind.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest
import yaml

import harness
import harness.contracts
from harness.errors import HarnessError
from harness.registry.component_kinds import HIDDEN, KINDS
from harness.registry.hooks import Hooks
from harness.registry.instance_checks import PROTOCOLS
from harness.registry.manifest_schema import ENTRY_KEYS, PROGRAM_KEYS, TOP_KEYS
from harness.testing.cli import check
from harness.testing.targets import ALL_CHECKS, checks_of

SPEC = """
task: sample
dataset: {reader: jsonl, path: data.jsonl}
models: [{from-file: {path: captions.json}}]
metrics: [words, distinct]
bootstrap: {samples: 0}
"""


@pytest.fixture(scope="module")
def guide(root):
    return (root / "docs" / "plugins.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def project(guide, tmp_path_factory):
    """A project with the modules of the page, one manifest of both examples,
    and a spec in a folder of its own.
    """
    folder = tmp_path_factory.mktemp("project")
    blocks = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    for block in blocks:
        name = re.match(r"# (\w+\.py)\n", block)
        (folder / (name[1] if name else "test_contract.py")).write_text(block)
    manifest: dict[str, Any] = {}
    for block in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL):
        for key, value in yaml.safe_load(block).items():
            manifest[key] = (
                {**manifest.get(key, {}), **value} if isinstance(value, dict) else value
            )
    (folder / "registry.yaml").write_text(yaml.safe_dump(manifest))
    (folder / "specs").mkdir()
    rows = [
        {"id": f"e{k}", "references": ["a dog runs", "the dog ran"]} for k in range(3)
    ]
    (folder / "specs/data.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    (folder / "specs/captions.json").write_text(
        json.dumps({f"e{k}": ["one dog", "a dog"] for k in range(3)})
    )
    (folder / "specs/spec.yaml").write_text(SPEC)
    return folder


def call(*arguments, cwd):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env=environment
    )


@pytest.mark.slow
@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    "arguments",
    [
        ("harness", "check", "my_metrics:Words"),
        ("harness", "check", "words"),
        ("harness", "check", "type-token-ratio"),
        ("harness", "check", "overlap"),
        ("harness", "check", "word-difference"),
        ("harness", "check", "letters"),
        ("pytest", "-q", "-p", "no:cacheprovider"),
    ],
    ids=" ".join,
)
def test_the_metric_passes_its_checks(project, arguments):
    result = call(*arguments, cwd=project)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "passed" in result.stdout


@pytest.mark.slow
def test_the_adapter_reads_a_path_beside_the_spec_and_the_hook_is_called(project):
    result = call("harness", "run", "specs/spec.yaml", "--output", "run", cwd=project)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "sample: 2 results" in result.stdout
    manifest = json.loads((project / "run/manifest.json").read_text())
    assert manifest["models"][0]["fingerprint"].startswith("from-file|")
    used = {
        plugin["name"]: plugin["provider"]
        for plugin in manifest["plugins"]
        if plugin["used"]
    }
    assert (used["from-file"], used["words"], used["distinct"]) == (
        "mine",
        "mine",
        "harness",
    )


@pytest.mark.slow
def test_prepare_reports_a_task_that_cannot_be_processed(project):
    (project / "specs/few.json").write_text(json.dumps({"e0": ["a dog"]}))
    (project / "specs/few.yaml").write_text(SPEC.replace("captions.json", "few.json"))
    result = call("harness", "run", "specs/few.yaml", cwd=project)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "few.json: has no captions for 2 examples, the first is e1" in result.stderr


@pytest.mark.slow
def test_a_metric_of_a_built_in_name_is_available_by_its_full_name(project, tmp_path):
    (tmp_path / "my_metrics.py").write_text((project / "my_metrics.py").read_text())
    (tmp_path / "registry.yaml").write_text(
        'provider: acme\nmetrics:\n  cider: {import: "my_metrics:Words", summary: '
        '"x"}\n'
    )
    assert (
        "metric of harness"
        in call("harness", "show", "metrics/cider", cwd=tmp_path).stdout
    )
    assert (
        "my_metrics:Words" in call("harness", "show", "acme/cider", cwd=tmp_path).stdout
    )


def test_the_options_and_checks_on_the_page_exist(guide):
    parser = argparse.ArgumentParser()
    check.add_arguments(parser)
    lines = re.findall(r"^    (harness check .*)$", guide, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        parser.parse_args(line.partition("#")[0].split()[2:])
    assert "candidate-order" in checks_of("metrics").names
    assert "runs" in checks_of("tasks").names


def rows(guide: str, heading: str) -> list[str]:
    """Return the first cells of the tables below a heading."""
    section = guide.partition(heading)[2].partition("\n## ")[0]
    return re.findall(r"^\| (.*?) \|", section, re.MULTILINE)


def code(cells: list[str]) -> set[str]:
    return {name for cell in cells for name in re.findall(r"`([\w.-]+)", cell)}


def test_every_manifest_key_is_documented(guide):
    documented = code(rows(guide, "\n## The manifest"))
    expected = TOP_KEYS | ENTRY_KEYS | set(KINDS) | set(HIDDEN)
    assert not expected - documented
    assert not documented - expected - {"role"}


def test_every_key_of_a_program_is_documented(guide):
    assert set(PROGRAM_KEYS) <= code(rows(guide, "\n## Programs"))


def test_every_hook_is_documented_with_its_arguments(guide):
    documented = set(re.findall(r"`(harness_\w+)\(([^)]*)\)`", guide))
    hooks = {
        (name, ", ".join(list(inspect.signature(function).parameters)[1:]))
        for name, function in inspect.getmembers(Hooks, inspect.isfunction)
        if name.startswith("harness_")
    }
    assert len(hooks) >= 5
    assert documented == hooks


def test_every_protocol_is_documented(guide):
    protocols = {
        name: value
        for name in harness.contracts.__all__
        if getattr(value := getattr(harness.contracts, name), "_is_protocol", False)
    }
    required = {
        protocol.__name__ for group in PROTOCOLS.values() for protocol in group
    } | {"Features"}
    optional = protocols.keys() - required
    assert optional == code(rows(guide, "\n### Optional members"))
    for name in optional:
        members = [
            member for member in vars(protocols[name]) if not member.startswith("_")
        ]
        members += [
            member
            for member in getattr(protocols[name], "__annotations__", {})
            if member not in members
        ]
        row = re.search(rf"^\| `{name}` \|.*$", guide, re.MULTILINE)
        assert row
        assert all(member in row[0] for member in members), name


@pytest.mark.parametrize(("kind", "protocols"), PROTOCOLS.items())
def test_every_required_member_is_documented(kind, protocols, guide):
    for protocol in protocols:
        for member in vars(protocol):
            if not member.startswith("_"):
                assert f"`{member}" in guide, f"{kind}: {member}"


def test_every_kind_and_the_marks_of_parameters_are_documented(guide):
    for kind in ALL_CHECKS:
        assert re.search(rf"^\| {kind[:-1]} \|", guide, re.MULTILINE), kind
    for name in (
        "PathParam",
        "PathLike",
        "TaskView",
        "MeanMetric",
        "SumMetric",
        "CorpusMetric",
        "TextDistance",
        "HARNESS_STRICT_PLUGINS",
    ):
        assert f"`{name}" in guide


def test_the_hook_marker_is_part_of_the_public_api():
    from harness.registry.hooks import hookimpl

    assert harness.hookimpl is hookimpl
    assert {"hookimpl", "HarnessError"} <= set(harness.__all__)
    assert harness.HarnessError is HarnessError
