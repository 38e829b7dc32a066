"""Every verb in terminals of 60 to 160 columns: no line is wider,
in a pseudo-terminal and in tmux.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.reporting.folding import fold
from tests.support.terminal import verbs_in_terminal

SPEC = """task: a task whose name is rather long
dataset: {reader: words, count: 40}
models:
  - echo: {label: transformer_base_v2_beam_5, n: 2}
  - echo: {label: "a system with a long name", n: 4}
  - echo: {label: short, n: 3}
metrics: [length, bleu, rouge, {distinct: {n: [1, 2, 3]}}]
significance: {method: exact}
bootstrap: {samples: 20}
views:
  - {plot: table, title: Numbers by metric, x: metric, by: model, y: "*"}
  - {plot: verdicts, title: Verdicts, against: short, y: "*"}
"""
JUDGED = """task: judged
judgments: {form: captions, path: j.jsonl}
metrics: [length, distinct]
groups: kind
statistics: [kendall_c]
bootstrap: {samples: 20}
"""
PAIR = [
    "score",
    "first_system.jsonl",
    "second_system.jsonl",
    "--references",
    "refs.jsonl",
]
VERBS = [
    [*PAIR, "-m", "bleu,rouge,cider,distinct", "--output", "ab"],
    [*PAIR[:2], *PAIR[3:], "-m", "bleu,rouge", "--p-values", "exact"],
    ["compare", "ab"],
    ["compare", "ab", "--all", "-m", "bleu4,cider"],
    ["run", "spec.yaml", "--output", "out"],
    ["run", "spec.yaml", "--output", "out", "--all"],
    ["rescore", "out", "-m", "cider,caption-length"],
    ["compare", "out"],
    ["compare", "out", "--all", "--pairs"],
    ["power", "out", "-m", "rouge,bleu4", "--examples", "40,80"],
    ["correlate", "ab", "--x", "*", "--y", "cider", "--rows", "example"],
    ["run", "judged.yaml", "--output", "judged"],
    ["list"],
    ["show", "cider"],
    ["show", "trm"],
    ["validate", "spec.yaml"],
    ["check", "length", "--kind", "metrics"],
    ["--help"],
    ["score", "--help"],
    ["compare", "--help"],
]


@pytest.fixture
def files(project: Path) -> Path:
    """Files of captions and judgments, and specs, in the working directory."""
    words = [
        "a",
        "dog",
        "runs",
        "over",
        "the",
        "wide",
        "green",
        "grass",
        "of",
        "a",
        "park",
        "near",
        "the",
        "old",
        "town",
    ]
    for name, start in (("first_system", 0), ("second_system", 3), ("refs", 1)):
        rows = [
            {
                "id": f"image-{k}",
                "captions": [" ".join(words[(start + k) % 7 :][: 5 + k % 4])],
            }
            for k in range(12)
        ]
        (project / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (project / "spec.yaml").write_text(SPEC)
    (project / "judged.yaml").write_text(JUDGED)
    judged = [
        {
            "id": str(i),
            "system": s,
            "caption": "word " * (k + 1) + str(i),
            "human_score": k + i % 2,
            "references": ["a word", "b"],
            "kind": f"a kind of system called {s}",
        }
        for i in range(8)
        for k, s in enumerate("xyz")
    ]
    (project / "j.jsonl").write_text("\n".join(map(json.dumps, judged)))
    return project


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 60, 100, 160])
def test_no_line_of_a_verb_is_wider_than_the_terminal(files, columns):
    for verb, (code, lines) in zip(VERBS, verbs_in_terminal(VERBS, files, columns)):
        # the toy metric fails a check, which is printed
        assert code == (verb[0] == "check"), (verb, lines)
        wide = [line for line in lines if len(line) > columns]
        assert not wide, (verb, wide)
        assert len(lines) > 1, verb


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_tmux_breaks_no_line_and_a_row_appears_before_the_last_metric_is_ready(
    files, tmp_path
):
    arguments = " ".join([*PAIR, "-m", "bleu,meteor,cider"])
    command = (
        f"HARNESS_CACHE={tmp_path}/fresh {sys.executable} -m harness {arguments}; "
        "echo code $?; sleep 600"
    )
    tmux = ["tmux", "-L", f"harness-{tmp_path.name}", "-f", "/dev/null"]
    subprocess.run(
        [*tmux, "new-session", "-d", "-x", "80", "-y", "60", command],
        check=True,
        cwd=files,
    )
    try:
        screens: list[str] = []
        while not screens or "code 0" not in screens[-1]:
            assert len(screens) < 3000, screens[-1]
            time.sleep(0.1)
            # -J joins lines that the terminal broke, which would then be longer than it
            # is wide.
            screens.append(
                subprocess.run(
                    [*tmux, "capture-pane", "-p", "-J"],
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
            )
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)
    assert all(
        len(line.rstrip()) <= 80 for screen in screens for line in screen.splitlines()
    )
    assert any(
        "so far" in screen
        and "CIDEr-D" in screen
        and "METEOR" not in screen.partition("so far")[2]
        for screen in screens
    )
    assert "so far" not in screens[-1] and "METEOR" in screens[-1]


def test_lines_are_folded_below_their_last_column():
    assert fold("a line", None) == "a line"
    assert fold("name  a text of words", 16) == "name  a text of\n      words"
    assert fold("  models: one, two, three", 16) == "  models: one,\n  two, three"
    assert fold("x" * 30, 16) == "x" * 30, "a path is copied whole"
    assert fold("short\n\nshort", 16) == "short\n\nshort"
