"""Checks of shapes and unusual texts: each one detects its fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.testing.metric_unusual_sets import UNUSUAL_SET_CHECKS

Base: Any = object
"""At run time each class is combined with the sound metric of conftest.py."""


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


CASES = [
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
    assert {check for check, *_ in CASES} == set(UNUSUAL_SET_CHECKS.names)


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
