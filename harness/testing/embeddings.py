"""Checks of an embedding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.testing import exchangeability, shared_checks
from harness.testing.base_subject import ArraySubject
from harness.testing.exchangeability import UNDECLARED
from harness.testing.results import (
    Checks,
    Instance,
    NotApplicable,
    ensure,
    violation_on_error,
)
from harness.testing.sample_captions import NONSENSE, SCENES, UNUSUAL_TEXTS

EMBEDDING_CHECKS = Checks("embeddings")
REFERENCES = tuple(scene[3:] for scene in SCENES)
"""Texts on which the embedding is fitted, per example."""
TEXTS = tuple(text for scene in SCENES for text in scene[:3])
"""Texts that are encoded."""
FLOAT32_TOLERANCE = 1e-5
"""Tolerance for float32 values of other batches, relative to the largest value."""


@dataclass(eq=False)
class EmbeddingSubject(ArraySubject):
    """An embedding, checked on :data:`TEXTS`."""

    noun = "vectors"
    base_check = "vectors"

    def compute(self, component: Instance = None) -> np.ndarray:
        """Fit on :data:`REFERENCES` and return the vectors (T, d) of :data:`TEXTS`."""
        embedding = component or self.component
        embedding.fit(REFERENCES)
        return np.asarray(embedding.encode(list(TEXTS)))

    def nearly_equal(self, left: np.ndarray, right: np.ndarray) -> bool:
        """Return whether the vectors, of equal shape, are equal within float32."""
        return left.shape == right.shape and np.allclose(
            left, right, atol=FLOAT32_TOLERANCE
        )


EMBEDDING_CHECKS.extend(
    [shared_checks.name, shared_checks.described, shared_checks.signature]
)


@EMBEDDING_CHECKS.add
def vectors(subject: EmbeddingSubject) -> None:
    """``encode`` returns one finite float32 row per text, (T, d);
    the other checks depend on this one.
    """
    values = subject.ensure_runs()
    ensure(
        values.ndim == 2 and len(values) == len(TEXTS) and values.shape[1] > 0,
        f"has shape {values.shape}",
    )
    ensure(values.dtype == np.float32, f"returns {values.dtype}; expected float32")
    ensure(np.isfinite(values).all(), "contains NaN or an infinite number")


@EMBEDDING_CHECKS.add
def batch_split(subject: EmbeddingSubject) -> None:
    """A text's vector is the same alone, in another order and in a batch,
    within float32.
    """
    base = subject.base
    embedding = subject.component
    reordered = np.asarray(embedding.encode(list(TEXTS[::-1])))[::-1]
    alone = np.concatenate([np.asarray(embedding.encode([text])) for text in TEXTS[:4]])

    scale = max(1.0, float(np.abs(base).max()))
    for condition, actual, expected in (
        ("in another order", reordered, base),
        ("alone", alone, base[:4]),
    ):
        gap = float(np.abs(actual - expected).max())
        ensure(
            gap <= FLOAT32_TOLERANCE * scale,
            f"a text's vector {condition} differs by {gap:.3g}",
        )


@EMBEDDING_CHECKS.add
def odd_texts(subject: EmbeddingSubject) -> None:
    """Empty, blank, one-word, unicode and long texts have finite vectors."""
    width = subject.base.shape[1]
    for kind, texts in UNUSUAL_TEXTS.items():
        with violation_on_error(f"texts ({kind})"):
            values = np.asarray(subject.component.encode(list(texts)))
        ensure(
            values.shape == (len(texts), width), f"texts ({kind}): shape {values.shape}"
        )
        ensure(np.isfinite(values).all(), f"texts ({kind}): NaN or an infinite number")


@EMBEDDING_CHECKS.add
def corpus_state(subject: EmbeddingSubject) -> None:
    """The references that ``fit`` gets change no vector,
    unless ``held_fixed`` says what is fitted on them.
    """
    base = subject.base
    embedding = subject.component
    if getattr(embedding, "held_fixed", ""):
        raise NotApplicable(f"declares it: {embedding.held_fixed}")
    other = shared_checks.second_instance(
        embedding, shared_checks.constructor_values(embedding, subject.parameters)
    )

    other.fit([NONSENSE])
    with violation_on_error("vectors after a fit on other references"):
        vectors = np.asarray(other.encode(list(TEXTS)))
    same = vectors.shape == base.shape and np.allclose(
        vectors, base, atol=FLOAT32_TOLERANCE * max(1.0, float(np.abs(base).max()))
    )
    ensure(same, f"vectors change with the references that fit gets: {UNDECLARED}")


EMBEDDING_CHECKS.extend([exchangeability.equal_labels, exchangeability.one_source])
EMBEDDING_CHECKS.extend([*shared_checks.REPEATABLE, *shared_checks.CONDUCT])
