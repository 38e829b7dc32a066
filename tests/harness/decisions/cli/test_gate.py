"""``harness gate``: the line, exit codes, files, wrong input."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

import harness
from harness.cli.main import main
from tests.support.growing import write_task


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gate")
    spec = write_task(folder, 120)
    for name in ("good", "bad"):
        model = {
            "predictions": {"label": "model", "path": str(folder / f"{name}.jsonl")}
        }
        harness.evaluate({**spec, "models": [model]}, output=folder / name)
    return folder


@pytest.fixture
def close(runs):
    """Arguments of a gate that is undecided: the margin is near the worsening."""
    rows = harness.compare(runs / "good", runs / "bad", metrics=["rouge"], draws=100)
    return [
        str(runs / "bad"),
        "--baseline",
        str(runs / "good"),
        "-m",
        "rouge",
        "--max-drop",
        f"{rows[0].difference:.4f}",
    ]


def run(capsys, *arguments):
    code = main(["gate", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, " ".join(out.split()), " ".join(err.split())


def test_passed_is_0_and_failed_is_1(runs, capsys):
    code, out, _ = run(
        capsys,
        runs / "good",
        "--baseline",
        runs / "bad",
        "-m",
        "rouge,cider",
        "--max-drop",
        "0.01",
    )
    assert (
        code == 0
        and "passed: no worsening beyond the margin in 2 rows" in out
        and "ROUGE-L (COCO) ↑" in out
    )
    code, out, _ = run(
        capsys,
        runs / "bad",
        "--baseline",
        runs / "good",
        "-m",
        "ROUGE-L",
        "--max-drop",
        "1%",
        "-m",
        "cider",
        "--max-drop",
        "0.1",
    )
    assert code == 1 and "failed: ROUGE-L (COCO) worse by" in out


@pytest.mark.parametrize(
    ("choice", "code", "words"),
    [("pass", 0, "(counts as pass)"), ("fail", 1, "(counts as fail)")],
)
def test_undecided_counts_as_the_user_says(close, capsys, choice, code, words):
    found, out, _ = run(capsys, *close, "--undecided", choice)
    assert (
        found == code and "undecided: ROUGE-L (COCO) worse by" in out and words in out
    )


@pytest.mark.parametrize("typed", [[], ["--undecided", "stop"]])
def test_undecided_stops_unless_it_is_allowed(close, capsys, typed):
    code, out, _ = run(capsys, *close, *typed)
    assert (
        code == 4
        and "counts as" not in out
        and "undecided: ROUGE-L (COCO) worse by" in out
    )


def test_equal_captions_of_too_few_examples_are_undecided(runs, capsys):
    code, out, _ = run(
        capsys,
        runs / "good",
        "--baseline",
        runs / "good",
        "-m",
        "rouge",
        "--max-drop",
        "0.01",
    )
    assert (
        code == 4
        and "same outputs on all 120 examples; a version without a change needs 300 "
        "examples to pass"
        in out
    )
    assert (
        "-0.0000" not in out and "bounds: betting within 0 to 1 (ROUGE-L (COCO))" in out
    )
    code, out, _ = run(
        capsys,
        runs / "good",
        "--baseline",
        runs / "good",
        "-m",
        "rouge",
        "--max-drop",
        "0.03",
    )
    assert code == 0 and "passed" in out


def write_log(path, scores):
    rows = [
        {"doc_id": k, "doc_hash": f"h{k}", "exact_match": score}
        for k, score in scores.items()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_documents_that_the_new_log_lacks_are_refused_or_counted(tmp_path, capsys):
    old = write_log(tmp_path / "old.jsonl", dict.fromkeys(range(200), 1.0))
    new = write_log(tmp_path / "new.jsonl", dict.fromkeys((*range(5), 900), 1.0))
    arguments = [new, "--baseline", old, "-m", "exact_match", "--max-drop", "0.001"]
    code, out, err = run(capsys, *arguments)
    assert (
        (code, out) == (2, "")
        and "new lacks 195 examples (such as '5:h5') of the 200 of old" in err
        and "--allow-missing" in err
    )
    code, out, _ = run(capsys, *arguments, "--allow-missing")
    assert (
        code == 1
        and "failed: exact_match worse by 0.975" in out
        and "195 examples have no value in the new version" in out
    )
    assert "not compared: 1 example (such as '900:h900') of new that old lacks" in out


def test_a_decided_gate_does_not_ask_how_undecided_ends(runs, capsys):
    for choice in ("pass", "fail", "stop"):
        base = ["-m", "rouge", "--max-drop", "0.01", "--undecided", choice]
        assert run(capsys, runs / "good", "--baseline", runs / "bad", *base)[0] == 0
        assert run(capsys, runs / "bad", "--baseline", runs / "good", *base)[0] == 1


def test_files_of_the_result(close, tmp_path, capsys):
    files = [tmp_path / name for name in ("gate.xml", "gate.md", "gate.html")]
    code, *_ = run(
        capsys,
        *close,
        "--junit",
        files[0],
        "--markdown",
        files[1],
        "--page",
        files[2],
        "--undecided",
        "fail",
    )
    assert code == 1
    assert ElementTree.parse(files[0]).getroot().get("failures") == "1"
    assert (
        files[1]
        .read_text()
        .startswith(
            "**harness gate undecided: the examples do not tell whether ROUGE-L "
            "(COCO) is worse"
        )
        and "Gate: undecided" in files[2].read_text()
    )


def test_json_has_the_numbers(runs, capsys):
    assert (
        main(
            [
                "gate",
                str(runs / "bad"),
                "--baseline",
                str(runs / "good"),
                "-m",
                "rouge",
                "--max-drop",
                "0.01",
                "--json",
            ]
        )
        == 1
    )
    content = json.loads(capsys.readouterr().out)
    assert content["verdict"] == "failed" and content["line"].startswith("failed: ")
    (row,) = content["rows"]
    assert (row["metric"], row["verdict"], row["n"], row["margin"]) == (
        "rouge",
        "failed",
        120,
        0.01,
    )
    assert row["low"] < row["worsening"] < row["high"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["-m", "rouge"],
            "1 metric and 0 margins: give --metric NAME --max-drop MARGIN",
        ),
        (["--max-drop", "0.1"], "0 metrics and 1 margin:"),
        (
            ["-m", "rouge,cider,bleu4", "--max-drop", "0.1", "--max-drop", "0.2"],
            "3 metrics and 2 margins:",
        ),
        (
            ["-m", "rouge", "--max-drop", "much"],
            "the margin is 'much'; expected a number such as 0.01",
        ),
        (
            ["-m", "rouge", "--max-drop", "-1%"],
            "the margin is '-1%'; expected a number such as 0.01",
        ),
        (
            ["-m", "rouge", "--max-drop", "-0.5"],
            "the margin is '-0.5'; expected a number such as 0.01",
        ),
        (
            ["-m", "rouge", "--max-drop", "2"],
            "the margin 2 of ROUGE-L (COCO) can never fail a version",
        ),
        (
            ["-m", "rogue", "--max-drop", "0.1"],
            "no metric 'rogue'; did you mean 'rouge'",
        ),
        (
            ["-m", "rouge", "--max-drop", "0.1", "--slice", "vidoe"],
            "did you mean 'video'",
        ),
    ],
)
def test_wrong_input_is_one_line_and_2(runs, capsys, arguments, message):
    code, out, err = run(capsys, runs / "bad", "--baseline", runs / "good", *arguments)
    assert (code, out) == (2, "") and message in err


def test_a_missing_baseline_is_2(runs, capsys):
    code, _, err = run(
        capsys,
        runs / "bad",
        "--baseline",
        runs / "none",
        "-m",
        "rouge",
        "--max-drop",
        "0.1",
    )
    assert code == 2 and "none" in err
