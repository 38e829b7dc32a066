"""Checks of an embedding: each one detects its fault."""

from __future__ import annotations

import numpy as np
import pytest

from harness.testing import check_embedding
from harness.testing.embeddings import EMBEDDING_CHECKS, TEXTS, EmbeddingSubject

CASES = [
    ("name", "name", "name is ''"),
    ("float64", "vectors", "returns float64; expected float32"),
    ("rows", "vectors", f"has shape ({len(TEXTS) - 1}, 8)"),
    ("centred", "batch-split", "a text's vector alone differs by "),
    ("unit", "odd-texts", "texts (empty): NaN or an infinite number"),
    ("empty", "odd-texts", "texts (empty) raise ValueError: no letters"),
    (
        "parameter",
        "parameters",
        "scale=1.25 changes the vectors but not the signature 'letters|parameter|'",
    ),
]
SHARED = {
    "described",
    "signature",
    "deterministic",
    "random-state",
    "pickles",
    "prints-nothing",
    "writes-nothing",
    "no-network",
}
FITTED = {"corpus-state", "equal-labels", "one-source"}
"""Checks of what is fitted; their faults are in test_exchangeability.py."""


class Letters:
    """Counts of letters."""

    name = "letters"

    def __init__(self, *, fault: str = "", scale: float = 1.0) -> None:
        self.fault = fault
        self.scale = scale
        if fault == "name":
            self.name = ""

    def signature(self):
        return f"letters|{self.fault}|{self.scale if self.fault != 'parameter' else ''}"

    def fit(self, references):
        pass

    def encode(self, texts):
        if self.fault == "empty" and "" in texts:
            raise ValueError("no letters")
        vectors = np.array(
            [[text.count(letter) for letter in "abcdefgh"] for text in texts],
            dtype=np.float32,
        )
        vectors *= np.float32(self.scale)
        if self.fault == "centred":
            vectors -= vectors.mean(axis=0)
        if self.fault == "unit":
            with np.errstate(invalid="ignore"):
                vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        if self.fault == "rows":
            vectors = vectors[1:]
        return vectors.astype(float) if self.fault == "float64" else vectors


@pytest.mark.parametrize(("fault", "check", "reason"), CASES)
def test_a_fault_is_detected(fault, check, reason, outcome):
    result = outcome("embeddings", check, Letters(fault=fault))
    assert result.failed
    assert reason in result.reason


def test_every_check_has_a_fault():
    assert {check for _, check, _ in CASES} | SHARED | FITTED == set(
        EMBEDDING_CHECKS.names
    )


def test_a_sound_embedding_passes_all_checks():
    assert {
        o.check: o.reason for o in check_embedding(Letters()) if o.status != "pass"
    } == {"equal-labels": "tells texts without a common token apart"}


def test_differences_of_vectors():
    subject = EmbeddingSubject(Letters())
    base = subject.compute()
    assert base.shape == (len(TEXTS), 8)
    assert subject.difference(base, base.copy()) == ""
    assert subject.difference(base, base + 0.5) == "by up to 0.5"
    assert subject.difference(base, base[:, 1:]).startswith("shapes ")
    assert subject.nearly_equal(base, base + np.float32(1e-6))
    assert not subject.nearly_equal(base, base[:, 1:])
