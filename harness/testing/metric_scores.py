"""Checks of a metric's numbers: shapes, bounds, direction, and the inputs read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.contracts import CaptionSet, Objects, is_defined
from harness.testing.metric_subject import (
    MetricSubject,
    Numbers,
    RecordingFeatures,
    nearly_equal,
)
from harness.testing.results import Checks, Instance, NotApplicable, Violation, ensure
from harness.testing.sample_captions import NONSENSE, repeat_to, with_candidates

SCORE_CHECKS = Checks("metrics")


@SCORE_CHECKS.of(MetricSubject)
def scores(subject: MetricSubject) -> None:
    """Plain captions are scored; the other checks depend on this one."""
    _ = subject.sets
    ensure(
        subject.ensure_runs().is_defined.any(),
        "is undefined (NaN in column 0) for all plain examples",
    )


@SCORE_CHECKS.of(MetricSubject)
def shapes(subject: MetricSubject) -> None:
    """``stats`` is (B, d) float64, ``per_example`` (B,), ``reduce`` a number, and with
    weights (W, B) an array (W,).
    """
    _ = subject.base
    metric = subject.component
    features = subject.fit_features()
    batch = features.batch(subject.sets)
    stats = metric.stats(batch, features, subject.state(features))
    if isinstance(stats, Objects):
        ensure(
            len(stats) == len(batch),
            f"collect returns {len(stats)} objects for {len(batch)} examples",
        )
    else:
        ensure(
            isinstance(stats, np.ndarray) and stats.dtype == np.float64,
            "stats is not a float64 array",
        )
        ensure(
            stats.ndim == 2 and len(stats) == len(batch) and stats.shape[1] > 0,
            f"stats has shape {stats.shape}",
        )

    # numbers are computed of the defined rows alone
    stats = stats[is_defined(stats)]
    per_example = np.asarray(metric.per_example(stats))
    ensure(
        per_example.shape == (len(stats),),
        f"per_example has shape {per_example.shape}, not {(len(stats),)}",
    )
    value = metric.reduce(stats)
    ensure(
        np.ndim(value) == 0,
        f"reduce returns {type(value).__name__} of shape {np.shape(value)}, "
        "not a number",
    )
    weighted = np.asarray(metric.reduce(stats, np.ones((3, len(stats)))))
    ensure(
        weighted.shape == (3,),
        f"reduce with 3 weight vectors has shape {weighted.shape}, not (3,)",
    )


@SCORE_CHECKS.of(MetricSubject)
def finite(subject: MetricSubject) -> None:
    """Every defined row has a finite score."""
    ensure_finite(subject, subject.base, subject.sets, "plain captions")


@SCORE_CHECKS.of(MetricSubject)
def bounds(subject: MetricSubject) -> None:
    """Per-example scores lie within ``spec.bounds``,
    those of embeddings within 1e-5.
    """
    base = subject.base
    limits = subject.component.spec.bounds
    if limits is None:
        raise NotApplicable("declares no bounds")

    finite_limits = [abs(limit) for limit in limits if math.isfinite(limit)]
    slack = max(subject.tolerance, 1e-9) * max(1.0, *finite_limits)
    for numbers in (base, *_extremes(subject)):
        values = numbers.per_example[~np.isnan(numbers.per_example)]
        outside = values[(values < limits[0] - slack) | (values > limits[1] + slack)]
        ensure(
            not len(outside),
            f"a score of {outside[:1]} lies outside the declared bounds {limits}",
        )


@SCORE_CHECKS.of(MetricSubject)
def direction(subject: MetricSubject) -> None:
    """Candidates equal to the references score at least as well as candidates that
    share no word with them.
    """
    _ = subject.base
    better = subject.component.spec.higher_is_better
    needed = subject.component.spec.needs
    if better is None:
        raise NotApplicable("has no direction")
    if "references" not in needed:
        raise NotApplicable("does not read references")

    identical, disjoint = (numbers.per_example for numbers in _extremes(subject))
    comparable = ~np.isnan(identical) & ~np.isnan(disjoint)
    if not comparable.any():
        raise NotApplicable("undefined for identical or for disjoint candidates")

    good = float(identical[comparable].mean())
    bad = float(disjoint[comparable].mean())
    ensure(
        good >= bad if better else good <= bad,
        f"identical candidates score {good:.6g}, disjoint ones {bad:.6g}, "
        f"higher_is_better is {better}",
    )


@SCORE_CHECKS.of(MetricSubject)
def needs(subject: MetricSubject) -> None:
    """The metric reads every input that ``spec.needs`` declares, and no other."""
    base = subject.base
    declared = subject.component.spec.needs
    sets = subject.sets

    reads = not all(
        nearly_equal(_values(subject.numbers(changed_sets)), _values(base))
        for changed_sets in _other_references(sets)
    )
    ensure(
        reads or "references" not in declared,
        "declares that it needs references and does not read them",
    )
    ensure(
        not reads or "references" in declared,
        "reads the references, which spec.needs does not contain",
    )

    if "images" not in declared:
        moved = [replace(item, media=f"no-such-folder/{item.id}.png") for item in sets]
        ensure(
            base.same_rows(subject.numbers(moved)),
            "reads media, but spec.needs does not contain images",
        )

    recorder = RecordingFeatures([item.references for item in sets])
    subject.numbers(sets, features=recorder)
    ensure(
        not recorder.encoded or "embeddings" in declared,
        "uses embeddings, which spec.needs does not contain",
    )


def _values(numbers: Numbers) -> list[float]:
    """Return the corpus number, followed by the scores of the examples."""
    return [numbers.value, *numbers.per_example.tolist()]


def _other_references(sets: Sequence[CaptionSet]) -> list[list[CaptionSet]]:
    """Return the sets with the references of other examples, with nonsense, and with
    their own candidates as references.
    """
    others = []
    nonsense = []
    candidates = []
    for k, item in enumerate(sets):
        count = len(item.references)
        others.append(replace(item, references=sets[k - 1].references))
        nonsense.append(replace(item, references=(NONSENSE[0],) * count))
        candidates.append(replace(item, references=repeat_to(item.candidates, count)))
    return [others, nonsense, candidates]


def _extremes(subject: MetricSubject) -> tuple[Numbers, Numbers]:
    """Return the numbers of candidates equal to the references,
    and of candidates that share no word with them.
    """
    sets = subject.sets
    identical = [with_candidates(item, item.references) for item in sets]
    disjoint = [with_candidates(item, NONSENSE) for item in sets]
    return subject.numbers(identical), subject.numbers(disjoint)


def ensure_finite(
    subject: MetricSubject, numbers: Numbers, sets: Sequence[CaptionSet], inputs: str
) -> None:
    """Raise :class:`Violation` for an infinite number, or for NaN in a defined row.

    An example of a corpus metric may be defined without a score of its own (it has no
    n-gram, for example).
    """
    defined = numbers.is_defined
    per_example = numbers.per_example
    corpus = subject.component.spec.level == "corpus"
    wrong = np.isinf(per_example) | (defined & np.isnan(per_example) & (not corpus))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise Violation(
            f"{inputs}: the score of {sets[k].id} is {per_example[k]}; "
            "an undefined row has NaN in column 0"
        )

    # statistics may be integers or texts, which have no infinity
    arrays = (
        numbers.stats.columns.values()
        if isinstance(numbers.stats, Objects)
        else [numbers.stats]
    )
    infinite = any(
        array.dtype.kind == "f" and np.isinf(array).any() for array in arrays
    )
    ensure(not infinite, f"{inputs}: statistics contain an infinite number")

    ensure(
        not np.isinf(numbers.value), f"{inputs}: the corpus number is {numbers.value}"
    )
    undefined: Instance = np.isnan(numbers.value) and defined.any() and not corpus
    ensure(
        not undefined,
        f"{inputs}: the corpus number is NaN, though some rows are defined",
    )
