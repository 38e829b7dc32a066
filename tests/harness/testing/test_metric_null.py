"""Checks of a metric's permutation null and p-values: each one detects its fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import registry
from harness.contracts import MeanMetric, MetricSpec
from harness.stats import permutation
from harness.testing.metric_null import NULL_CHECKS

Base: Any = object
"""At run time each class is combined with the sound metric of conftest.py."""


class Transposed(Base):
    """Returns the null as (P, B)."""

    def null(self, batch, features, state, labels):
        return super().null(batch, features, state, labels).T


class Shifted(Base):
    """Returns the null on another scale."""

    def null(self, batch, features, state, labels):
        return super().null(batch, features, state, labels) + 0.1


class Constant(Base):
    """Returns the observed score for every relabeling."""

    def null(self, batch, features, state, labels):
        observed = super().null(
            batch, features, state, permutation.relabelings(batch.n, batch.m)[:1]
        )
        return np.repeat(observed, len(labels), axis=1)


class WrongTail(Base):
    """Counts the other tail."""

    def exact_p_values(self, batch, features, state):
        null = self.null(
            batch, features, state, permutation.relabelings(batch.n, batch.m)
        )
        return (null >= null[:, :1] - 1e-9).mean(axis=1)


class OnePValue(Base):
    """Returns a single p-value."""

    def exact_p_values(self, batch, features, state):
        return np.array([0.5])


class KnownWords(Base):
    """Share of the words of the candidates that some reference of the task has."""

    null = MeanMetric.null

    def fit(self, references, features):
        return {word for texts in references for text in texts for word in text.split()}

    def scores(self, batch, features, state):
        words = [" ".join(texts[: batch.n]).split() for texts in batch.texts]
        return np.array([np.mean([word in state for word in row]) for row in words])


CASES = [
    (
        "equal-labels",
        KnownWords,
        "eight texts without a common token, 4 against 4, "
        "have the score 0 under all labels and p 0.0143; expected 1",
    ),
    (
        "one-source",
        KnownWords,
        "50 of 50 sets with candidates and references of one source have p of 0.05 "
        "or less; expected at most 8",
    ),
    ("null-shape", Transposed, "null has shape (4, 3); expected (3, 4)"),
    ("null-identity", Shifted, "null of the original labels is not the score: scene-"),
    ("null-relabels", Constant, "null is not the score of the texts relabeled "),
    ("exact-p-values", WrongTail, "enumerated and returned p-value differ: scene-"),
    ("exact-p-values", OnePValue, "exact_p_values has shape (1,); expected (3,)"),
]


@pytest.mark.parametrize(("check", "broken", "reason"), CASES)
def test_a_fault_is_detected(check, broken, reason, overlap, outcome):
    result = outcome("metrics", check, overlap(broken))
    assert result.failed
    assert result.reason.startswith(reason)


def test_every_check_of_the_module_has_a_fault():
    assert {check for check, *_ in CASES} == set(NULL_CHECKS.names)


def test_a_metric_without_a_test_is_not_applicable(outcome):
    class Length(MeanMetric):
        """Length of the first candidate."""

        spec = MetricSpec("length", True, needs=frozenset())

        def scores(self, batch, features, state):
            return np.array([float(len(texts[0])) for texts in batch.texts])

    reasons = {
        name: outcome("metrics", name, Length()).reason for name in NULL_CHECKS.names
    }
    alone = "reads the candidates alone and defines no permutation null"
    none = f"has no p-values: {alone}"
    assert reasons == {
        "null-shape": alone,
        "null-identity": alone,
        "null-relabels": alone,
        "exact-p-values": "has no exact_p_values",
        "equal-labels": none,
        "one-source": none,
    }
    assert (
        outcome("metrics", "null-shape", registry.resolve("metrics", "distinct")).reason
        == "has no null"
    )


def test_the_generic_null_passes(outcome):
    class Common(MeanMetric):
        """Number of words of the first candidate that occur in a reference;
        undefined for an empty one.
        """

        spec = MetricSpec("common", True)

        def scores(self, batch, features, state):
            words = [[set(text.split()) for text in texts] for texts in batch.texts]
            return np.array(
                [
                    len(row[0] & set.union(*row[batch.n :])) if row[0] else np.nan
                    for row in words
                ]
            )

    for name in ("null-shape", "null-identity", "null-relabels"):
        result = outcome("metrics", name, Common())
        assert (result.status, result.reason) == ("pass", ""), name


def test_exact_p_values_need_a_direction(overlap, outcome):
    class Undirected(Base):
        """Has no direction."""

        spec_fields = {"higher_is_better": None}  # noqa: RUF012

    assert (
        outcome("metrics", "exact-p-values", overlap(Undirected)).reason
        == "has no direction, hence no p-values"
    )
