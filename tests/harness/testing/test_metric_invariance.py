"""Checks of order, shards, weights, shapes and unusual texts:
each one detects its fault.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from harness.contracts import MeanMetric, MetricSpec
from harness.testing import check_metric
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


class WordsRequired(Base):
    """Divides by zero for a candidate without words."""

    def score(self, candidates, references):
        return super().score(candidates, references) / (
            1 if all(text.split() for text in candidates) else 0
        )


class AsciiReferences(Base):
    """Accepts ASCII references only."""

    def score(self, candidates, references):
        return super().score(
            candidates, [text.encode("ascii").decode() for text in references]
        )


class TwoReferences(Base):
    """Needs two references without declaring it."""

    def score(self, candidates, references):
        return super().score(candidates, [references[0], references[1]])


class LateNaN(Base):
    """Has NaN in column 1 instead of column 0 for one candidate and one reference."""

    def score(self, candidates, references):
        return (
            np.nan
            if len(candidates) + len(references) == 2
            else super().score(candidates, references)
        )

    def stats(self, batch, features, state):
        stats = super().stats(batch, features, state)
        return np.concatenate([np.zeros_like(stats), stats], axis=1)

    def per_example(self, stats):
        return stats[:, 1]

    def reduce(self, stats, weights=None):
        return super().reduce(stats[:, 1:], weights)


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
    ("odd-texts", WordsRequired, "candidates (empty) raise ZeroDivisionError: "),
    (
        "odd-references",
        AsciiReferences,
        "references (unicode) raise UnicodeEncodeError: ",
    ),
    ("one-reference", TwoReferences, "raised IndexError: "),
    ("ragged", LateNaN, "sets of several shapes: the score of scene-0 is nan"),
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


def test_a_metric_of_larger_sets_is_not_asked_for_small_ones(overlap, outcome):
    class Large(Base):
        """Needs four candidates and four references."""

        spec_fields = {"min_candidates": 4, "min_references": 4}  # noqa: RUF012

    assert (
        outcome("metrics", "ragged", overlap(Large)).reason
        == "accepts none of the small shapes"
    )
    assert (
        outcome("metrics", "one-reference", overlap(Large)).reason
        == "needs 4 references"
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


class Counted(MeanMetric):
    """A score of the texts of one side."""

    def __init__(self, side: str, combine, **fields) -> None:
        self.side = side
        self.combine = combine
        self.spec = MetricSpec("counted", True, **fields)

    def signature(self) -> str:
        return f"counted|{self.side}"

    def scores(self, batch, features, state):
        return np.array(
            [
                float(self.combine([len(text) for text in getattr(item, self.side)]))
                for item in batch.sets
            ]
        )


def outcome(metric):
    return next(
        result for result in check_metric(metric) if result.check == "depends-on"
    )


@pytest.mark.parametrize("side", ["candidates", "references"])
def test_a_maximum_depends_on_the_number_of_texts_and_a_mean_does_not(side):
    needs = frozenset({"references"}) if side == "references" else frozenset()
    undeclared = outcome(Counted(side, max, needs=needs, depends_on=frozenset()))
    assert undeclared.failed
    assert f"depends on the number of {side}" in undeclared.reason
    assert not outcome(
        Counted(side, np.mean, needs=needs, depends_on=frozenset())
    ).failed
    assert not outcome(
        Counted(side, max, needs=needs, depends_on=frozenset({side}))
    ).failed


def test_a_metric_that_declares_all_sizes_or_needs_the_whole_set_is_not_checked():
    both = frozenset({"candidates", "references"})
    assert (
        outcome(Counted("candidates", max, depends_on=both)).status == "not applicable"
    )
    whole = Counted(
        "candidates", max, depends_on=frozenset(), min_candidates=3, min_references=3
    )
    assert outcome(whole).status == "not applicable"
