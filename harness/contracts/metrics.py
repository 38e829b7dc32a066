"""Protocols of metrics.

Arrays name their axes: ``B`` examples of one batch, ``n`` candidates, ``m`` references,
``N = n + m`` texts of an example (candidates first), ``P`` relabelings, ``W`` weight
vectors, ``T`` texts, ``d`` features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload, runtime_checkable

import numpy as np

from harness.contracts.data import Batch, Level
from harness.contracts.features import Features
from harness.errors import HarnessError

State = Any
"""Corpus state of a metric: any object that its ``fit`` returns and its ``stats``
reads.
"""
SET_SIZES = ("candidates", "references")
"""Sizes of caption sets on which the expected number of a metric may depend."""


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """Properties of a metric that the run and the report need."""

    name: str
    """Name in tables: ``meteor``, ``trm(meteor)``, ``mmd(minilm)``."""
    higher_is_better: bool | None
    level: Level = "item"
    needs: frozenset[str] = frozenset({"references"})
    """Subset of: references, images, embeddings, logprobs, java, events."""
    min_candidates: int = 1
    min_references: int = 1
    min_texts: int = 2
    """Minimum of n + m (a triangle takes three texts)."""
    bounds: tuple[float, float] | None = None
    """Smallest and largest number and score that can occur, infinite where there is
    none; intervals end there.
    """
    tolerance: float = 1e-7
    """Scores and numbers that differ by at most this share of the larger one are equal
    in ranks, ties, wins and tests, and a score that lies within this share of their
    distance of one of :attr:`bounds` is at the bound: rounding in single precision, and
    the constants of a formula that keep quotients defined. What such constants keep
    from being 0 is told by :class:`HasConstants`.
    """
    resampled: bool = True
    """False where a bootstrap of examples does not describe the number, because
    repeated examples bias it.
    """
    held_fixed: str = ""
    """Note of the interval, such as ``document frequencies held fixed``, for state of
    the references that is not fitted again. A metric without it, and without a ``fit``
    of its own, reads nothing of the references of other examples; a run holds it to
    that.
    """
    untestable: str = ""
    """Reason why no permutation of the texts tests the metric, to follow its name
    (``reads a scene``).
    """
    testable_from: int = 0
    """Number of examples of the task from which on the metric has permutation p-values.
    State that is fitted on the references of fewer ones is mostly that of the tested
    example, and tells its references from candidates of the same source.
    """
    column_names: tuple[str, ...] = ()
    """Columns that a metric of level ``model`` adds to a result table."""
    undirected: tuple[str, ...] = ()
    """Columns of ``column_names`` that have no direction, also in the parts of a task.
    """
    details_of_undefined: bool = False
    """True for a metric whose details count undefined examples too."""
    depends_on: frozenset[str] | None = None
    """Set sizes on which the expected number depends: subset of :data:`SET_SIZES`.
    Numbers of other sizes have no common scale, so that a comparison gives no verdict.
    None: ``candidates`` for a metric of level ``set`` or ``corpus``, and ``references``
    for one that needs them. ``harness check`` measures it.
    """
    compares_references: bool = True
    """False for a metric of sets that reads the candidates alone, which is refused as
    the only metric of a reward.
    """
    gamed_by: str = ""
    """Captions that get a better value than true ones, as a plural noun (``random
    strings``); empty: none known.
    """
    rival: bool = False
    """True for a metric that judges the two captions of a pair together, in tasks of
    judged pairs alone: it gets the second caption in place of the references, and its
    score is the share of the first one, 1/2 for a tie.
    """
    meta_columns: tuple[str, ...] = ()
    """Columns of a judgment set that the metric reads in the ``meta`` of its sets."""

    def __post_init__(self) -> None:
        """Fill in ``depends_on``; refuse sizes that do not exist."""
        if self.depends_on is None:
            sizes = {"references"} & set(self.needs)
            if self.level in ("set", "corpus"):
                sizes |= {"candidates"}
            object.__setattr__(self, "depends_on", frozenset(sizes))
        elif unknown := self.depends_on - set(SET_SIZES):
            raise HarnessError(
                f"metric '{self.name}': depends_on has {', '.join(sorted(unknown))}; "
                f"expected {' or '.join(SET_SIZES)}"
            )

        if not 0 <= self.tolerance < 1:
            raise HarnessError(
                f"metric '{self.name}': tolerance is {self.tolerance}; "
                "expected a share of a score, from 0 to below 1"
            )


@dataclass(frozen=True, slots=True)
class Cost:
    """Resources that a metric takes for one example, within a factor of three;
    :class:`DeclaresCost`.
    """

    seconds: float
    """Seconds of one core."""
    bytes: float
    """Peak memory per example of a batch, such as its matrix of distances."""
    fixed: float = 0.0
    """Peak memory that does not grow with the batch: examples are scored one after the
    other, or in blocks of bounded size.
    """
    corpus: float = 200.0
    """Bytes that stay until the number is known: statistics, objects, document
    frequencies.
    """
    advice: str = "fewer or shorter texts"
    """Remedy where this is too much, for the end of a message."""


@runtime_checkable
class DeclaresCost(Protocol):
    """A metric that estimates what it takes.

    The base classes estimate a metric that reads each word once and, for the level
    ``set``, has arrays of all pairs of texts; a metric with another cost overrides
    :meth:`cost`. ``harness check`` measures the memory.
    """

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of an example of n candidates and m references of so many
        words each; ``tested``: with p-values.
        """
        ...


