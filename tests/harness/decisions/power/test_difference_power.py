"""Power of the test of two systems, or of two metrics by their agreement with
people.
"""

import json
import math
import random

import numpy as np
import pytest
from scipy import stats

import harness
from harness.cli.main import main
from harness.decisions.power.difference_power import (
    FORM_ERROR,
    SMALLEST_PILOT,
    Pilot,
    _pilot_of_metrics,
    pilots,
    relative_error,
)
from harness.errors import HarnessError, InputError
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable


def run_of(values, error=0.02, kind="judgments"):
    """A run of judgments of 100 items with the standard error of every difference."""
    records = tuple(
        ResultRecord(
            model="",
            metric=name,
            value=value,
            statistic="kendall_c",
            group="all",
            details={
                "headline": True,
                "against": {
                    rival: {"standard_error": error} if error else {}
                    for rival in values
                },
            },
        )
        for name, value in values.items()
    )
    return Run(
        Provenance({"kind": kind, "task": "t", "data": {"examples": 100}}),
        records,
        SampleTable.empty(),
    )


def test_power_and_numbers_are_those_of_the_normal_distribution():
    row = Pilot("cider", 400, 0.02, 0.1).difference_power(0.03, 400)
    assert row.detectable == pytest.approx(
        [0.02 * (1.959964 + 0.841621) * np.exp(z * 0.196) for z in (0, -1, 1)]
    )
    assert row.power[0] == pytest.approx(
        stats.norm.sf(1.959964 - 1.5) + stats.norm.cdf(-1.959964 - 1.5), rel=1e-6
    )
    assert (
        row.power[1] < row.power[0] < row.power[2]
        and row.needed[1] < row.needed[0] < row.needed[2]
    )
    assert row.needed[0] == math.ceil(400 * (1.959964 + 0.841621) ** 2 / 1.5**2)
    again = Pilot("cider", 400, 0.02).difference_power(
        -0.03, int(row.needed[0]), power=0.8
    )
    assert (
        again.power[0] == pytest.approx(0.8, abs=1e-3)
        and np.isnan(again.power[1:]).all()
    )
    assert again.detectable[0] == pytest.approx(0.03, rel=1e-3)
    assert Pilot("cider", 400, 0.02).difference_power(None, 400).power is None


def test_the_pilot_of_two_metrics_has_the_error_of_their_agreement():
    (pilot,), difference, _ = _pilot_of_metrics(run_of({"a": 0.42, "b": 0.4}), "a", "b")
    assert (
        pilot.difference_power(difference, 100).needed[0]
        == math.ceil(100 * (1.959964 + 0.841621) ** 2)
        == 785
    )
    assert pilot.difference_power(0.0, 100).needed is None
    with pytest.raises(HarnessError, match="no metric 'c'; there are a, b"):
        _pilot_of_metrics(run_of({"a": 0.42, "b": 0.4}), "a", "c")
    with pytest.raises(InputError, match="no standard error of a against b"):
        _pilot_of_metrics(run_of({"a": 0.42, "b": 0.4}, error=None), "a", "b")


