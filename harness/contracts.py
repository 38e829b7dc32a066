"""The contracts that metrics, distances, embeddings, adapters and readers meet.

Nothing here does work: frozen dataclasses for what flows through a run, and typing protocols for
what a plugin gives. The harness meets plugins only through the registry; plugins import this module,
:mod:`harness.registry`, :mod:`harness.errors` and :mod:`harness.stats`, and nothing else of the engine.

Arrays name their axes: ``B`` examples of one batch, ``n`` candidates, ``m`` references, ``N = n + m``
texts of an example (candidates first), ``P`` relabelings, ``W`` weight vectors, ``d`` features.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from harness.features import Features

Level = Literal["item", "set", "corpus", "model"]
Candidates = tuple[str, ...]
"""The captions that one model gave one example under one decoding (n >= 1)."""


# --------------------------------------------------------------------------- what flows through a run
@dataclass(frozen=True, slots=True)
class Example:
    """One conditioning input and its references (m >= 1)."""

    id: str
    references: tuple[str, ...]
    media: str | None = None
    """Path or name of the image, video or feature record."""
    source: str | None = None
    """Conditioning text (translation, simplification, dialogue)."""
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TokenScores:
    """A model's teacher-forced view of one reference: one entry per predicted token, END counted, START not."""

    log_probs: np.ndarray
    """Natural log-probability of each token, shape (L,), under the unmodified model."""
    ranks: np.ndarray
    """0 where the token was the arg-max; else entries with a higher probability plus equal ones with a smaller index."""
    tokens: tuple[str, ...] = ()
    likelihood: Literal["exact", "pseudo"] = "exact"


@dataclass(frozen=True, slots=True)
class Decoding:
    """How captions are drawn. Filters apply in the order temperature, top-k, top-p."""

    strategy: str = "greedy"
    """greedy | beam | diverse-beam | sample | nucleus | an adapter's own (its card lists them)."""
    temperature: float = 1.0
    top_p: float | None = None
    top_k: int | None = None
    beams: int | None = None
    length_penalty: float = 0.0
    candidates: int | None = None
    """How many captions an example gets; None: as many as the adapter has."""
    max_length: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Anything an adapter's own strategy takes (for example ``alpha`` for rsa)."""


@dataclass(frozen=True, slots=True)
class Generation:
    """What an adapter may return in place of bare :data:`Candidates` when it has more to say."""

    candidates: Candidates
    references: tuple[str, ...] | None = None
    """References left for scoring, where the adapter took some away (held-out humans)."""
    log_probs: tuple[float, ...] | None = None
    """Sum of token log-probabilities of each candidate under the unmodified model."""
    lengths: tuple[int, ...] | None = None
    """Tokens of each candidate, END counted."""
    stop_reasons: tuple[str, ...] | None = None
    """``stop`` or ``length`` for each candidate."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What an adapter may return for an example that it could not do: the run goes on, counts and lists it, and exits with 1."""

    reason: str


@dataclass(frozen=True, slots=True)
class CaptionSet:
    """What set metrics see of one example: n candidates and m references."""

    id: str
    candidates: tuple[str, ...]
    references: tuple[str, ...]
    media: str | None = None
    source: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Batch:
    """Caption sets of one (n, m) shape, their texts interned in a :class:`~harness.features.Features`."""

    sets: tuple[CaptionSet, ...]
    text_ids: np.ndarray
    """(B, n + m) integers into ``Features.texts``; candidates first."""
    n: int
    m: int
    parent: Batch | None = None
    """A larger batch of the same examples of which this one holds some columns: its distances are slices of the parent's."""
    columns: np.ndarray | None = None
    """Columns of the parent, shape (n + m,)."""

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(item.id for item in self.sets)

    @property
    def texts(self) -> list[list[str]]:
        """B lists of n + m raw texts, candidates first."""
        return [[*item.candidates, *item.references] for item in self.sets]

    @property
    def candidate_ids(self) -> np.ndarray:
        """(B, n) text ids."""
        return self.text_ids[:, : self.n]

    @property
    def reference_ids(self) -> np.ndarray:
        """(B, m) text ids."""
        return self.text_ids[:, self.n :]


# --------------------------------------------------------------------------- what plugins give
@dataclass(frozen=True, slots=True)
class MetricSpec:
    """What the runner and the report need to know of a metric."""

    name: str
    """As shown in tables: ``meteor``, ``trm(meteor)``, ``mmd(minilm)``."""
    higher_is_better: bool | None
    level: Level = "item"
    needs: frozenset[str] = frozenset({"references"})
    """Of: references, images, embeddings, logprobs, java."""
    min_candidates: int = 1
    min_references: int = 1
    min_texts: int = 2
    """Least n + m (a triangle takes three)."""
    bounds: tuple[float, float] | None = None
    shardable: bool = True


