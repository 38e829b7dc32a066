"""Numbers of judged items that separate two metrics."""

import json
import math
import random

import pytest
from scipy import stats

from harness.analysis.metric_power import items_needed
from harness.cli.main import main
from harness.errors import HarnessError, InputError
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable


def run_of(values, error=0.02, kind="judgments"):
    """A run of judgments of 100 items with the standard error of every difference."""
    records = tuple(
        ResultRecord(
            model="", metric=name, value=value, statistic="kendall_c", group="all",
            details={"headline": True, "against": {rival: {"standard_error": error} if error else {} for rival in values}},
        )
        for name, value in values.items()
    )  # fmt: skip
    return Run(Provenance({"kind": kind, "task": "t", "data": {"examples": 100}}), records, SampleTable.empty())


def test_the_number_has_the_power_by_the_normal_distribution():
    found = items_needed(run_of({"a": 0.42, "b": 0.4}), "a", "b")
    assert found.needed == math.ceil(100 * (1.959964 + 0.841621) ** 2) == 785
    error = 0.02 * math.sqrt(100 / found.needed)
    assert stats.norm.sf(1.959964 - 0.02 / error) == pytest.approx(0.8, abs=1e-3)
    assert items_needed(run_of({"a": 0.42, "b": 0.4}), "b", "a", power=0.9).needed > 785
    assert items_needed(run_of({"a": 0.4, "b": 0.4}), "a", "b").needed is None


def test_mistakes_are_one_line():
    with pytest.raises(HarnessError, match="no metric 'c'; there are a, b"):
        items_needed(run_of({"a": 0.42, "b": 0.4}), "a", "c")
    with pytest.raises(InputError, match="no standard error of a against b"):
        items_needed(run_of({"a": 0.42, "b": 0.4}, error=None), "a", "b")
    with pytest.raises(HarnessError, match="run of models"):
        items_needed(run_of({"a": 0.42, "b": 0.4}, kind=""), "a", "b")


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(0)
    words = ["a", "dog", "runs", "on", "the", "beach", "near", "some", "water", "with", "its", "ball"]
    rows = [
        {"id": i, "caption": " ".join(rng.sample(words, 5)), "human_score": rng.randint(1, 5), "references": [" ".join(words[:6])]}
        for i in range(12) for _ in range(2)
    ]  # fmt: skip
    (tmp_path / "j.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "t.yaml").write_text(
        "task: t\njudgments: {form: captions, path: j.jsonl}\nstatistics: [pearson]\n"
        "metrics: [{bleu1: {tokenizer: none}}, {rouge: {tokenizer: none}}]\n"
    )
    assert main(["run", "t.yaml", "--output", "out"]) == 0
    capsys.readouterr()
    assert main(["power", "out", "--metrics", "bleu1", "rouge"]) == 0
    assert "separate them at level 0.05 with power 0.8" in " ".join(capsys.readouterr().out.split())
    assert main(["power", "out", "--metrics", "bleu1", "rouge", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["items"] == 12