@runtime_checkable
class Metric(Protocol):
    """A metric of caption sets, vectorised over the B examples of a batch.

    ``stats`` returns sufficient statistics, one row per example, or the objects of a
    corpus metric: joining those of any shards and reducing once gives the same digits
    as one pass. A row with NaN in column 0, or an example without an object, is
    *undefined*: the run counts and lists it and leaves it out of ``reduce``.

    The base classes :class:`~harness.contracts.MeanMetric`,
    :class:`~harness.contracts.SumMetric` and :class:`~harness.contracts.CorpusMetric`
    supply most of it. A metric may add five capabilities: :class:`Permutes`,
    :class:`~harness.contracts.Explains`, :class:`Warms`, :class:`OwnInterval` and
    :class:`Details`; and ``merge(first, second)``, which returns the corpus state of
    two shards together, so that a run of several shards never holds all references:
    merged from left to right, the states that ``fit`` returns for the shards equal that
    of all references.
    """

    spec: MetricSpec

    def signature(self) -> str:
        """Return a text such as ``meteor|v1.5-en|tok:ptb`` that changes whenever the
        number may change.
        """
        ...

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> State:
        """Return corpus state (document frequencies, bandwidths) of the task's
        references, or None.
        """
        ...

    def stats(self, batch: Batch, features: Features, state: State) -> Any:
        """Return sufficient statistics, float64, shape (B, d), or
        :class:`~harness.contracts.Objects` of B examples.
        """
        ...

    def per_example(self, stats: Any) -> np.ndarray:
        """Return one score per example, shape (B,), from statistics of shape (B, d)."""
        ...

    @overload
    def reduce(self, stats: Any) -> float:
        """Return the corpus number of statistics of shape (B, d)."""
        ...

    @overload
    def reduce(self, stats: Any, weights: np.ndarray) -> np.ndarray:
        """Return one number per weight vector, shape (W,)."""
        ...

    def reduce(
        self, stats: Any, weights: np.ndarray | None = None
    ) -> float | np.ndarray:
        """Return the corpus number, or with ``weights`` (W, B) one number per weight
        vector, shape (W,).

        ``reduce(stats, ones((1, B)))[0]`` equals ``reduce(stats)``; an example with
        weight 2 counts twice.
        """
        ...


@runtime_checkable
class ForgetsTexts(Protocol):
    """A value of :meth:`Features.memo` that outlives the texts of a shard, such as an
    index of words; or an adapter that keeps captions.
    """

    def forget_texts(self) -> None:
        """Drop everything that depends on texts and their ids; keep corpus state."""
        ...


@dataclass(frozen=True, slots=True)
class Explanation:
    """A sentence and the texts that it speaks of."""

    title: str
    texts: tuple[tuple[int, str], ...]
    """Position among the N texts of the example (candidates first), and role of the
    text.
    """


@runtime_checkable
class Explains(Protocol):
    """A metric that can name the texts of an example that its score depends on most."""

    def explain(
        self, batch: Batch, features: Features, state: Any
    ) -> list[Explanation | None]:
        """Return an explanation per example, length B; None where there is nothing to
        say.
        """
        ...


@runtime_checkable
class HasConstants(Protocol):
    """A metric whose formula has constants that keep its score above 0, such as the
    1e-15 that BLEU adds to the matches of each order.

    Its scores and numbers are printed as the formula gives them. Where they are
    compared, those that are made of the constants count as the 0 that they stand for
    (:mod:`harness.stats.ties`).
    """

    def own_share(self, stats: Any) -> np.ndarray:
        """Return the share of the factors of each example's score that are not
        constants alone, shape (B,).

        Below 1: the score would be 0 without the constants. 0: it is made of nothing
        else, and its size means nothing.
        """
        ...


