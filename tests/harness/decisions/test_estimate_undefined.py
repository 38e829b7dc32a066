"""Predictions that are undefined for some examples: they say nothing,
whatever the scale of the metric is.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import harness
from harness.cli.main import main
from harness.rundir.samples import SampleTable

SIZE = 48
METRIC = "caption-length"


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """A run of one system, and labels of every second example in ``labels.csv``."""
    monkeypatch.chdir(tmp_path)
    words = np.random.default_rng(5).integers(3, 12, SIZE).tolist()
    (tmp_path / "refs.jsonl").write_text(
        "".join(
            json.dumps({"id": str(k), "references": ["a dog"]}) + "\n"
            for k in range(SIZE)
        )
    )
    captions = [
        {"id": str(k), "caption": " ".join(["dog"] * n)} for k, n in enumerate(words)
    ]
    (tmp_path / "a.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in captions)
    )
    assert (
        main(
            [
                "score",
                "a.jsonl",
                "--references",
                "refs.jsonl",
                "-m",
                METRIC,
                "--output",
                "run",
            ]
        )
        == 0
    )
    with open("labels.csv", "w", newline="") as file:
        csv.writer(file).writerows(
            [
                ["id", "score"],
                *([k, words[k] / 2 + k * 7 % 5] for k in range(0, SIZE, 2)),
            ]
        )
    return harness.Run.open("run")


def estimate_with(finished, change):
    """Return the estimate with other scores of the metric."""
    columns = finished.samples.to_dict()
    scores = np.array(columns[METRIC], dtype=float)
    columns[METRIC] = [
        None if np.isnan(score) else float(score) for score in change(scores)
    ]
    (row,), _ = harness.estimate(
        replace(finished, samples=SampleTable(columns)), "labels.csv", by=[METRIC]
    )
    return [row.powered.value, row.powered.standard_error, *row.powered.ci95]


def without(scores, holes):
    return np.where(np.isin(np.arange(SIZE), holes), np.nan, scores)


@pytest.mark.parametrize("holes", [[1, 3, 5, 7], [0, 2, 4], [0, 1, 2, 3, 30, 31, 47]])
def test_an_undefined_score_is_the_mean_of_the_others_on_any_scale(finished, holes):
    """Labelled examples have even numbers: labels without a prediction, predictions
    without labels, and both.
    """
    found = estimate_with(finished, lambda scores: without(scores, holes))

    def fill(scores):
        kept = without(scores, holes)
        return np.where(np.isnan(kept), np.nanmean(kept), kept)

    assert found == pytest.approx(estimate_with(finished, fill))
    for scale, shift in ((1.0, 1000.0), (-0.01, 3.0)):
        moved = estimate_with(
            finished,
            lambda scores, scale=scale, shift=shift: without(
                scale * scores + shift, holes
            ),
        )
        assert moved == pytest.approx(found, rel=1e-6)


def test_a_metric_that_is_undefined_everywhere_leaves_the_labels_alone(finished):
    found = estimate_with(finished, lambda scores: np.full(SIZE, np.nan))
    with open("labels.csv", newline="") as file:
        labels = [float(row["score"]) for row in csv.DictReader(file)]
    assert found[0] == pytest.approx(np.mean(labels))
