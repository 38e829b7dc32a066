"""The checks of a distance and of an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness.testing import sample_captions as samples
from harness.testing import shared_checks as making
from harness.testing import side_effects as watching
from harness.testing.base_subject import Observed, add_conduct
from harness.testing.metric_subject import snapshot
from harness.testing.results import Checks, Violation, ensure

DISTANCE_CHECKS = Checks("distances")
TOLERANCE = 1e-9


@dataclass(eq=False)
class DistanceSubject(Observed[np.ndarray]):
    """One distance and the caption sets it is checked on."""

    gives, told_by = "matrices", "matrices"

    distance: Any
    sets: Sequence[CaptionSet]

    def observe(self) -> np.ndarray:
        return self.matrices(self.sets)

    def matrices(
        self, sets: Sequence[CaptionSet], distance: Any = None, references: Sequence[Sequence[str]] | None = None
    ) -> np.ndarray:
        """(B, N, N) as the distance gives them; corpus state from ``references`` (those of all sets)."""
        features = FeatureCache(references or [item.references for item in self.sets])
        return (distance or self.distance).matrices(features.batch(sets), features)


@DISTANCE_CHECKS.add
def name(subject: DistanceSubject) -> None:
    """It has a name."""
    given = getattr(subject.distance, "name", None)
    ensure(isinstance(given, str) and given.strip() and given != "unnamed", f"name is {given!r}")


@DISTANCE_CHECKS.add
def described(subject: DistanceSubject) -> None:
    """The class has a docstring."""
    making.described(subject.distance)


@DISTANCE_CHECKS.add
def signature(subject: DistanceSubject) -> None:
    """``signature()`` is one line, steady, and the same for a second such distance."""
    making.steady_identity(subject.distance, lambda distance: distance.signature(), "signature")


@DISTANCE_CHECKS.add
def matrices(subject: DistanceSubject) -> None:
    """``matrices`` gives float64 of shape (B, N, N): the other checks stand on this one."""
    if subject.first_error is not None:
        raise subject.first_error
    made, size = subject.base, len(subject.sets[0].candidates) + len(subject.sets[0].references)
    ensure(isinstance(made, np.ndarray) and made.dtype == np.float64, "gives no float64 array (ties matter)")
    wanted = (len(subject.sets), size, size)
    ensure(made.shape == wanted, f"has shape {made.shape}; expected {wanted}")


@DISTANCE_CHECKS.add
def finite(subject: DistanceSubject) -> None:
    """No NaN and nothing infinite."""
    ensure(np.isfinite(subject.base).all(), "holds NaN or an infinite number")


@DISTANCE_CHECKS.add
def non_negative(subject: DistanceSubject) -> None:
    """No distance is below 0."""
    ensure((subject.base >= 0).all(), f"holds {subject.base.min()!r}")


@DISTANCE_CHECKS.add
def zero_for_equal_texts(subject: DistanceSubject) -> None:
    """A text is at distance 0, exactly, from itself and from a text with the same words; not from all others."""
    made = subject.base
    diagonal = made[:, np.arange(made.shape[1]), np.arange(made.shape[1])]
    ensure((diagonal == 0).all(), f"a text is {diagonal.max()!r} from itself")
    twins = [replace(item, references=item.candidates) for item in subject.sets]
    made, n = subject.matrices(twins), len(twins[0].candidates)
    between = made[:, np.arange(n), n + np.arange(n)]
    ensure((between == 0).all(), f"a reference with the words of the candidate is {between.max()!r} from it")
    ensure(subject.base.any(), "is 0 between all texts")


@DISTANCE_CHECKS.add
def batch_split(subject: DistanceSubject) -> None:
    """An example's matrix is the same alone and among others, to the digit."""
    base = subject.base
    for k, item in enumerate(subject.sets):
        gap = np.abs(subject.matrices([item])[0] - base[k]).max()
        ensure(gap == 0, f"the matrix of {item.id} alone differs by {gap:.3g}: equal distances would no longer be ties")


@DISTANCE_CHECKS.add
def text_order(subject: DistanceSubject) -> None:
    """Which texts are candidates, and in which order, changes no distance."""
    base, references = subject.base, [item.references for item in subject.sets]
    n, size = len(subject.sets[0].candidates), base.shape[1]
    order = np.random.default_rng(0).permutation(size)
    turned = []
    for item in subject.sets:
        texts = (*item.candidates, *item.references)
        moved = tuple(texts[k] for k in order)
        turned.append(replace(item, candidates=moved[:n], references=moved[n:]))
    made = subject.matrices(turned, references=references)
    gap = np.abs(made - base[:, order[:, None], order]).max()
    ensure(gap <= TOLERANCE, f"distances change by {gap:.3g} with the order of the texts")


@DISTANCE_CHECKS.add
def odd_texts(subject: DistanceSubject) -> None:
    """Empty, blank, one-word, unicode and long texts have finite distances, 0 to themselves."""
    _ = subject.base
    for kind, texts in samples.ODD.items():
        item = samples.with_candidates(subject.sets[0], texts)
        try:
            made = subject.matrices([item])[0]
        except Exception as error:
            raise Violation(f"texts that are {kind} raise {type(error).__name__}: {error}") from error
        ensure(np.isfinite(made).all(), f"texts that are {kind}: NaN or an infinite distance")
        ensure((made >= 0).all(), f"texts that are {kind}: a distance of {made.min()!r}")
        ensure((np.diagonal(made) == 0).all(), f"texts that are {kind}: {np.diagonal(made).max()!r} from themselves")


@DISTANCE_CHECKS.add
def inputs_unchanged(subject: DistanceSubject) -> None:
    """Texts and ids given to it stay as they were."""
    _, before = subject.base, snapshot(subject.sets)
    features = FeatureCache([item.references for item in subject.sets])
    batch = features.batch(subject.sets)
    ids = batch.text_ids.copy()
    subject.distance.matrices(batch, features)
    ensure(np.array_equal(ids, batch.text_ids) and snapshot(subject.sets) == before, "changes what it was given")


@DISTANCE_CHECKS.add
def deterministic(subject: DistanceSubject) -> None:
    """The same numbers again, whatever the global random state."""
    base = subject.base
    for seed in (1, 2):
        with watching.seeded(seed):
            again = subject.matrices(subject.sets)
        ensure(np.array_equal(again, base), "gives other numbers when run again")


@DISTANCE_CHECKS.add
def random_state(subject: DistanceSubject) -> None:
    """Global random states are left alone."""
    _ = subject.base
    watching.leaves_random_state_alone(lambda: subject.matrices(subject.sets))


@DISTANCE_CHECKS.add
def pickles(subject: DistanceSubject) -> None:
    """A copy in a worker process has the same signature and gives the same numbers."""
    _ = subject.base
    copy = making.copied(subject.distance)
    ensure(copy.signature() == subject.distance.signature(), "has another signature after pickling")
    ensure(np.array_equal(subject.matrices(subject.sets, copy), subject.base), "gives other numbers after pickling")


@DISTANCE_CHECKS.add
def parameters(subject: DistanceSubject) -> None:
    """A parameter that changes the distances changes the signature."""
    _ = subject.base
    making.told_apart(
        subject.distance,
        lambda distance: distance.signature(),
        lambda distance: subject.matrices(subject.sets, distance),
        lambda one, other: np.allclose(one, other, rtol=1e-9, atol=1e-12),
    )


add_conduct(DISTANCE_CHECKS)
