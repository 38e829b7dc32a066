"""The study of training on set divergence: a small form of it, its exact measures,
its decisions, and its page.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys

import numpy as np
import pytest
import yaml

from benchmarks import train_on_divergence as study
from harness.api import evaluate
from harness.contracts import Decoding


def shrink(value):
    """Return the spec with trainings of a second each."""
    if isinstance(value, dict):
        small = {
            "scenes": 12,
            "epochs": 1,
            "samples": 4,
            "width": 16,
            "features": "factors",
        }
        return {
            key: small[key] if key in small else shrink(item)
            for key, item in value.items()
        }
    return [shrink(item) for item in value] if isinstance(value, list) else value


@pytest.mark.slow
def test_a_small_form_runs_and_continues(root, tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SEED", "7")
    text = (
        (root / "tasks/harness_tasks/studies/train-on-divergence.yaml")
        .read_text()
        .replace("${SEED:-1}", "7")
    )

    spec = {**shrink(yaml.safe_load(text)), "task": "small-7"}
    spec["metrics"] = [
        "ciderd",
        {"mmd": {"embedding": "bow"}},
        {"vendi": {"embedding": "bow"}},
    ]
    spec["views"] = []

    first = evaluate(spec, output=tmp_path / "run", limit=3)
    assert len({record.model for record in first.records}) == 20
    trained = len(list((tmp_path / "cache" / "rewarded-captioner").iterdir()))
    assert trained == 5  # the temperatures of a system share its training

    again = evaluate(spec, output=tmp_path / "run", limit=3)
    assert [record.value for record in again.records] == [
        record.value for record in first.records
    ]


@pytest.mark.slow
def test_exact_probabilities_are_those_of_sampling(tmp_path, monkeypatch):
    from harness.contracts import Example
    from harness_models.captioner.adapter import TrainedCaptioner
    from harness_tasks.a3ds.grammar import captions

    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    adapter = TrainedCaptioner(
        train={
            "scenes": 60,
            "captions": 20,
            "kind": "short",
            "epochs": 8,
            "width": 32,
            "learning_rate": 0.01,
        }
    )

    example = Example("5", tuple(captions(5, "short")), meta={"target_id": 5})
    for decoding in (
        Decoding("sample", temperature=0.6, candidates=3000),
        Decoding("nucleus", top_p=0.7, candidates=3000),
    ):
        (exact,) = study.caption_probabilities(adapter, decoding, [example])
        (drawn,) = adapter.generate([example], decoding, [0])
        shares = (
            np.array([drawn.candidates.count(text) for text in example.references])
            / 3000
        )
        assert np.allclose(shares, exact, atol=0.03) and exact.sum() > 0.05


def test_divergence_and_coverage_of_known_distributions():
    uniform = np.full(4, 0.25)
    measures = study.exact_measures([uniform])
    assert measures["divergence"] == pytest.approx(0) and measures["true"] == 1
    assert measures["coverage"] == pytest.approx(1 - 0.75**10)
    assert study.exact_measures([np.zeros(4)]) == {
        "divergence": 1.0,
        "coverage": 0.0,
        "true": 0.0,
    }
    assert study.exact_measures([np.array([1.0, 0, 0, 0])])["coverage"] == 0.25


def test_a_system_wins_above_the_frontier_only():
    rows = {
        name: {"ciderd": c, "coverage": v}
        for name, c, v in (
            ("XE", 1.0, 0.8),
            ("CIDEr-D", 3.0, 0.2),
            ("CIDEr-D t0.3", 3.0, 0.1),
        )
    }
    rows["CIDEr-D + TRM"] = {"ciderd": 2.0, "coverage": 0.6}
    assert study.margin(rows, "CIDEr-D + TRM", "coverage") == pytest.approx(0.1)
    rows["CIDEr-D + TRM"] = {"ciderd": 0.5, "coverage": 0.6}
    assert study.margin(rows, "CIDEr-D + TRM", "coverage") == pytest.approx(-0.2)
    assert study.sign_flip_p([1, 1, 1, 1, -1]) > 0.05 >= study.sign_flip_p([0.1] * 5)


def test_the_tables_of_the_page_are_those_that_the_command_prints(root, monkeypatch):
    monkeypatch.setattr(
        sys,
        "argv",
        [
            "train_on_divergence",
            "--results",
            str(root / "docs/studies/train-on-divergence.json"),
        ],
    )
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        study.main()
    page = (root / "docs/studies/train-on-divergence.md").read_text().splitlines()
    rows = [line for line in page if re.match(r"\| (XE|CIDEr-D)[^|]*\| [-+]?\d", line)]
    assert len(rows) > 20
    assert not set(rows) - set(printed.getvalue().splitlines())