def test_the_error_of_a_standard_error_is_that_of_the_kurtosis():
    gaps = np.array([3.0, -1.0, 0.0, 2.0, -4.0, 0.0])
    squares = stats.kurtosis(gaps, fisher=False) - 1
    assert relative_error(gaps, np.arange(6)) == pytest.approx(
        math.hypot(math.sqrt(squares / 6) / 2, FORM_ERROR)
    )
    sums = np.array([2.0, 2.0, -4.0])
    clustered = stats.kurtosis(sums, fisher=False) - 1
    assert relative_error(gaps, np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(
        math.hypot(math.sqrt(clustered / 3) / 2, FORM_ERROR)
    )


@pytest.fixture
def systems(tmp_path, monkeypatch):
    """A run of 220 examples and two systems, and one of 20 examples."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    words = ["a", "dog", "runs", "on", "the", "beach", "near", "some", "water"]
    for size, output in ((220, "r"), (20, "few")):
        (tmp_path / "refs.txt").write_text(
            "".join(" ".join(rng.choices(words, k=6)) + "\n" for _ in range(size))
        )
        for name, count in (("short", 4), ("long", 8)):
            (tmp_path / f"{name}.txt").write_text(
                "".join(
                    " ".join(rng.choices(words, k=count)) + "\n" for _ in range(size)
                )
            )
        arguments = [
            "short.txt",
            "long.txt",
            "--references",
            "refs.txt",
            "-m",
            "caption-length,rouge,bleu1",
            "--output",
            output,
        ]
        assert main(["score", *arguments]) == 0
    return "r"


def test_the_pilot_of_two_systems_has_the_error_of_their_comparison(systems):
    (row,) = harness.compare(systems, metrics=["rouge"])
    (pilot,), difference, notes = pilots(systems, ["short", "long"], ["rouge"])
    assert (
        pilot.standard_error == pytest.approx((row.ci95[1] - row.ci95[0]) / 3.92)
        and pilot.examples == 220
    )
    assert 0.01 < pilot.relative_error < 0.2 and difference is None and notes == []
    with pytest.raises(
        HarnessError,
        match="few: has 20 examples of both systems; a pilot needs at least 200",
    ):
        pilots("few", ["short", "long"])
    with pytest.raises(HarnessError, match="did you mean 'short'"):
        pilots(systems, ["shrot", "long"])


def test_the_command_of_two_systems(systems, capsys):
    capsys.readouterr()
    assert main(["power", systems, "--compare", "short", "long"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "detected with power 0.8" in text
        and "two-sided test of one pair at level 0.05" in text
    )
    options = [
        "--compare",
        "short",
        "long",
        "--metric",
        "rouge",
        "--difference",
        "0.02",
        "--power",
        "0.9",
    ]
    assert main(["power", systems, *options, "--examples", "100,400"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "rouge: a difference of 0.0200 needs about" in text and "for power 0.9" in text
    )
    assert main(["power", systems, *options, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["differences"]
    assert row["examples"] == 220 and len(row["needed"]) == 3
    for wrong, message in (
        (["--power", "1"], "--power is 1; expected a number between 0 and 1"),
        (["--alpha", "0"], "--alpha is 0; expected a number between 0 and 1"),
        (["--examples", "0"], "--examples has 0; expected numbers of at least 1"),
    ):
        assert main(["power", systems, *options, *wrong]) == 2
        assert message in capsys.readouterr().err
    assert (
        main(["power", systems, "--compare", "short", "long", "--difference", "0.02"])
        == 2
    )
    assert (
        "--difference is of one metric, which --metric NAME names"
        in capsys.readouterr().err
    )


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(0)
    words = [
        "a",
        "dog",
        "runs",
        "on",
        "the",
        "beach",
        "near",
        "some",
        "water",
        "with",
        "its",
        "ball",
    ]
    rows = [
        {
            "id": i,
            "caption": " ".join(rng.sample(words, 5)),
            "human_score": rng.randint(1, 5),
            "references": [" ".join(words[:6])],
        }
        for i in range(12)
        for _ in range(2)
    ]
    (tmp_path / "j.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "t.yaml").write_text(
        "task: t\njudgments: {form: captions, path: j.jsonl}\nstatistics: [pearson]\n"
        "metrics: [{bleu1: {tokenizer: none}}, {rouge: {tokenizer: none}}]\n"
    )
    assert main(["run", "t.yaml", "--output", "out"]) == 0
    capsys.readouterr()
    assert main(["power", "out", "--compare", "bleu1", "rouge"]) == 0
    assert "bleu1 - rouge: a difference of" in " ".join(capsys.readouterr().out.split())
    assert main(["power", "out", "--compare", "bleu1", "rouge", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differences"][0]["examples"] == 12
    assert main(["power", "out", "--compare", "bleu1", "rouge", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["differences"]
    assert row["power"] is None and row["needed"][0] > 2


@pytest.mark.parametrize("cluster", [None, "film"])
def test_the_examples_of_a_pilot_are_those_of_both_systems(tmp_path, cluster):
    rng = random.Random(2)
    words = ["a", "dog", "runs", "on", "the", "beach"]
    texts = {
        f"e{k}": [" ".join(rng.choices(words, k=rng.randint(2, 6))) for _ in range(3)]
        for k in range(SMALLEST_PILOT + 2)
    }
    rows = [
        {"id": id_, "references": captions[:1], "film": f"f{k // 4}"}
        for k, (id_, captions) in enumerate(texts.items())
    ]
    (tmp_path / "refs.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    for name, column, missing in (("one", 1, "e0"), ("other", 2, "e7")):
        captions = [
            {"id": id_, "caption": captions[column]}
            for id_, captions in texts.items()
            if id_ != missing
        ]
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in captions)
        )
    spec = {
        "task": "t",
        "dataset": {"reader": "jsonl", "path": str(tmp_path / "refs.jsonl")},
        "models": [
            {
                "predictions": {
                    "label": n,
                    "path": str(tmp_path / f"{n}.jsonl"),
                    "allow_missing": True,
                }
            }
            for n in ("one", "other")
        ],
        "metrics": [{"rouge": {"tokenizer": "none"}}],
        **({"cluster": cluster} if cluster else {}),
    }
    run = harness.evaluate(spec, output=tmp_path / "out")
    rouge = dict(
        zip(
            zip(run.samples.texts("model"), run.samples.texts("example")),
            run.samples["rouge"],
        )
    )
    shared = [k for k, id_ in enumerate(texts) if id_ not in ("e0", "e7")]
    gaps = np.array([rouge["one", f"e{k}"] - rouge["other", f"e{k}"] for k in shared])
    clusters = np.unique(
        [k // 4 if cluster else k for k in shared], return_inverse=True
    )[1]
    ((pilot,), _, _) = pilots(tmp_path / "out", ["one", "other"])
    assert pilot.examples == len(shared) == SMALLEST_PILOT
    assert pilot.relative_error == pytest.approx(
        relative_error(gaps, clusters), rel=1e-12
    )