@runtime_checkable
class Details(Protocol):
    """A metric with further numbers for its result record (a variance over seeds, for
    example).
    """

    def details(self, stats: Any) -> dict[str, object]:
        """Return JSON-compatible values from the statistics of the defined examples.

        With ``MetricSpec.details_of_undefined`` it gets those of undefined examples
        too, such as refusals of a judge.
        """
        ...


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a corpus number, or the reason why there is none."""

    ends: tuple[float, float] | None
    """Lower and upper end; None for a number without an interval."""
    note: str = ""
    """Reason for no interval, or a property of the interval that a reader needs;
    written to the result record.
    """


@runtime_checkable
class OwnInterval(Protocol):
    """A metric that computes its own interval,
    because a bootstrap of ``reduce`` does not describe its number.

    It may also have ``left_out(stats, seed)``, which returns a :class:`LeftOut`: the
    numbers without some parts of the examples. The parts are of equal sizes up to one
    and depend on the number of examples and on ``seed`` alone, so that two systems have
    the same. Comparisons then form interval and p-value of the difference from the
    numbers without each part, in place of thousands of resamples
    (:func:`harness.stats.resampled_difference.difference_of_parts`).
    """

    def interval(self, stats: Any, samples: int, seed: int) -> Interval:
        """Return the 95 % interval of ``reduce(stats)``.

        Called with the statistics of at least two defined examples, and at least one
        bootstrap sample. The result depends on the arguments alone.
        """
        ...


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Numbers of a corpus without parts of its examples, from which the jackknife
    estimates a variance.
    """

    values: np.ndarray
    """The number without each of K parts, shape (K,), NaN where undefined."""
    share: float
    """Share of the examples in a part, in (0, 1)."""
    freedom: int
    """Degrees of freedom of the variance."""


@runtime_checkable
class Warms(Protocol):
    """A metric or distance with slow first-use work, such as building a dictionary."""

    def warm(self) -> None:
        """Start the first-use work in the background and return at once.

        Called before captions are generated.
        """
        ...


@runtime_checkable
class Fetches(Protocol):
    """A class of metrics with large files that ``harness warm METRIC`` downloads on
    request, and nothing else.
    """

    def fetch(self) -> None:
        """Find or download the files, before the metric is created; raise
        :class:`~harness.errors.HarnessError` in one line.
        """
        ...


@runtime_checkable
class ChecksInstallation(Protocol):
    """A metric that needs programs or files that no Python package contains."""

    def check_installation(self) -> None:
        """Raise :class:`~harness.errors.MissingExtra`, with the remedy, when one of
        them is missing.
        """
        ...


@runtime_checkable
class Permutes(Protocol):
    """A metric with a permutation null: the statistic under relabelings of the N texts.

    It may also have ``exact_p_values(batch, features, state)``, faster than evaluating
    ``null`` on every relabeling: p-values (B,), the share of all C(N, n) relabelings at
    least as extreme as the observed one (included).
    """

    def null(
        self, batch: Batch, features: Features, state: State, labels: np.ndarray
    ) -> np.ndarray:
        """Return the per-example statistic under each relabeling, shape (B, P).

        ``labels`` is bool, shape (P, N), True for a candidate. "More extreme" follows
        ``spec.higher_is_better``: lower scores where True, higher scores where False.
        """
        ...


@runtime_checkable
class ScoresCandidates(Protocol):
    """A metric of level ``item`` that scores each candidate of a set alone, for rewards
    of groups in one batch.
    """

    def candidate_scores(
        self, batch: Batch, features: Features, state: State
    ) -> np.ndarray:
        """Return the score of each candidate against the references of its example,
        shape (B, n); NaN where undefined.
        """
        ...


@runtime_checkable
class CreditsCandidates(Protocol):
    """A metric of level ``set`` that computes the credits of the candidates of a set in
    one pass, for rewards.

    Without it a reward scores every set without each of its candidates again.
    """

    def credits(self, batch: Batch, features: Features, state: State) -> np.ndarray:
        """Return S(C) - S(C without i) for each candidate i, shape (B, n), where S is
        the score of the set; NaN where undefined.
        """
        ...


def cost_of(
    metric: Metric, n: int, m: int, tokens: float, *, tested: bool = False
) -> Cost:
    """Return what a metric declares for an example (:meth:`DeclaresCost.cost`); nothing
    but its statistics where it declares nothing.
    """
    if not isinstance(metric, DeclaresCost):
        return Cost(0.0, 0.0)
    return metric.cost(n, m, tokens, tested=tested)


class OnePassFit(Exception):
    """A metric whose corpus state is not None and that has no ``merge``."""


def merge_states(metric: Metric, first: State, second: State) -> State:
    """Return the corpus state of the references of two shards together, for metrics
    that are composed of others.

    Raises :class:`OnePassFit` for a metric with corpus state and without ``merge``.
    """
    merge = getattr(metric, "merge", None)
    if merge is not None:
        return merge(first, second)
    if first is None and second is None:
        return None
    raise OnePassFit(metric.signature())
