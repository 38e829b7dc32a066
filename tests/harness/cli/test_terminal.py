"""What reaches a terminal: labels, ids and captions of others,
in every verb that prints them.
"""

from __future__ import annotations

import json
import re

import pytest

from harness.cli.main import main
from tests.support.terminal import run_in_terminal

HOSTILE = (
    "\x1b[31;5mred\x1b]0;title\x07\x1bP1;2q\x9b31m\x9d52;c;eA==\x9c"
    "\u202ereversed\u2066\u200f\u2028\x85next\x01\x08"
)
"""A colour and a title; DCS; CSI and OSC (the clipboard) by their C1 codes;
bidirectional controls; line separators; SOH, backspace.
"""
SHOWN = (
    r"\x1b[31;5mred\x1b]0;title\x07\x1bP1;2q\x9b31m\x9d52;c;eA==\x9c"
    r"\u202ereversed\u2066\u200f"
)
OWN = re.compile(
    r"\x1b\[38;[0-9;]+m|\x1b\[(?:[0-9]|[0-9]{2})?(?:;[0-9]{1,2})?m|\x1b\[(?:\?25[lh]|2K|1A|K)"
)
"""Sequences of rich: colours, and those that redraw a bar."""
FORBIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
SCORE = [
    "score",
    "a.jsonl",
    "b.jsonl",
    "--references",
    "refs.jsonl",
    "-m",
    "distinct,rouge",
    "--label",
    f"A {HOSTILE}",
    "--label",
    "B",
]


def check(output: bytes, *texts: str) -> None:
    """Check that a terminal receives no control character beside those of rich,
    and the texts as escapes.
    """
    text = output.decode("utf-8")
    assert "\x1b[31;5m" not in text
    found = FORBIDDEN.search(remaining := OWN.sub("", text))
    assert found is None, remaining[max(0, found.start() - 60) : found.start() + 60]
    for item in texts:
        assert item in text


@pytest.fixture
def hostile(project):
    """A project whose spec, files and finished runs have hostile labels,
    ids and captions.
    """
    label = json.dumps(f"model {HOSTILE}")
    (project / "spec.yaml").write_text(
        "task: words\nnotice: "
        + json.dumps(f"[bold]notice {HOSTILE}")
        + "\ndataset: {reader: words, count: 40}\nmodels:\n"
        f"  - echo: {{label: {label}, fail: [e1]}}\n  - echo: {{label: other, n: "
        f"1}}\nmetrics: [length]\nbootstrap: {{samples: 20}}\n"
    )
    rows = [
        {
            "id": f"{k} {HOSTILE}",
            "caption": [f"a dog {HOSTILE} {k}", "two"],
            "references": [f"ref {HOSTILE}", "a dog"],
        }
        for k in range(6)
    ]
    for name, words in (("a", ""), ("b", " more words"), ("refs", "")):
        key = "references" if name == "refs" else "caption"
        lines = [
            json.dumps(
                {"id": row["id"], "captions": [text + words for text in row[key]]}
            )
            for row in rows
        ]
        (project / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return project


@pytest.mark.slow
def test_run_and_the_verbs_that_read_it(hostile, capsys):
    code, output = run_in_terminal(["run", "spec.yaml", "--output", "out"], hostile)
    assert code == 1
    check(output, f"model {SHOWN}", f"[bold]notice {SHOWN}", "could not read it")
    assert (
        main(
            [
                "run",
                "spec.yaml",
                "--output",
                "pilot",
                "--set",
                "models.0.echo.fail=[]",
                "--json",
            ]
        )
        == 0
    )
    for verb in (
        ["compare", "pilot"],
        ["compare", "pilot", "--pairs"],
        ["report", "pilot"],
    ):
        code, output = run_in_terminal(verb, hostile)
        assert code == 0
        check(output, *([f"model {SHOWN}"] if verb[0] == "compare" else []))
    code, output = run_in_terminal(["power", "pilot", "--examples", "40"], hostile)
    check(output)
    code, output = run_in_terminal(
        ["compare", "pilot", "--baseline", f"model {HOSTILE}!"], hostile
    )
    assert code == 2
    check(output, f"model {SHOWN}")


@pytest.mark.slow
@pytest.mark.first_case_fast
@pytest.mark.parametrize("form", ["table", "csv", "markdown", "latex", "json"])
def test_score_and_compare_in_every_format(hostile, capsys, form):
    code, output = run_in_terminal(
        [*SCORE, "--output", "out", "--format", form], hostile
    )
    assert code == 0
    check(output, r"\x1b[31;5mred" if form in ("table", "csv") else "31;5mred")
    code, output = run_in_terminal(["compare", "out", "--format", form], hostile)
    assert code == 0
    check(output, "31;5mred")


@pytest.mark.slow
def test_compare_with_examples_shows_each_caption_on_one_line(hostile):
    assert main([*SCORE, "--output", "out", "--json"]) == 0
    code, output = run_in_terminal(["compare", "out", "--examples", "2"], hostile)
    assert code == 0
    check(output, r"a dog \x1b[31;5mred", r"ref \x1b[31;5mred")


@pytest.mark.slow
def test_judgments(hostile):
    rows = [
        {
            "id": f"{i} {HOSTILE}",
            "system": f"{s} {HOSTILE}",
            "caption": f"{'word ' * k}{i}",
            "human_score": k + i % 2,
            "references": ["a", "b"],
            "kind": f"{s} {HOSTILE}",
        }
        for i in range(6)
        for k, s in enumerate("xyz")
    ]
    (hostile / "j.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (hostile / "j.yaml").write_text(
        "task: judged\njudgments: {form: captions, path: j.jsonl}\nmetrics: [length, "
        "distinct]\n"
        "groups: kind\nstatistics: [kendall_c]\nbootstrap: {samples: 20}\n"
    )
    code, output = run_in_terminal(["run", "j.yaml", "--output", "judged"], hostile)
    assert code == 0, output
    check(output, SHOWN)


def test_a_file_and_a_pipe_have_the_text_as_it_is(hostile, capfd):
    assert main([*SCORE, "--output", "out", "--format", "csv"]) == 0
    assert f"A {HOSTILE}" in capfd.readouterr().out
    assert main(["report", "out", "--tables", "tables"]) == 0
    assert any(
        HOSTILE[:20] in file.read_text(encoding="utf-8")
        for file in (hostile / "tables").glob("*.csv")
    )


def test_a_table_in_a_pipe_is_escaped_because_a_terminal_may_show_it_later(
    hostile, capfd
):
    assert main(SCORE) == 0
    assert SHOWN[:20] in capfd.readouterr().out


@pytest.mark.slow
def test_an_ascii_terminal(hostile):
    assert main([*SCORE, "--output", "out", "--json"]) == 0
    environment = {
        "LC_ALL": "POSIX",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "",
    }
    code, output = run_in_terminal(["compare", "out"], hostile, environment)
    assert code == 0
    assert output.isascii() and b"rouge" in output.lower()
