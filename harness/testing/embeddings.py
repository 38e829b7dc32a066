"""The checks of an embedding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.testing import sample_captions as samples
from harness.testing import shared_checks as making
from harness.testing import side_effects as watching
from harness.testing.base_subject import Observed, add_conduct
from harness.testing.results import Checks, Violation, ensure

EMBEDDING_CHECKS = Checks("embeddings")
REFERENCES = tuple(scene[3:] for scene in samples.SCENES)
TEXTS = tuple(text for scene in samples.SCENES for text in scene[:3])
SINGLE = 1e-5
"""What another batch may do to a float32."""


@dataclass(eq=False)
class EmbeddingSubject(Observed[np.ndarray]):
    """One embedding."""

    gives, told_by = "vectors", "vectors"

    embedding: Any

    def observe(self) -> np.ndarray:
        self.embedding.fit(REFERENCES)
        return np.asarray(self.embedding.encode(list(TEXTS)))


@EMBEDDING_CHECKS.add
def name(subject: EmbeddingSubject) -> None:
    """It has a name."""
    given = getattr(subject.embedding, "name", None)
    ensure(isinstance(given, str) and given.strip(), f"name is {given!r}")


@EMBEDDING_CHECKS.add
def described(subject: EmbeddingSubject) -> None:
    """The class has a docstring."""
    making.described(subject.embedding)


@EMBEDDING_CHECKS.add
def signature(subject: EmbeddingSubject) -> None:
    """``signature()`` is one line, steady, and the same for a second such embedding."""
    making.steady_identity(subject.embedding, lambda embedding: embedding.signature(), "signature")


@EMBEDDING_CHECKS.add
def vectors(subject: EmbeddingSubject) -> None:
    """``encode`` gives one finite float32 row per text."""
    if subject.first_error is not None:
        raise subject.first_error
    made = subject.base
    ensure(made.ndim == 2 and len(made) == len(TEXTS) and made.shape[1] > 0, f"has shape {made.shape}")
    ensure(made.dtype == np.float32, f"gives {made.dtype}; expected float32")
    ensure(np.isfinite(made).all(), "holds NaN or an infinite number")


@EMBEDDING_CHECKS.add
def batch_split(subject: EmbeddingSubject) -> None:
    """A text's vector is the same alone, in another order and among others (to float32)."""
    base, embedding = subject.base, subject.embedding
    turned = np.asarray(embedding.encode(list(TEXTS[::-1])))[::-1]
    alone = np.concatenate([np.asarray(embedding.encode([text])) for text in TEXTS[:4]])
    scale = max(1.0, float(np.abs(base).max()))
    for what, one, other in (("in another order", turned, base), ("alone", alone, base[:4])):
        gap = float(np.abs(one - other).max())
        ensure(gap <= SINGLE * scale, f"a text's vector {what} differs by {gap:.3g}")


@EMBEDDING_CHECKS.add
def odd_texts(subject: EmbeddingSubject) -> None:
    """Empty, blank, one-word, unicode and long texts have finite vectors."""
    width = subject.base.shape[1]
    for kind, texts in samples.ODD.items():
        try:
            made = np.asarray(subject.embedding.encode(list(texts)))
        except Exception as error:
            raise Violation(f"texts that are {kind} raise {type(error).__name__}: {error}") from error
        ensure(made.shape == (len(texts), width), f"texts that are {kind}: shape {made.shape}")
        ensure(np.isfinite(made).all(), f"texts that are {kind}: NaN or an infinite number")


@EMBEDDING_CHECKS.add
def deterministic(subject: EmbeddingSubject) -> None:
    """The same vectors again, whatever the global random state."""
    base = subject.base
    with watching.seeded(1):
        again = np.asarray(subject.embedding.encode(list(TEXTS)))
    ensure(np.array_equal(again, base), "gives other vectors when run again")


@EMBEDDING_CHECKS.add
def random_state(subject: EmbeddingSubject) -> None:
    """Global random states are left alone."""
    _ = subject.base
    watching.leaves_random_state_alone(lambda: subject.embedding.encode(list(TEXTS)))


@EMBEDDING_CHECKS.add
def pickles(subject: EmbeddingSubject) -> None:
    """A copy in a worker process has the same signature and gives the same vectors."""
    base = subject.base
    copy = making.copied(subject.embedding)
    ensure(copy.signature() == subject.embedding.signature(), "has another signature after pickling")
    ensure(np.array_equal(np.asarray(copy.encode(list(TEXTS))), base), "gives other vectors after pickling")


@EMBEDDING_CHECKS.add
def parameters(subject: EmbeddingSubject) -> None:
    """A parameter that changes the vectors changes the signature."""
    _ = subject.base
    making.told_apart(
        subject.embedding,
        lambda embedding: embedding.signature(),
        _vectors,
        lambda one, other: one.shape == other.shape and np.allclose(one, other, atol=SINGLE),
    )


def _vectors(embedding: Any) -> np.ndarray:
    embedding.fit(REFERENCES)
    return np.asarray(embedding.encode(list(TEXTS)))


add_conduct(EMBEDDING_CHECKS)
