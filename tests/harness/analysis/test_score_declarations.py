"""Directions and bounds that are typed for the scores of logs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import harness
from harness.analysis.score_declarations import parse_bounds
from harness.analysis.score_logs import read_score_log
from harness.cli.main import main
from harness.decisions.gate.gate import gate_margins as gate
from harness.decisions.gate.margin import Margin
from harness.errors import HarnessError, InputError
from harness.run.finished import Run


def log(folder, name, **metrics):
    """Write a log in lm-eval's form with a list of values per metric."""
    rows = [
        dict(zip(metrics, values)) | {"doc_id": k}
        for k, values in enumerate(zip(*metrics.values()))
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def two_logs(folder, metric, low=0.1, high=0.3, count=30):
    """Write logs ``a`` with large and ``b`` with small values of a metric."""
    spread = [k % 7 / 100 for k in range(count)]
    return [
        log(folder, name, **{metric: [value + noise for noise in spread]})
        for name, value in (("a", high), ("b", low))
    ]


@pytest.mark.parametrize("name", ["edit_distance", "mean_error", "test_wer"])
def test_a_name_that_says_neither_is_refused_with_what_to_type(tmp_path, capsys, name):
    paths = two_logs(tmp_path, name)
    message = (
        f"the name of '{name}' does not say whether larger is better; "
        "name it in --lower-is-better or --higher-is-better, or choose other metrics"
    )
    for arguments in (
        ["compare", *paths],
        ["gate", paths[0], "--baseline", paths[1], "-m", name, "--max-drop", "0.01"],
    ):
        assert main(arguments) == 2
        assert message in capsys.readouterr().err
        assert main([*arguments, "--lower-is-better", name]) in (
            (1, 4) if "gate" in arguments else (0,)
        )
        assert f"{name}: lower is better (--lower-is-better)" in capsys.readouterr().out
        assert main([*arguments, "--higher-is-better", name]) in (
            (0, 4) if "gate" in arguments else (0,)
        )
        assert (
            f"{name}: higher is better (--higher-is-better)" in capsys.readouterr().out
        )


def test_other_metrics_of_such_a_log_are_compared(tmp_path):
    paths = [
        log(tmp_path, name, edit_distance=[1, 2, 3], acc=[0, 1, 1]) for name in "ab"
    ]
    assert [row.metric for row in harness.compare(*paths, metrics=["acc"])] == ["acc"]


def test_options_are_names_of_metrics_of_logs(tmp_path):
    paths = two_logs(tmp_path, "rate")
    with pytest.raises(
        HarnessError,
        match="lower_is_better: there is no metric 'rat'; did you mean 'rate'.; "
        "the logs have rate",
    ):
        harness.compare(*paths, lower_is_better=["rat"])
    with pytest.raises(
        HarnessError, match="bounds: there is no metric 'rates'; did you mean 'rate'"
    ):
        gate(*paths, {"rate": Margin(0.1)}, bounds={"rates": (0, 1)})
    with pytest.raises(
        HarnessError,
        match="'rate' is declared with lower_is_better and with higher_is_better",
    ):
        harness.compare(*paths, lower_is_better=["rate"], higher_is_better=["RATE"])
    assert harness.compare(*paths, lower_is_better=["Rate"], draws=200)[0].better == "B"


def test_runs_declare_their_scores_themselves(tmp_path):
    scores = read_score_log(Path(two_logs(tmp_path, "rate")[0]))
    run = Run(
        scores.provenance, scores.records, scores.samples, artifacts=scores.artifacts
    )
    for options in ({"lower_is_better": ["rate"]}, {"bounds": (0, 1)}):
        with pytest.raises(
            HarnessError,
            match="is for logs of scores; a is a run, whose metrics declare direction "
            "and range themselves",
        ):
            harness.compare(run, scores, **options)


def test_a_log_declares_its_directions_for_both(tmp_path):
    date = "2024-05-01T10-20-30.5"
    a, _ = two_logs(tmp_path, "rate")
    (tmp_path / "new").mkdir()
    b = log(
        tmp_path / "new",
        f"samples_t_{date}",
        rate=[0.1 + k % 7 / 100 for k in range(30)],
    )
    assert harness.compare(a, b, draws=200)[0].better == "A"
    (tmp_path / "new" / f"results_{date}.json").write_text(
        json.dumps({"higher_is_better": {"t": {"rate": False}}})
    )
    for paths, better in (((a, b), "B"), ((b, a), "A")):
        (row,) = harness.compare(*paths, draws=200)
        assert (row.better, row.note) == (
            better,
            f"lower is better (declared in results_{date}.json)",
        )

    (tmp_path / "old").mkdir()
    c = log(tmp_path / "old", f"samples_t_{date}", rate=[0.2] * 30)
    (tmp_path / "old" / f"results_{date}.json").write_text(
        json.dumps({"higher_is_better": {"t": {"rate": True}}})
    )
    with pytest.raises(
        HarnessError,
        match="'rate' has two directions: .*; name it in lower_is_better or "
        "higher_is_better",
    ):
        harness.compare(b, c)
    assert (
        harness.compare(b, c, draws=200, lower_is_better=["rate"])[0].higher_is_better
        is False
    )


def test_a_declared_direction_goes_before_the_name(tmp_path):
    row = {
        "doc_id": 0,
        "edit_distance": 0.5,
        "wer": 0.5,
        "higher_is_better": {"edit_distance": True, "wer": True},
    }
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps({**row, "doc_id": k}) + "\n" for k in range(3))
        )
    rows = harness.compare(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert [(row.metric, row.higher_is_better) for row in rows] == [
        ("edit_distance", True),
        ("wer", True),
    ]
    assert {row.note for row in rows} == {"higher is better (declared in a.jsonl)"}


@pytest.mark.parametrize(
    ("texts", "bounds"),
    [
        (["0,1"], {"": (0.0, 1.0)}),
        (["-1,1", "judge=0,10"], {"": (-1.0, 1.0), "judge": (0.0, 10.0)}),
        (["a=b=0,2"], {"a=b": (0.0, 2.0)}),
    ],
)
def test_bounds_are_parsed(texts, bounds):
    assert parse_bounds(texts) == bounds


@pytest.mark.parametrize(
    "texts",
    [
        ["0"],
        ["0,1,2"],
        ["acc=0"],
        ["low,high"],
        [""],
        ["0,1", "2,3"],
        ["a=0,1", "a=0,2"],
    ],
)
def test_bounds_that_are_no_range(texts):
    with pytest.raises(
        InputError,
        match="bounds (is '.*'; expected LOW,HIGH|occurs twice for (all metrics|a))",
    ):
        parse_bounds(texts)


@pytest.mark.parametrize(
    "bounds", [(1, 0), (1, 1), (0, float("inf")), (float("nan"), 1)]
)
def test_bounds_that_are_empty_or_infinite(tmp_path, bounds):
    with pytest.raises(
        InputError, match="expected two finite numbers, the smaller one first"
    ):
        harness.compare(*two_logs(tmp_path, "acc"), bounds=bounds)


def test_declared_bounds_give_betting_sequences(tmp_path, capsys):
    paths = two_logs(tmp_path, "judge", low=2.0, high=7.0)
    (row,) = harness.compare(*paths, anytime=True, draws=200)
    assert row.anytime.method == "asymptotic"
    (row,) = harness.compare(*paths, anytime=True, draws=200, bounds=(0, 10))
    assert row.anytime.method == "betting" and "at most 10" in row.anytime.note
    low, high = row.anytime.last.low, row.anytime.last.high
    assert 0 < low < 5 < high < 10
    assert (
        main(
            [
                "compare",
                *paths,
                "--anytime",
                "--bounds",
                "judge=-10,10",
                "--draws",
                "200",
            ]
        )
        == 0
    )
    assert "within differences of at most 20" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("bounds", "value"), [("0,1", "1.5"), ("0.5,2", "0.25"), ("acc=-1,1.4", "1.5")]
)
def test_scores_outside_their_bounds_are_refused_with_the_place(
    tmp_path, capsys, bounds, value
):
    paths = [
        log(tmp_path, "a", acc=[1.0, 0.5, 0.75], tokens=[9, 9, 9]),
        log(tmp_path, "b", acc=[0.25, 1.5, 1], tokens=[7, 8, 9]),
    ]
    line = {"1.5": 2, "0.25": 1}[value]
    ends = bounds.rpartition("=")[2]
    for arguments in (
        ["compare", *paths],
        ["gate", paths[0], "--baseline", paths[1], "--max-drop", "0.1"],
    ):
        assert main([*arguments, "-m", "acc", "--bounds", bounds]) == 2
        assert (
            f"'acc' is {value} at {paths[1]}:{line}, outside --bounds {ends}"
            in capsys.readouterr().err
        )
        assert main([*arguments, "-m", "acc", "--bounds", "-1,2"]) in (0, 1, 4), (
            "other metrics of the log are not asked"
        )


def test_epochs_are_within_the_bounds_each(tmp_path):
    samples = [
        {"id": 1, "epoch": epoch, "scores": {"m": {"value": value}}}
        for epoch, value in enumerate((0.0, 2.0))
    ]
    for name in "ab":
        (tmp_path / f"{name}.json").write_text(
            json.dumps({"eval": {"model": name}, "samples": samples})
        )
    with pytest.raises(
        HarnessError,
        match=r"'m' is 2 at .*a.json: samples: record 2, outside bounds=\(0, 1.5\)",
    ):
        harness.compare(tmp_path / "a.json", tmp_path / "b.json", bounds=(0, 1.5))
