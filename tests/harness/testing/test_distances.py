"""Checks of a distance: each one detects its fault."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import TextDistance
from harness.testing import check_distance
from harness.testing.distances import DISTANCE_CHECKS, DistanceSubject
from harness.testing.sample_captions import caption_sets

CASES = [
    ("name", "name", "name is 'unnamed'"),
    ("float32", "matrices", "does not return a float64 array"),
    ("shape", "matrices", "has shape (6, 5, 6); expected (6, 6, 6)"),
    ("nan", "finite", "contains NaN or an infinite number"),
    ("negative", "non-negative", "contains -"),
    ("diagonal", "zero-for-equal-texts", "the distance of a text from itself is 0.5"),
    (
        "twins",
        "zero-for-equal-texts",
        "the distance of a candidate from an equal reference is 1.0",
    ),
    ("zero", "zero-for-equal-texts", "is 0 between all texts"),
    ("batch", "batch-split", "the matrix of scene-0 alone differs by "),
    ("order", "text-order", "distances change by "),
    ("empty", "odd-texts", "texts (empty) raise ValueError: no words"),
    ("modifies", "inputs-unchanged", "modifies its arguments"),
]
SHARED = {
    "described",
    "signature",
    "deterministic",
    "random-state",
    "pickles",
    "parameters",
    "prints-nothing",
    "writes-nothing",
    "no-network",
}
FITTED = {"corpus-state", "equal-labels", "one-source"}
"""Checks of what is fitted; their faults are in test_exchangeability.py."""


class Lengths(TextDistance):
    """Difference of the lengths, plus 1 for texts that differ."""

    name = "lengths"

    def __init__(self, *, fault: str = "") -> None:
        self.fault = fault
        if fault == "name":
            self.name = "unnamed"

    def signature(self):
        return f"lengths|{self.fault}"

    def pairwise(self, texts):
        sizes = np.array([len(text) for text in texts], dtype=float)
        values = np.abs(sizes[:, None] - sizes) + [
            [float(a != b) for a in texts] for b in texts
        ]
        if self.fault == "diagonal":
            values += 0.5
        if self.fault == "negative":
            values = -values
        if self.fault == "nan":
            values[0, 1] = np.nan
        if self.fault == "twins":
            values += ~np.eye(len(texts), dtype=bool)
        if self.fault == "order":
            values[0] *= 2
        if self.fault == "empty" and "" in texts:
            raise ValueError("no words")
        return values * 0 if self.fault == "zero" else values

    def matrices(self, batch, features):
        values = super().matrices(batch, features)
        if self.fault == "modifies":
            (
                batch.text_ids if batch.text_ids.base is None else batch.text_ids.base
            ).setflags(write=True)
            batch.text_ids.setflags(write=True)  # batches are read-only
            batch.text_ids[:] = 0
        if self.fault == "float32":
            return values.astype(np.float32)
        if self.fault == "shape":
            return values[:, 1:]
        return values * len(batch) if self.fault == "batch" else values


@pytest.mark.parametrize(("fault", "check", "reason"), CASES)
def test_a_fault_is_detected(fault, check, reason, outcome):
    result = outcome("distances", check, Lengths(fault=fault))
    assert result.failed
    assert reason in result.reason


def test_every_check_has_a_fault():
    assert {check for _, check, _ in CASES} | SHARED | FITTED == set(
        DISTANCE_CHECKS.names
    )


def test_a_sound_distance_passes_all_checks():
    outcomes = check_distance(Lengths())
    assert {o.check: o.reason for o in outcomes if o.status != "pass"} == {
        "equal-labels": "tells texts without a common token apart",
        "parameters": "no parameter has a plain value that can be changed",
    }


def test_differences_of_matrices():
    subject = DistanceSubject(Lengths(), sets=caption_sets(count=2))
    base = subject.compute()
    assert base.shape == (2, 6, 6)
    assert subject.difference(base, base.copy()) == ""
    assert subject.difference(base, base + 0.25) == "by up to 0.25"
    assert subject.difference(base, base[:1]) == "shapes (2, 6, 6) and (1, 6, 6)"
    assert subject.nearly_equal(base, base + 1e-13)


@pytest.mark.parametrize(("size", "failed"), [(1e-7, False), (1e-3, True)])
def test_distances_of_embeddings_may_differ_in_the_last_digits(size, failed, outcome):
    class Encoded(Lengths):
        """Reads vectors, which depend on the other texts of a batch."""

        def matrices(self, batch, features):
            features.vectors(Counts(), batch.text_ids)
            return super().matrices(batch, features) * (1 + size * len(batch))

    assert outcome("distances", "batch-split", Encoded()).failed == failed


class Counts:
    """Number of letters."""

    name = "counts"

    def signature(self):
        return "counts"

    def fit(self, references):
        pass

    def encode(self, texts):
        return np.array([[len(text)] for text in texts], dtype=np.float32)
