"""Checks of a distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness.testing import exchangeability, shared_checks
from harness.testing.base_subject import ArraySubject
from harness.testing.embeddings import FLOAT32_TOLERANCE
from harness.testing.exchangeability import UNDECLARED
from harness.testing.metric_subject import RecordingFeatures, copy_of_sets
from harness.testing.results import (
    Checks,
    Instance,
    NotApplicable,
    ensure,
    violation_on_error,
)
from harness.testing.sample_captions import (
    NONSENSE,
    UNUSUAL_TEXTS,
    caption_sets,
    with_candidates,
)

DISTANCE_CHECKS = Checks("distances")
TOLERANCE = 1e-9
"""Absolute tolerance for distances of the same texts at other positions."""


@dataclass(eq=False)
class DistanceSubject(ArraySubject):
    """A distance, and the caption sets on which it is checked (default: those of the
    kit).
    """

    noun = "distances"
    base_check = "matrices"

    sets: Sequence[CaptionSet] = field(default_factory=caption_sets, kw_only=True)

    def compute(self, component: Instance = None) -> np.ndarray:
        """Return the matrices (B, N, N) of :attr:`sets`."""
        return self.matrices(self.sets, component)

    def matrices(
        self, sets: Sequence[CaptionSet], distance: Instance = None
    ) -> np.ndarray:
        """Return the matrices (B, N, N) of other sets; the corpus state is that of the
        references of :attr:`sets`.
        """
        features = FeatureCache([item.references for item in self.sets])
        return (distance or self.component).matrices(features.batch(sets), features)

    @cached_property
    def tolerance(self) -> float:
        """Tolerance for distances of texts in other batches, relative to the largest
        one: above 0 for distances of embeddings.
        """
        features = RecordingFeatures([item.references for item in self.sets])
        self.component.matrices(features.batch(self.sets), features)
        return FLOAT32_TOLERANCE if features.encoded else 0.0

    def nearly_equal(self, left: np.ndarray, right: np.ndarray) -> bool:
        """Return whether the matrices, of equal shape,
        are equal but for the order of summation.
        """
        return np.allclose(left, right, rtol=1e-9, atol=1e-12)


DISTANCE_CHECKS.extend(
    [shared_checks.name, shared_checks.described, shared_checks.signature]
)


@DISTANCE_CHECKS.add
def matrices(subject: DistanceSubject) -> None:
    """``matrices`` returns float64 of shape (B, N, N);
    the other checks depend on this one.
    """
    values = subject.ensure_runs()
    size = len(subject.sets[0].candidates) + len(subject.sets[0].references)
    ensure(
        isinstance(values, np.ndarray) and values.dtype == np.float64,
        "does not return a float64 array",
    )
    shape = (len(subject.sets), size, size)
    ensure(values.shape == shape, f"has shape {values.shape}; expected {shape}")


@DISTANCE_CHECKS.add
def finite(subject: DistanceSubject) -> None:
    """No distance is NaN or infinite."""
    ensure(np.isfinite(subject.base).all(), "contains NaN or an infinite number")


@DISTANCE_CHECKS.add
def non_negative(subject: DistanceSubject) -> None:
    """No distance is below 0."""
    ensure((subject.base >= 0).all(), f"contains {subject.base.min()}")


@DISTANCE_CHECKS.add
def zero_for_equal_texts(subject: DistanceSubject) -> None:
    """Equal texts have a distance of exactly 0; some texts do not."""
    diagonal = np.diagonal(subject.base, axis1=1, axis2=2)
    ensure(
        (diagonal == 0).all(), f"the distance of a text from itself is {diagonal.max()}"
    )

    # an equal text on the other side is a tie as well
    twins = [replace(item, references=item.candidates) for item in subject.sets]
    n = len(twins[0].candidates)
    between = subject.matrices(twins)[:, np.arange(n), n + np.arange(n)]
    ensure(
        (between == 0).all(),
        f"the distance of a candidate from an equal reference is {between.max()}",
    )
    ensure(subject.base.any(), "is 0 between all texts")


@DISTANCE_CHECKS.add
def batch_split(subject: DistanceSubject) -> None:
    """An example's matrix is the same alone and in a batch, to the digit; of embeddings
    within 1e-5 of the largest distance.
    """
    base = subject.base
    limit = subject.tolerance * np.abs(base).max()
    for k, item in enumerate(subject.sets):
        gap = np.abs(subject.matrices([item])[0] - base[k]).max()
        ensure(
            gap <= limit,
            f"the matrix of {item.id} alone differs by {gap:.3g}: "
            "equal distances would not stay ties",
        )


@DISTANCE_CHECKS.add
def text_order(subject: DistanceSubject) -> None:
    """The distance of two texts does not depend on their positions in the example."""
    base = subject.base
    n = len(subject.sets[0].candidates)
    order = np.random.default_rng(0).permutation(base.shape[1])
    permuted_sets = []
    for item in subject.sets:
        texts = (*item.candidates, *item.references)
        permuted = tuple(texts[k] for k in order)
        permuted_sets.append(
            replace(item, candidates=permuted[:n], references=permuted[n:])
        )

    gap = np.abs(subject.matrices(permuted_sets) - base[:, order[:, None], order]).max()
    limit = max(TOLERANCE, subject.tolerance * np.abs(base).max())
    ensure(gap <= limit, f"distances change by {gap:.3g} with the order of the texts")


@DISTANCE_CHECKS.add
def odd_texts(subject: DistanceSubject) -> None:
    """Empty, blank, one-word, unicode and long texts have finite distances,
    0 from themselves.
    """
    _ = subject.base
    for kind, texts in UNUSUAL_TEXTS.items():
        with violation_on_error(f"texts ({kind})"):
            values = subject.matrices([with_candidates(subject.sets[0], texts)])[0]
        ensure(
            np.isfinite(values).all(), f"texts ({kind}): NaN or an infinite distance"
        )
        ensure((values >= 0).all(), f"texts ({kind}): a distance of {values.min()}")

        diagonal = np.diagonal(values)
        ensure(
            (diagonal == 0).all(),
            f"texts ({kind}): the distance of a text from itself is {diagonal.max()}",
        )


@DISTANCE_CHECKS.add
def inputs_unchanged(subject: DistanceSubject) -> None:
    """Texts and ids are not modified."""
    _ = subject.base
    features = FeatureCache([item.references for item in subject.sets])
    batch = features.batch(subject.sets)

    before = copy_of_sets(subject.sets)
    ids = batch.text_ids.copy()
    subject.component.matrices(batch, features)
    ensure(
        np.array_equal(ids, batch.text_ids) and copy_of_sets(subject.sets) == before,
        "modifies its arguments",
    )


@DISTANCE_CHECKS.add
def corpus_state(subject: DistanceSubject) -> None:
    """The references of other examples change no distance,
    unless ``held_fixed`` says what is fitted on them.
    """
    base = subject.base
    distance = subject.component
    if getattr(distance, "held_fixed", ""):
        raise NotApplicable(f"declares it: {distance.held_fixed}")
    other = shared_checks.second_instance(
        distance, shared_checks.constructor_values(distance, subject.parameters)
    )

    features = FeatureCache([NONSENSE])
    with violation_on_error("distances under other references"):
        distances = other.matrices(features.batch(subject.sets), features)
    gap = float(np.abs(distances - base).max())
    ensure(
        gap <= subject.tolerance * np.abs(base).max(),
        f"distances change by {gap:.3g} with the references of the task: {UNDECLARED}",
    )


DISTANCE_CHECKS.extend([exchangeability.equal_labels, exchangeability.one_source])
DISTANCE_CHECKS.extend([*shared_checks.REPEATABLE, *shared_checks.CONDUCT])
