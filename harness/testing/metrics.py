"""Checks of a metric's specification and of its numbers: shapes, bounds, direction, and
the inputs that it reads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from harness.contracts import (
    Batch,
    CaptionSet,
    Features,
    Level,
    Objects,
    Permutes,
    State,
    is_defined,
)
from harness.contracts.bases import relabeled_batch
from harness.stats import permutation
from harness.stats.permutation_p_values import Tail, p_values
from harness.stats.significance import has_generic_null, untestable_reason
from harness.testing import exchangeability, sample_captions, shared_checks
from harness.testing.metric_subject import (
    MetricSubject,
    Numbers,
    RecordingFeatures,
    TokenScoreSubject,
    largest_difference,
    nearly_equal,
    numbers_of,
)
from harness.testing.results import Checks, Instance, NotApplicable, Violation, ensure

SCORE_CHECKS = Checks("metrics")
NEEDS = frozenset({"references", "images", "embeddings", "logprobs", "java"})


# --------------------------------------------------------------------------- specification
@SCORE_CHECKS.add
def spec(subject: MetricSubject | TokenScoreSubject) -> None:
    """The fields of ``spec`` have valid values."""
    fields = subject.component.spec
    ensure(fields.name.strip(), "spec.name is empty")
    levels = get_args(Level)
    ensure(
        fields.level in levels,
        f"spec.level is {fields.level!r}; levels are {', '.join(levels)}",
    )
    ensure(
        fields.higher_is_better in (True, False, None),
        "spec.higher_is_better is neither true, false nor None",
    )
    ensure(
        isinstance(fields.needs, frozenset),
        f"spec.needs is {fields.needs!r}; expected a frozenset",
    )
    unknown = sorted(fields.needs - NEEDS)
    ensure(
        not unknown, f"spec.needs contains {unknown}; valid needs are {sorted(NEEDS)}"
    )
    ensure(
        fields.bounds is None or fields.bounds[0] < fields.bounds[1],
        f"spec.bounds are {fields.bounds}",
    )
    for name in (
        ("min_candidates", "min_references", "min_texts")
        if fields.level != "model"
        else ()
    ):
        ensure(
            getattr(fields, name) >= 1,
            f"spec.{name} is {getattr(fields, name)}; expected at least 1",
        )


@SCORE_CHECKS.add
def catalogue(subject: MetricSubject | TokenScoreSubject) -> None:
    """Level, direction and needs in the catalogue are those of ``spec``."""
    entry = subject.entry
    fields = subject.component.spec
    if entry is None:
        raise NotApplicable("is not checked by its name in the catalogue")
    ensure(
        not entry.level or entry.level == fields.level,
        f"level is {entry.level} in the catalogue and {fields.level} in spec",
    )
    ensure(
        entry.higher_is_better in (None, fields.higher_is_better),
        f"higher_is_better is {entry.higher_is_better} in the catalogue and "
        f"{fields.higher_is_better} in spec",
    )
    missing = sorted(set(entry.needs) - fields.needs)
    ensure(
        not missing,
        f"the catalogue lists the needs {missing}, which spec.needs does not contain",
    )
    ensure(entry.summary, "has no summary in the catalogue")


SCORE_CHECKS.extend([shared_checks.described, shared_checks.signature])


# --------------------------------------------------------------------------- numbers
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
    slack = max(subject.tolerance, 1e-9) * max(
        1.0, *(abs(limit) for limit in limits if math.isfinite(limit))
    )
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
    if better is None or "references" not in needed:
        raise NotApplicable(
            "has no direction" if better is None else "does not read references"
        )
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
    nonsense = [
        replace(item, references=(sample_captions.NONSENSE[0],) * len(item.references))
        for item in sets
    ]
    others = [
        replace(item, references=sets[k - 1].references) for k, item in enumerate(sets)
    ]
    candidates = [
        replace(
            item,
            references=sample_captions.repeat_to(item.candidates, len(item.references)),
        )
        for item in sets
    ]
    return [others, nonsense, candidates]


def _extremes(subject: MetricSubject) -> tuple[Numbers, Numbers]:
    """Return the numbers of candidates equal to the references,
    and of candidates that share no word with them.
    """
    sets = subject.sets
    identical = [
        sample_captions.with_candidates(item, item.references) for item in sets
    ]
    disjoint = [
        sample_captions.with_candidates(item, sample_captions.NONSENSE) for item in sets
    ]
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


NULL_CHECKS = Checks("metrics")
MAX_TEXTS = 5
"""Maximum number of candidates, and of references, whose relabelings are enumerated."""
SLACK = 1e-7
"""Tolerance for differences of the null from scores of relabeled texts;
features are float32.
"""


@NULL_CHECKS.of(MetricSubject)
def null_shape(subject: MetricSubject) -> None:
    """``null`` returns one number for each example and relabeling, (B, P)."""
    batch, features, state, metric = _testable(subject)
    labels = permutation.relabelings(batch.n, batch.m)[:4]
    null = np.asarray(metric.null(batch, features, state, labels))
    ensure(
        null.shape == (len(batch), 4),
        f"null has shape {null.shape}; expected {(len(batch), 4)}",
    )


@NULL_CHECKS.of(MetricSubject)
def null_identity(subject: MetricSubject) -> None:
    """``null`` for the original labels is the score."""
    batch, features, state, metric = _testable(subject)
    scores = numbers_of(
        metric, np.asarray(metric.stats(batch, features, state))
    ).per_example
    labels = permutation.relabelings(batch.n, batch.m)[:1]
    null = np.asarray(metric.null(batch, features, state, labels))[:, 0]
    message = (
        "null of the original labels is not the score: "
        f"{largest_difference(scores, null, batch.sets)}"
    )
    ensure(
        nearly_equal(scores, null)
        or np.allclose(scores, null, atol=SLACK, equal_nan=True),
        message,
    )


@NULL_CHECKS.of(MetricSubject)
def null_relabels(subject: MetricSubject) -> None:
    """``null`` for other labels is the score of the relabeled texts."""
    batch, features, state, metric = _testable(subject)
    for labels in permutation.relabelings(batch.n, batch.m)[1::3]:
        null = np.asarray(metric.null(batch, features, state, labels[None]))[:, 0]
        expected = _relabeled_scores(metric, batch, features, state, labels)
        pattern = "".join("rc"[int(label)] for label in labels)
        ensure(
            np.allclose(null, expected, rtol=SLACK, atol=SLACK, equal_nan=True),
            f"null is not the score of the texts relabeled {pattern}: "
            f"{largest_difference(expected, null, batch.sets)}",
        )


@NULL_CHECKS.of(MetricSubject)
def exact_p_values(subject: MetricSubject) -> None:
    """``exact_p_values`` is the share of all relabelings at least as extreme as the
    observed one, as enumerated.
    """
    metric = subject.component
    if not hasattr(subject.component, "exact_p_values"):
        raise NotApplicable("has no exact_p_values")
    _ = subject.base
    if metric.spec.higher_is_better is None:
        raise NotApplicable("has no direction, hence no p-values")
    batch, features, state = subject.small_batch(MAX_TEXTS)
    table = permutation.relabelings(batch.n, batch.m)
    null = np.stack(
        [_relabeled_scores(metric, batch, features, state, labels) for labels in table],
        axis=1,
    )
    tail: Tail = "lower" if metric.spec.higher_is_better else "upper"
    expected = p_values(null[:, 0], [null], tail, "exact")
    actual = np.asarray(metric.exact_p_values(batch, features, state), dtype=float)
    ensure(
        actual.shape == (len(batch),),
        f"exact_p_values has shape {actual.shape}; expected {(len(batch),)}",
    )
    actual = np.where(np.isnan(expected), np.nan, actual)
    ensure(
        nearly_equal(actual, expected),
        "enumerated and returned p-value differ: "
        f"{largest_difference(expected, actual, batch.sets)}",
    )


@NULL_CHECKS.of(MetricSubject)
def equal_labels(subject: MetricSubject) -> None:
    """Eight texts without a common token, 4 against 4:
    p is 1 for a metric that does not tell them apart.
    """
    _ = subject.base
    exchangeability.ensure_equal_labels(subject.component)


@NULL_CHECKS.of(MetricSubject)
def one_source(subject: MetricSubject) -> None:
    """Of 200 sets with candidates and references of one source,
    at most 22 have p of 0.05 or less.
    """
    _ = subject.base
    exchangeability.ensure_one_source(subject.component)


def _testable(subject: MetricSubject) -> tuple[Batch, Features, State, Any]:
    metric: Any = subject.component
    reason = untestable_reason(metric) if has_generic_null(metric) else ""
    if reason or not isinstance(metric, Permutes):
        raise NotApplicable(reason or "has no null")
    _ = subject.base
    return *subject.small_batch(MAX_TEXTS), metric


def _relabeled_scores(
    metric: Instance, batch: Batch, features: Features, state: State, labels: np.ndarray
) -> np.ndarray:
    """Return scores (B,) with the texts labelled True as candidates and the others as
    references.
    """
    relabeled = relabeled_batch(batch, batch.texts, labels, features)
    return numbers_of(
        metric, np.asarray(metric.stats(relabeled, features, state), dtype=float)
    ).per_example
