"""Checks of a metric's specification and numbers: each one detects its fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import registry
from harness.contracts import MeanMetric, MetricSpec
from harness.registry.manifest_schema import Entry
from harness.stats import permutation
from harness.testing import check_metric
from harness.testing.metric_subject import MetricSubject
from harness.testing.metrics import NULL_CHECKS, SCORE_CHECKS

Base: Any = object
"""At run time each class is combined with the sound metric of conftest.py."""


class UnknownNeed(Base):
    """Declares an unknown need."""

    spec_fields = {"needs": frozenset({"refs"})}  # noqa: RUF012


class ListOfNeeds(Base):
    """Declares its needs as a list."""

    spec_fields = {"needs": ["references"]}  # noqa: RUF012


class UnknownLevel(Base):
    """Declares an unknown level."""

    spec_fields = {"level": "word"}  # noqa: RUF012


class NoCandidates(Base):
    """Declares that it needs no candidate."""

    spec_fields = {"min_candidates": 0}  # noqa: RUF012


class Raises(Base):
    """Raises an exception."""

    def scores(self, batch, features, state):
        raise ZeroDivisionError("by zero")


class AlwaysUndefined(Base):
    """Is undefined for every example."""

    def scores(self, batch, features, state):
        return np.full(len(batch), np.nan)


class Float32(Base):
    """Returns float32 statistics."""

    def stats(self, batch, features, state):
        return super().stats(batch, features, state).astype(np.float32)


class NumberForWeights(Base):
    """Returns one number for several weight vectors."""

    def reduce(self, stats, weights=None):
        return float(stats[:, 0].mean())


class Infinite(Base):
    """Returns an infinite score."""

    def per_example(self, stats):
        return np.full(len(stats), np.inf)


class NotANumber(Base):
    """Returns NaN for a defined row."""

    def per_example(self, stats):
        return np.full(len(stats), np.nan)


class NarrowBounds(Base):
    """Declares bounds that its scores exceed."""

    spec_fields = {"bounds": (0.0, 0.4)}  # noqa: RUF012


class WrongDirection(Base):
    """Declares the wrong direction."""

    spec_fields = {"higher_is_better": False}  # noqa: RUF012


class UndeclaredReferences(Base):
    """Reads references without declaring them."""

    spec_fields = {"needs": frozenset()}  # noqa: RUF012


class UnusedReferences(Base):
    """Declares references and does not read them."""

    def score(self, candidates, references):
        return 1 / (1 + len("".join(candidates)))


class UndeclaredImages(Base):
    """Reads the name of the image."""

    def scores(self, batch, features, state):
        return super().scores(batch, features, state) * np.array(
            [item.media is None for item in batch.sets]
        )


class UndeclaredEmbeddings(Base):
    """Uses an embedding without declaring it."""

    def scores(self, batch, features, state):
        features.vectors(Zeros(), batch.text_ids)
        return super().scores(batch, features, state)


class Zeros:
    """Embedding of zeros."""

    name = "zeros"

    def signature(self):
        return "zeros"

    def fit(self, references):
        pass

    def encode(self, texts):
        return np.zeros((len(texts), 2), dtype=np.float32)


CASES = [
    (
        "spec",
        UnknownNeed,
        "spec.needs contains ['refs']; valid needs are ['embeddings', ",
    ),
    ("spec", ListOfNeeds, "spec.needs is ['references']; expected a frozenset"),
    ("spec", UnknownLevel, "spec.level is 'word'; levels are item, set, corpus, model"),
    ("spec", NoCandidates, "spec.min_candidates is 0; expected at least 1"),
    ("scores", Raises, "raised ZeroDivisionError: by zero"),
    (
        "scores",
        AlwaysUndefined,
        "is undefined (NaN in column 0) for all plain examples",
    ),
    ("shapes", Float32, "stats is not a float64 array"),
    ("shapes", NumberForWeights, "reduce with 3 weight vectors has shape (), not (3,)"),
    (
        "finite",
        Infinite,
        "plain captions: the score of scene-0 is inf; "
        "an undefined row has NaN in column 0",
    ),
    ("finite", NotANumber, "plain captions: the score of scene-0 is nan"),
    ("bounds", NarrowBounds, "lies outside the declared bounds (0.0, 0.4)"),
    (
        "direction",
        WrongDirection,
        "identical candidates score 1, disjoint ones 0, higher_is_better is False",
    ),
    (
        "needs",
        UndeclaredReferences,
        "reads the references, which spec.needs does not contain",
    ),
    (
        "needs",
        UnusedReferences,
        "declares that it needs references and does not read them",
    ),
    ("needs", UndeclaredImages, "reads media, but spec.needs does not contain images"),
    (
        "needs",
        UndeclaredEmbeddings,
        "uses embeddings, which spec.needs does not contain",
    ),
]


@pytest.mark.parametrize(("check", "broken", "reason"), CASES)
def test_a_fault_is_detected(check, broken, reason, overlap, outcome):
    result = outcome("metrics", check, overlap(broken))
    assert result.failed
    assert reason in result.reason


def test_every_check_of_the_module_has_a_fault():
    # below, and in test_shared_checks.py
    elsewhere = {"catalogue", "described", "signature"}
    assert {check for check, *_ in CASES} | elsewhere == set(SCORE_CHECKS.names)


def test_a_sound_metric_passes_all_checks(overlap):
    outcomes = check_metric(overlap())
    assert not {o.check: o.reason for o in outcomes if o.failed}
    assert {o.check for o in outcomes if o.status == "not applicable"} == {
        "catalogue",
        "columns",
        "json-safe",
        "left-out",
        "merge",
        "token-scores-unchanged",
    }


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"level": "set"}, "level is set in the catalogue and item in spec"),
        (
            {"higher_is_better": False},
            "higher_is_better is False in the catalogue and True in spec",
        ),
        (
            {"needs": ("java", "references")},
            "the catalogue lists the needs ['java'], which spec.needs does not contain",
        ),
        ({"summary": ""}, "has no summary in the catalogue"),
    ],
)
def test_the_catalogue_agrees_with_the_specification(fields, reason, overlap, tmp_path):
    values = {
        "kind": "metrics",
        "name": "overlap",
        "provider": "mine",
        "source": "",
        "summary": "overlap",
        "level": "item",
    }
    entry = Entry(folder=tmp_path, **{**values, **fields})
    result = SCORE_CHECKS.run_one("catalogue", MetricSubject(overlap(), entry=entry))
    assert (result.status, result.reason) == ("fail", reason)


def test_a_metric_without_direction_or_bounds_is_not_applicable(overlap, outcome):
    class Plain(Base):
        """Has neither direction nor bounds."""

        spec_fields = {"higher_is_better": None, "bounds": None}  # noqa: RUF012

    assert outcome("metrics", "direction", overlap(Plain)).reason == "has no direction"
    assert outcome("metrics", "bounds", overlap(Plain)).reason == "declares no bounds"


def test_an_image_metric_asks_for_caption_sets(outcome, overlap):
    class Image(Base):
        """Needs images."""

        spec_fields = {"needs": frozenset({"images"})}  # noqa: RUF012

    result = outcome("metrics", "scores", overlap(Image))
    assert result.status == "not applicable"
    assert result.reason == "needs images: give caption sets that have them (sets=...)"


def test_undefined_corpus_scores_of_an_example_are_accepted(overlap, outcome):
    class Corpus(Base):
        """A corpus metric without scores of its examples."""

        spec_fields = {"level": "corpus"}  # noqa: RUF012

        def per_example(self, stats):
            return np.full(len(stats), np.nan)

    assert outcome("metrics", "finite", overlap(Corpus)).status == "pass"


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


NULL_CHECKS_CASES = [
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


@pytest.mark.parametrize(("check", "broken", "reason"), NULL_CHECKS_CASES)
def test_a_fault_is_detected_in_null_checks(check, broken, reason, overlap, outcome):
    result = outcome("metrics", check, overlap(broken))
    assert result.failed
    assert result.reason.startswith(reason)


def test_every_check_of_the_module_has_a_fault_in_null_checks():
    assert {check for check, *_ in NULL_CHECKS_CASES} == set(NULL_CHECKS.names)


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
