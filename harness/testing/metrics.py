"""The checks of a metric that scores caption sets, and of one that judges token scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from harness.contracts import CaptionSet, Level, MetricSpec
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.testing import sample_captions as samples
from harness.testing import shared_checks as making
from harness.testing.metric_subject import (
    MetricSubject,
    Numbers,
    collected,
    cycled,
    near,
    padded,
    same_rows,
    worst,
)
from harness.testing.results import Checks, NotApplicable, Violation, ensure

NEEDS = frozenset({"references", "images", "embeddings", "logprobs", "java"})
METRIC_CHECKS = Checks("metrics")


# --------------------------------------------------------------------------- what it says of itself
@METRIC_CHECKS.add
def spec(subject: MetricSubject) -> None:
    """``spec`` is a MetricSpec with values that exist."""
    given = getattr(subject.metric, "spec", None)
    if not isinstance(given, MetricSpec):
        raise Violation(f"spec is {given!r:.60}; expected a MetricSpec")
    ensure(given.name.strip(), "spec.name is empty")
    ensure(given.level in get_args(Level), f"spec.level is {given.level!r}; levels are {', '.join(get_args(Level))}")
    ensure(given.higher_is_better in (True, False, None), "spec.higher_is_better is neither true, false nor None")
    ensure(given.needs <= NEEDS, f"spec.needs holds {sorted(given.needs - NEEDS)}; known are {sorted(NEEDS)}")
    ensure(given.bounds is None or given.bounds[0] < given.bounds[1], f"spec.bounds are {given.bounds}")
    for name in ("min_candidates", "min_references", "min_texts") if given.level != "model" else ():
        ensure(getattr(given, name) >= 1, f"spec.{name} is {getattr(given, name)}; expected at least 1")


@METRIC_CHECKS.add
def catalogue(subject: MetricSubject) -> None:
    """Level, direction and needs in the catalogue are those of the spec."""
    entry, given = subject.entry, subject.metric.spec
    if entry is None:
        raise NotApplicable("not taken from a catalogue")
    ensure(not entry.level or entry.level == given.level, f"the catalogue says level {entry.level}, spec {given.level}")
    ensure(
        entry.higher_is_better in (None, given.higher_is_better),
        f"the catalogue says higher_is_better {entry.higher_is_better}, spec {given.higher_is_better}",
    )
    missing = set(entry.needs) - given.needs
    ensure(not missing, f"the catalogue says it needs {sorted(missing)}, spec does not")
    ensure(entry.summary, "has no summary in the catalogue")


@METRIC_CHECKS.add
def described(subject: MetricSubject) -> None:
    """The class has a docstring."""
    making.described(subject.metric)


@METRIC_CHECKS.add
def signature(subject: MetricSubject) -> None:
    """``signature()`` is one line, steady, and the same for a second such metric."""
    making.steady_identity(subject.metric, lambda metric: metric.signature(), "signature")


# --------------------------------------------------------------------------- what it gives
@METRIC_CHECKS.add
def scores(subject: MetricSubject) -> None:
    """It scores plain captions: the other checks stand on this one."""
    _ = subject.sets
    if subject.first_error is not None:
        raise subject.first_error
    ensure(subject.base.defined.any(), "is undefined (NaN in column 0) for every one of the plain examples")


@METRIC_CHECKS.add
def shapes(subject: MetricSubject) -> None:
    """``stats`` (B, d) float64, ``per_example`` (B,), ``reduce`` a number, with weights (W, B) an array (W,)."""
    _ = subject.base
    metric, features = subject.metric, subject.fitted()
    batch = features.batch(subject.sets)
    stats = metric.stats(batch, features, scoring.fitted(metric, features))
    ensure(isinstance(stats, np.ndarray) and stats.dtype == np.float64, "stats is no float64 array")
    ensure(stats.ndim == 2 and len(stats) == len(batch) and stats.shape[1] > 0, f"stats has shape {stats.shape}")
    stats = stats[~np.isnan(stats[:, 0])]
    per_example = np.asarray(metric.per_example(stats))
    ensure(per_example.shape == (len(stats),), f"per_example has shape {per_example.shape}, not {(len(stats),)}")
    value = metric.reduce(stats)
    ensure(np.ndim(value) == 0, f"reduce gives {type(value).__name__} of shape {np.shape(value)}, not a number")
    weighted = np.asarray(metric.reduce(stats, np.ones((3, len(stats)))))
    ensure(weighted.shape == (3,), f"reduce with 3 weight vectors has shape {weighted.shape}, not (3,)")


@METRIC_CHECKS.add
def finite(subject: MetricSubject) -> None:
    """A row that is not undefined has a finite score."""
    _finite(subject, subject.base, subject.sets, "plain captions")


@METRIC_CHECKS.add
def bounds(subject: MetricSubject) -> None:
    """Per-example scores lie within ``spec.bounds``."""
    base, limits = subject.base, subject.metric.spec.bounds
    if limits is None:
        raise NotApplicable("declares no bounds")
    for numbers in (base, *_extremes(subject)):
        given = numbers.per_example[~np.isnan(numbers.per_example)]
        slack = 1e-9 * max(1.0, *map(abs, limits))
        outside = given[(given < limits[0] - slack) | (given > limits[1] + slack)]
        ensure(not len(outside), f"a score of {outside[:1]} lies outside of the declared {limits}")


@METRIC_CHECKS.add
def direction(subject: MetricSubject) -> None:
    """Candidates that are the references are at least as good as candidates that share no word with them."""
    _ = subject.base
    better, needs = subject.metric.spec.higher_is_better, subject.metric.spec.needs
    if better is None or "references" not in needs:
        raise NotApplicable("has no direction" if better is None else "does not look at references")
    identical, disjoint = (numbers.per_example for numbers in _extremes(subject))
    both = ~np.isnan(identical) & ~np.isnan(disjoint)
    if not both.any():
        raise NotApplicable("undefined for identical or for disjoint candidates")
    good, bad = float(identical[both].mean()), float(disjoint[both].mean())
    told = f"identical candidates score {good:.6g}, disjoint ones {bad:.6g}, higher_is_better is {better}"
    ensure(good >= bad if better else good <= bad, told)


@METRIC_CHECKS.add
def needs(subject: MetricSubject) -> None:
    """It looks at what it declares to need, and at nothing else."""
    base, declared, sets = subject.base, subject.metric.spec.needs, subject.sets
    moved = not all(near(values(subject.numbers(other)), values(base)) for other in _other_references(sets))
    ensure(moved or "references" not in declared, "declares to need references, and does not look at them")
    ensure(not moved or "references" in declared, "looks at the references, which spec.needs does not hold")
    if "images" not in declared:
        elsewhere = [replace(item, media=f"no-such-folder/{item.id}.png") for item in sets]
        ensure(base.same_rows(subject.numbers(elsewhere)), "looks at media, but spec.needs holds no images")
    asked = _Recorder([item.references for item in sets])
    subject.numbers(sets, features=asked)
    ensure(not asked.encoded or "embeddings" in declared, "asks for embeddings, which spec.needs does not hold")


# --------------------------------------------------------------------------- order, shards, weights
@METRIC_CHECKS.add
def example_order(subject: MetricSubject) -> None:
    """The order of the examples changes no row, to the digit."""
    base, sets = subject.base, subject.sets
    order = np.random.default_rng(0).permutation(len(sets))
    turned = subject.numbers([sets[k] for k in order])
    back = np.argsort(order)
    if subject.metric.spec.shardable:
        ensure(same_rows(turned.stats[back], base.stats), "rows change with the order of the examples: "
           + worst(base.per_example, turned.per_example[back], sets))  # fmt: skip
    ensure(near(turned.value, base.value), f"the number changes: {base.value!r} and {turned.value!r}")


@METRIC_CHECKS.add
def candidate_order(subject: MetricSubject) -> None:
    """The order of an example's candidates changes no score."""
    turned = [replace(item, candidates=item.candidates[::-1]) for item in subject.sets]
    _same_scores(subject, turned, "candidates")


