"""Input that once ended as a bug of the harness (exit code 3): one line and exit code
2, before anything is computed, or it works.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.main import main


def last_line(capsys) -> str:
    """Return the only line on stderr; nothing is on stdout."""
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err.strip()


def add(project: Path, text: str) -> None:
    """Append lines to the spec."""
    (project / "spec.yaml").write_text((project / "spec.yaml").read_text() + text)


@pytest.mark.parametrize(
    "number", ["0x" + "f" * 6000, "0b" + "1" * 24_000, "-0x" + "f" * 6000]
)
@pytest.mark.parametrize("way", ["file", "option"])
def test_a_number_of_thousands_of_digits(project, capsys, number, way):
    if way == "file":
        add(project, f"seed: {number}\n")
    assert (
        main(
            [
                "run",
                "spec.yaml",
                "--output",
                "out",
                *(["--set", f"seed={number}"] if way == "option" else []),
            ]
        )
        == 2
    )
    assert last_line(capsys).endswith(
        ": a whole number of 24,000 bits; expected at most 1024"
    )
    assert not Path("out").exists()


def test_a_label_with_half_a_character(project, capsys):
    text = (project / "spec.yaml").read_text()
    (project / "spec.yaml").write_text(
        text.replace("echo: {}", r'echo: {label: "m\ud800", log: asked.txt}')
    )
    assert main(["run", "spec.yaml", "--output", "out"]) == 2
    assert (
        last_line(capsys)
        == r"harness: spec.yaml:4: the value holds an unpaired surrogate, "
        r"half of a character: 'm\ud800'"
    )
    assert not Path("out").exists() and not Path("asked.txt").exists()


def test_a_system_of_judgments_with_half_a_character(project, capsys):
    rows = [
        {
            "id": f"{i}",
            "system": f"{s}\ud800",
            "caption": "a " * k,
            "human_score": k,
            "references": ["a"],
        }
        for i in "12"
        for k, s in enumerate("xyz", 1)
    ]
    Path("j.jsonl").write_text("\n".join(map(json.dumps, rows)))
    Path("j.yaml").write_text(
        "task: j\njudgments: {form: captions, path: j.jsonl}\nmetrics: [length]\n"
        "statistics: [kendall_c]\n"
    )
    assert main(["run", "j.yaml", "--output", "out"]) == 2
    expected = (
        r"harness: judged caption 1: the system holds an unpaired surrogate, "
        r"half of a character: 'x\ud800'"
    )
    assert last_line(capsys) == expected and not Path("out").exists()


def test_an_output_folder_whose_name_is_not_utf8(project, capsys):
    name = os.fsdecode(b"out\xff")
    text = (project / "spec.yaml").read_text()
    (project / "spec.yaml").write_text(
        text.replace("echo: {}", "echo: {log: asked.txt}")
    )
    assert main(["run", "spec.yaml", "--output", name]) == 2
    assert (
        last_line(capsys)
        == r"harness: out\udcff: the name of a run directory is UTF-8; "
        r"found other bytes"
    )
    assert not Path(name).exists() and not Path("asked.txt").exists()
    assert main(["run", "spec.yaml", "--output", "out"]) == 0
    shutil.copytree("out", name)
    capsys.readouterr()
    for command in (
        ["report", name],
        ["compare", name],
        ["rescore", name, "-m", "distinct"],
        ["merge", "out", "--output", name],
    ):
        assert main(command) == 2
        assert "harness: out" in last_line(capsys)


@pytest.mark.parametrize(
    "content", ["just a text", "[a, b]", "items: text", "items: [text, {id: b}]", ""]
)
def test_a_file_of_published_values_that_has_none(project, capsys, content):
    (project / "values.yaml").write_text(content)
    reference = "{item: 'values.yaml#a', columns: {length: x}, rows: [{at: [x]}]}"
    add(
        project,
        f"views: [{{plot: table, x: metric, y: length, reference: {reference}}}]\n",
    )
    assert main(["run", "spec.yaml", "--output", "out"]) == 2
    assert last_line(capsys).startswith(
        "harness: spec.yaml:8: no item 'a' in values.yaml"
    )


@pytest.mark.slow
def test_compare_on_an_ascii_stdout(project):
    assert (
        main(
            [
                "run",
                "spec.yaml",
                "--output",
                "out",
                "--set",
                "models=[echo, {echo: {label: mödel, n: 1}}]",
                "--json",
            ]
        )
        == 0
    )
    environment = {
        **os.environ,
        "LC_ALL": "POSIX",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    environment.pop("PYTHONIOENCODING", None)
    command = [sys.executable, "-m", "harness", "compare", "out"]
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii() and rb"m\xf6del" in done.stdout


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("sk-schlüssel", "character 8 of 12 is U+00FC"),
        ("sk-key\n", "character 7 of 7 is U+000A"),
    ],
)
def test_a_key_that_no_header_can_carry(project, capsys, monkeypatch, key, place):
    monkeypatch.setenv("MY_KEY", key)
    model = (
        "{openai: {base_url: 'http://127.0.0.1:9/v1', model: m, api_key_env: MY_KEY}}"
    )
    assert (
        main(
            [
                "run",
                "spec.yaml",
                "--output",
                "out",
                "--set",
                f"models=[{model}]",
                "--allow-secret",
                "MY_KEY",
            ]
        )
        == 2
    )
    assert (
        "openai: the key in MY_KEY is not ASCII without spaces and line breaks: "
        f"{place}; " in last_line(capsys)
    )
    assert not Path("out").exists()


@pytest.mark.slow
def test_export_of_a_directory_with_huge_numbers(project, capsys):
    assert (
        main(
            [
                "run",
                "spec.yaml",
                "--output",
                "out",
                "--json",
                "--set",
                "metrics=[length, {trm: {distance: chars}}]",
            ]
        )
        == 0
    )
    codes: set[int] = set()
    for name in ("results.json", "manifest.json"):
        content = json.loads(Path("out", name).read_text())
        content.pop("checksum", None)
        for path in places(content):
            for value in (10**29, -(10**400)):
                shutil.rmtree("other", ignore_errors=True)
                shutil.copytree("out", "other")
                changed = json.loads(json.dumps(content))
                here = changed
                for step in path[:-1]:
                    here = here[step]
                here[path[-1]] = value
                Path("other", name).write_text(json.dumps(changed))
                codes.add(
                    code := main(
                        ["export", "other", "--format", "lm-eval", "--output", "files"]
                    )
                )
                assert code in (0, 2), (name, path, value, capsys.readouterr().err)
    assert codes == {0, 2}


def places(
    value: object, path: tuple[str | int, ...] = ()
) -> list[tuple[str | int, ...]]:
    """Return the paths of all scalars of JSON."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else None
    )
    return (
        [path]
        if items is None
        else [place for key, item in items for place in places(item, (*path, key))]
    )