@runtime_checkable
class Metric(Protocol):
    """Scores caption sets. Everything is vectorised over the B examples of a batch.

    A metric may have ``details(stats) -> dict``: further numbers for the record (a variance over seeds, say). A metric or distance
    may have ``warm() -> None``, called once before captions are made: it begins in the background what takes long on first use.

    ``stats`` gives sufficient statistics, one row per example: concatenating the rows of any shards and
    reducing once gives the same digits as one pass. A row that holds NaN in column 0 is *undefined*: the runner
    counts and lists it and leaves it out of ``reduce``.
    """

    spec: MetricSpec

    def signature(self) -> str:
        """``meteor|v1.5-en|tok:ptb``: all that changes the number, and nothing else."""
        ...

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        """Corpus state (document frequencies, bandwidths) from the task's references; None if there is none."""
        ...

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Sufficient statistics, float64, shape (B, d)."""
        ...

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        """(B,) scores of the single examples, for samples.parquet and paired tests."""
        ...

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> Any:
        """The corpus number (float), or with ``weights`` (W, B) one number per weight vector (W,).

        ``reduce(stats, weights=ones((1, B)))[0]`` equals ``reduce(stats)``; an example with weight 2 counts twice.
        """
        ...


@runtime_checkable
class TokenScoreMetric(Protocol):
    """A metric of level ``model``: it judges a model by its token scores for the references; no caption is generated."""

    spec: MetricSpec

    def signature(self) -> str: ...

    def evaluate_scores(self, scores: Sequence[Sequence[TokenScores]]) -> dict[str, float]:
        """Column name -> number, for the token scores of all examples (one sequence per example, one entry per reference)."""
        ...

    def per_example(self, scores: Sequence[Sequence[TokenScores]]) -> dict[str, np.ndarray]:
        """Column name -> (examples,) scores, for the columns that have a score per example."""
        ...


@runtime_checkable
class Testable(Protocol):
    """A set or item metric with a permutation null: the statistic under relabelings of the N texts."""

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        """(B, P): the per-example statistic under each relabeling; ``labels`` is (P, N) bool, True = candidate.

        "More extreme" follows ``spec.higher_is_better``: lower scores where True, higher ones where False.
        """
        ...


@runtime_checkable
class ExactTestable(Protocol):
    """A metric with a faster exact test than evaluating ``null`` on every relabeling."""

    def exact_p_values(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """(B,): share of all C(N, n) relabelings at least as extreme as the observed one (itself counted)."""
        ...


@runtime_checkable
class Distance(Protocol):
    """text x text -> non-negative number with d(x, x) = 0; need not be symmetric nor a metric."""

    name: str

    def signature(self) -> str: ...

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """(B, N, N) float64, rows the hypothesis, columns the reference, candidates first; ties matter, so no float32."""
        ...


def with_parameters(name: str, component: object) -> str:
    """``name`` and the parameters that the registry made the component with: a signature that tells two settings apart."""
    given = getattr(component, "harness_parameters", None) or {}
    return "|".join([name, *(f"{key}:{value}" for key, value in sorted(given.items()))])


class TextDistance:
    """Base for a distance that only looks at the texts: give ``name`` and ``pairwise``; the rest follows."""

    name = "unnamed"

    def signature(self) -> str:
        return with_parameters(self.name, self)

    def pairwise(self, texts: Sequence[str]) -> np.ndarray:
        """(T, T) float64, entry (i, j) with text i as hypothesis and text j as reference."""
        raise NotImplementedError(f"{type(self).__name__} must define pairwise(texts)")

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        return np.stack([np.asarray(self.pairwise(texts), dtype=np.float64) for texts in batch.texts])


@runtime_checkable
class Embedding(Protocol):
    """text -> vector."""

    name: str

    def signature(self) -> str: ...

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """See the task's references before the first ``encode`` (a vocabulary); most do nothing."""
        ...

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """(T, d) float32, one row per text; called once per run with each distinct text once, shortest first."""
        ...


@runtime_checkable
class Adapter(Protocol):
    """A model, or a stand-in for one. Constructed with the parameters that the spec gives it."""

    def fingerprint(self) -> str:
        """Changes whenever weights, files or configuration change: part of every cache key."""
        ...

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterable[Candidates | Generation | Failure]:
        """One result per example, in order. ``seeds`` holds one 63-bit integer per example, derived from the run seed and
        the example id, so that batch size, order and sharding never change a caption."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """An adapter that can score references token by token."""

    def score_references(self, examples: Sequence[Example]) -> Iterable[list[TokenScores]]:
        """For each example, one :class:`TokenScores` per reference."""
        ...


@runtime_checkable
class Listener(Protocol):
    """An adapter that plays the reference game's listener."""

    def listen(self, examples: Sequence[Example], captions: Sequence[str]) -> np.ndarray:
        """(B,) choices: 0 for the target, 1.. for the distractors (``Example.meta``)."""
        ...


@runtime_checkable
class Prepares(Protocol):
    """An adapter that wants to see the whole task first (to find missing predictions, say).

    ``prepare`` may take a keyword ``partial``, which is True when the run takes only the first examples of its data set: what
    belongs to none of them is then no mistake.
    """

    def prepare(self, examples: Sequence[Example], decoding: Decoding) -> None:
        """Raise :class:`~harness.errors.InputError` for what cannot work, before anything is generated."""
        ...


@runtime_checkable
class Reader(Protocol):
    """A data set reader. Constructed with the spec's ``dataset`` mapping less ``reader``."""

    def fingerprint(self) -> str: ...

    def __iter__(self) -> Iterator[Example]: ...


# --------------------------------------------------------------------------- shared base of mean-like metrics
class MeanMetric:
    """Base for metrics whose number is the mean of per-example scores: stats are (B, 1)."""

    spec: MetricSpec

    def signature(self) -> str:
        return with_parameters(self.spec.name, self)

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        return None

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """(B,) float64, NaN where undefined."""
        raise NotImplementedError(f"{type(self).__name__} must define scores(batch, features, state)")

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        return np.asarray(self.scores(batch, features, state), dtype=np.float64).reshape(len(batch), 1)

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        return stats[:, 0]

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> Any:
        if weights is None:
            return float(stats[:, 0].mean()) if len(stats) else float("nan")
        weights = np.asarray(weights, dtype=np.float64)
        return (weights @ stats[:, 0]) / weights.sum(axis=1)
