"""Checks of order, shards and weights: each one detects its fault."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from harness.testing.metric_invariance import INVARIANCE_CHECKS

Base: Any = object
"""At run time each class is combined with the sound metric of conftest.py."""


class ByPosition(Base):
    """Scores depend on the position in the batch."""

    def scores(self, batch, features, state):
        return super().scores(batch, features, state) / (1 + np.arange(len(batch)))


class FirstCandidate(Base):
    """Scores the first candidate alone."""

    def scores(self, batch, features, state):
        return np.array(
            [self.score(texts[:1], texts[batch.n :]) for texts in batch.texts]
        )


class FirstReference(Base):
    """Reads the first reference alone."""

    def scores(self, batch, features, state):
        return np.array(
            [
                self.score(texts[: batch.n], texts[batch.n : batch.n + 1])
                for texts in batch.texts
            ]
        )


class Centred(Base):
    """Scores are relative to the best of the batch."""

    def scores(self, batch, features, state):
        scores = super().scores(batch, features, state)
        return scores - scores.max() + 1


class Unweighted(Base):
    """Ignores weights."""

    def reduce(self, stats, weights=None):
        value = float(stats[:, 0].mean())
        return value if weights is None else np.full(len(weights), value)


class FirstShard(Base):
    """Merges two shards into the state of the first one."""

    def fit(self, references, features):
        return len(references)

    def scores(self, batch, features, state):
        return super().scores(batch, features, state) / state

    def merge(self, first, second):
        return first


class Unnoticed(Base):
    """Reads the references of all examples in a way that a run does not notice."""

    def scores(self, batch, features, state):
        return super().scores(batch, features, state) / len(features._task)


CASES = [
    (
        "corpus-state",
        Unnoticed,
        "rows change with the references of other examples (scene-",
    ),
    ("example-order", ByPosition, "rows change with the order of the examples: scene-"),
    (
        "candidate-order",
        FirstCandidate,
        "scores change with the order of the candidates: scene-",
    ),
    (
        "reference-order",
        FirstReference,
        "scores change with the order of the references: scene-",
    ),
    ("shards", Centred, "shards of 1 have other rows: scene-"),
    ("weights", Unweighted, "weight 2 gives "),
    ("merge", FirstShard, "merged states of two shards give other rows: scene-"),
]


@pytest.mark.parametrize(("check", "broken", "reason"), CASES)
def test_a_fault_is_detected(check, broken, reason, overlap, outcome):
    result = outcome("metrics", check, overlap(broken))
    assert result.failed
    assert result.reason.startswith(reason)


def test_every_check_of_the_module_has_a_fault():
    assert {check for check, *_ in CASES} == set(INVARIANCE_CHECKS.names)


def test_the_kit_says_that_a_metric_with_corpus_state_lacks_merge(overlap, outcome):
    class Fitted(Base):
        """Counts the references of the task."""

        def fit(self, references, features):
            return len(references)

    result = outcome("metrics", "merge", overlap(Fitted))
    assert result.status == "not applicable"
    assert result.reason.startswith(
        "has corpus state and no merge(first, second): "
        "a run of several shards holds all texts"
    )


@pytest.mark.parametrize(
    ("size", "needs", "failed"),
    [(1e-7, True, False), (1e-7, False, True), (1e-3, True, True)],
)
@pytest.mark.parametrize("check", ["shards", "ragged", "odd-texts", "example-order"])
def test_rows_of_embeddings_may_differ_in_the_last_digits(
    check, size, needs, failed, overlap, outcome
):
    class Batched(Base):
        """Scores depend on the other texts of the batch, as vectors of a network do."""

        spec_fields: ClassVar = {
            "needs": frozenset(
                {"references", "embeddings"} if needs else {"references"}
            )
        }

        def scores(self, batch, features, state):
            lengths = [sum(map(len, texts)) for texts in batch.texts]
            return super().scores(batch, features, state) * (
                1 - size * (np.sum(lengths) % 7 + np.arange(len(batch)))
            )

    assert outcome("metrics", check, overlap(Batched)).failed == failed
