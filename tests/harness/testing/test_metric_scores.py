"""Checks of a metric's numbers: each one detects its fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.testing import check_metric
from harness.testing.metric_scores import SCORE_CHECKS

Base: Any = object
"""At run time each class is combined with the sound metric of conftest.py."""


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
    assert {check for check, *_ in CASES} == set(SCORE_CHECKS.names)


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