@METRIC_CHECKS.add
def reference_order(subject: MetricSubject) -> None:
    """The order of an example's references changes no score."""
    turned = [replace(item, references=item.references[::-1]) for item in subject.sets]
    _same_scores(subject, turned, "references")


@METRIC_CHECKS.add
def shards(subject: MetricSubject) -> None:
    """Rows of shards, one example at a time or two, are the rows of the whole to the digit."""
    base, sets = subject.base, subject.sets
    _shardable(subject)
    for size in (1, 2):
        parts = []
        for start in range(0, len(sets), size):  # a worker fits on the whole task's references and sees its shard
            parts.append(subject.numbers(sets[start : start + size], features=subject.fitted()).stats)
        joined = padded(parts)
        if not same_rows(joined, base.stats):
            other = collected(subject.metric, joined)
            raise Violation(f"shards of {size} give other rows: {worst(base.per_example, other.per_example, sets)}")
        value = collected(subject.metric, joined).value
        ensure(near(value, base.value), f"shards of {size} give {value!r}, the whole {base.value!r}")


@METRIC_CHECKS.add
def weights(subject: MetricSubject) -> None:
    """Weights of one change nothing, weight 2 counts an example twice, weight 0 leaves it out."""
    _ = subject.base
    made = subject.numbers(
        subject.sets
    )  # rows of now: those of a metric that cannot be sharded may be of the last run alone
    metric, stats = subject.metric, made.stats[made.defined]
    count = len(stats)
    given = np.ones((3, count))
    given[1, 0], given[2, 0] = 2, 0 if count > 1 else 1  # of one row nothing would be left
    ones, double, without = (float(x) for x in np.asarray(metric.reduce(stats, given)))
    whole = float(metric.reduce(stats))
    ensure(near(ones, whole), f"reduce with weights of one gives {ones!r}, without weights {whole!r}")
    rows = np.arange(count)
    for told, got, chosen in (("2", double, np.append(rows, 0)), ("0", without, rows[1:] if count > 1 else rows)):
        wanted = float(metric.reduce(stats[chosen]))
        ensure(near(got, wanted), f"weight {told} gives {got!r}; the rows so often give {wanted!r}")


