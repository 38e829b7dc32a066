"""A sound metric from which tests derive broken ones, and the outcome of one check."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from harness.contracts import MeanMetric, MetricSpec
from harness.stats import permutation
from harness.testing.targets import checks_of, subject_of


class Overlap(MeanMetric):
    """Share of the candidates' words that occur in a reference;
    exact p-values by enumeration.
    """

    spec_fields: ClassVar[dict[str, Any]] = {}

    def __init__(self, *, power: float = 1.0) -> None:
        self.power = power
        self.spec = MetricSpec(
            **{
                "name": "overlap",
                "higher_is_better": True,
                "bounds": (0.0, 1.0),
                **self.spec_fields,
            }
        )

    def signature(self):
        return f"overlap|power:{self.power:g}"

    def scores(self, batch, features, state):
        return np.array(
            [self.score(texts[: batch.n], texts[batch.n :]) for texts in batch.texts]
        )

    def score(self, candidates, references):
        words = {word for text in references for word in text.split()}
        shares = [
            sum(w in words for w in text.split()) / max(1, len(text.split()))
            for text in sorted(candidates)
        ]
        return float(np.mean(shares)) ** self.power

    def null(self, batch, features, state, labels):
        rows = [
            [
                self.score(
                    [t for t, c in zip(texts, row) if c],
                    [t for t, c in zip(texts, row) if not c],
                )
                for row in labels
            ]
            for texts in batch.texts
        ]
        return np.array(rows)

    def exact_p_values(self, batch, features, state):
        null = self.null(
            batch, features, state, permutation.relabelings(batch.n, batch.m)
        )
        return (null <= null[:, :1] + 1e-9).mean(axis=1)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Run each test in an empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def overlap():
    """Return a function that constructs the sound metric,
    or one whose methods a class overrides.
    """

    def build(broken: type | None = None, **params: Any) -> Overlap:
        if broken is None:
            return Overlap(**params)
        return type(broken.__name__, (broken, Overlap), {"__doc__": broken.__doc__})(
            **params
        )

    return build


@pytest.fixture
def outcome():
    """Return a function that runs one check of a component."""

    def run(kind: str, check: str, component: Any, **settings: Any):
        return checks_of(kind).run_one(check, subject_of(kind, component, **settings))

    return run