@METRIC_CHECKS.add
def ragged(subject: MetricSubject) -> None:
    """Sets of several shapes in one corpus are scored or undefined, with the rows that each has by itself."""
    _ = subject.base
    shapes = [shape for shape in ((1, 1), (1, 4), (3, 1), (2, 3), (4, 2)) if subject.takes(*shape)]
    if not shapes:
        raise NotApplicable("takes none of the small shapes")
    mixed = [subject.shaped(*shapes[k % len(shapes)])[k] for k in range(len(subject.sets))]
    together = subject.numbers(mixed, features=subject.fitted())
    _finite(subject, together, mixed, "sets of several shapes")
    for k, item in enumerate(mixed if subject.metric.spec.shardable else ()):
        alone = subject.numbers([item], features=subject.fitted())
        ensure(
            same_rows(alone.stats, together.stats[k : k + 1]),
            f"a set of {len(item.candidates)} + {len(item.references)} has another row among other shapes: "
            + worst(alone.per_example, together.per_example[k : k + 1], [item]),
        )


# --------------------------------------------------------------------------- few and odd texts
@METRIC_CHECKS.add
def one_reference(subject: MetricSubject) -> None:
    """One reference is scored, or is undefined."""
    _ = subject.base
    n = max(2, subject.metric.spec.min_candidates)
    if not subject.takes(n, 1):
        raise NotApplicable(f"asks for {subject.metric.spec.min_references} references")
    sets = subject.shaped(n, 1)
    _finite(subject, subject.numbers(sets), sets, "one reference")


@METRIC_CHECKS.add
def odd_texts(subject: MetricSubject) -> None:
    """Empty, blank, one-word, unicode and long captions are scored or undefined, and change no other example's row."""
    base, sets = subject.base, subject.sets
    for kind, texts in samples.ODD.items():
        changed = [samples.with_candidates(sets[0], texts), *sets[1:]]
        try:
            made = subject.numbers(changed)
            _finite(subject, made, changed, f"candidates: {kind}")
        except Violation:
            raise
        except Exception as error:
            raise Violation(f"candidates that are {kind} raise {type(error).__name__}: {error}") from error
        same = same_rows(made.stats[1:], base.stats[1:])
        ensure(
            same or not subject.metric.spec.shardable,
            f"candidates of one example that are {kind} change the rows of others",
        )


@METRIC_CHECKS.add
def odd_references(subject: MetricSubject) -> None:
    """Empty, blank, one-word, unicode and long references are scored or undefined."""
    _, sets = subject.base, subject.sets
    for kind, texts in samples.ODD.items():
        turned = samples.with_candidates(replace(sets[0], candidates=sets[0].references), texts).candidates
        changed = [replace(sets[0], references=turned), *sets[1:]]
        try:
            _finite(subject, subject.numbers(changed), changed, f"references: {kind}")
        except Violation:
            raise
        except Exception as error:
            raise Violation(f"references that are {kind} raise {type(error).__name__}: {error}") from error


# --------------------------------------------------------------------------- shared
class _Recorder(FeatureCache):
    """A feature cache that records the use of embeddings."""

    encoded = False

    def vectors(self, embedding: Any, ids: np.ndarray) -> np.ndarray:
        self.encoded = True
        return super().vectors(embedding, ids)


def _shardable(subject: MetricSubject) -> None:
    if not subject.metric.spec.shardable:
        raise NotApplicable("declares shardable=False")


def values(numbers: Numbers) -> list[float]:
    """The corpus number, then those of the examples."""
    return [numbers.value, *numbers.per_example.tolist()]


def _other_references(sets: Sequence[CaptionSet]) -> list[list[CaptionSet]]:
    """The sets with the references of other examples, with nonsense, and with their own candidates as references."""
    nonsense = [replace(item, references=(samples.NONSENSE[0],) * len(item.references)) for item in sets]
    others = [replace(item, references=sets[k - 1].references) for k, item in enumerate(sets)]
    own = [replace(item, references=cycled(item.candidates, len(item.references))) for item in sets]
    return [others, nonsense, own]


def _extremes(subject: MetricSubject) -> tuple[Numbers, Numbers]:
    """The numbers of candidates that are the references, and of candidates that share no word with them."""
    sets = subject.sets
    identical = [samples.with_candidates(item, item.references) for item in sets]
    disjoint = [samples.with_candidates(item, samples.NONSENSE) for item in sets]
    return subject.numbers(identical), subject.numbers(disjoint)


def _finite(subject: MetricSubject, numbers: Numbers, sets: Sequence[CaptionSet], what: str) -> None:
    """An example of a corpus metric may count and yet have no score of its own (no n-gram in it, say)."""
    defined, own = numbers.defined, numbers.per_example
    wrong = np.isinf(own) | (defined & np.isnan(own) & (subject.metric.spec.level != "corpus"))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise Violation(f"{what}: the score of {sets[k].id} is {own[k]}; an undefined row has NaN in column 0")
    ensure(not np.isinf(numbers.stats).any(), f"{what}: statistics hold an infinite number")
    ensure(not np.isinf(numbers.value), f"{what}: the number is {numbers.value}")
    lost = np.isnan(numbers.value) and defined.any() and subject.metric.spec.level != "corpus"
    ensure(not lost, f"{what}: the number is NaN, though some rows are defined")


def _same_scores(subject: MetricSubject, sets: Sequence[CaptionSet], what: str) -> None:
    base, turned = subject.base, subject.numbers(sets)
    same = near(turned.per_example, base.per_example)
    ensure(same, f"scores change with the order of the {what}: {worst(base.per_example, turned.per_example, sets)}")
    ensure(near(turned.value, base.value), f"the number changes with the order of the {what}")
