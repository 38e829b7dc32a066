"""Data that flows through a run, as frozen dataclasses.

Arrays name their axes: ``B`` examples of one batch, ``n`` candidates, ``m`` references,
``N = n + m`` texts of an example (candidates first), ``L`` predicted tokens of one
reference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from harness.contracts.parameters import Parameters, Values

Level = Literal["item", "set", "corpus", "model"]
"""The unit that a metric judges: one example, one set of candidates, a corpus, or a
model by its token scores.
"""
Candidates = tuple[str, ...]
"""Captions that one model generated for one example under one decoding (n >= 1)."""


@dataclass(frozen=True, slots=True)
class Example:
    """One conditioning input and its references (m >= 1)."""

    id: str
    references: tuple[str, ...]
    media: str | None = None
    """Path or name of the image, video or feature record."""
    source: str | None = None
    """Conditioning text (translation, simplification, dialogue)."""
    meta: Parameters = field(default_factory=Values)


@dataclass(frozen=True, slots=True)
class TokenScores:
    """Teacher-forced token scores of one reference: one entry per predicted token, END
    included, START excluded.
    """

    log_probs: np.ndarray
    """Natural log-probability of each token, shape (L,), under the unmodified model."""
    ranks: np.ndarray
    """Rank of each token, shape (L,): 0 for the arg-max, else the number of entries
    with a higher probability plus the number of equal entries with a smaller index.
    """
    tokens: tuple[str, ...] = ()
    likelihood: Literal["exact", "pseudo"] = "exact"


@dataclass(frozen=True, slots=True)
class Decoding:
    """Decoding settings. Filters apply in the order temperature, top-k, top-p."""

    strategy: str = "greedy"
    """greedy | beam | diverse-beam | sample | nucleus | a strategy of the adapter's own
    (listed on its card).
    """
    temperature: float = 1.0
    top_p: float | None = None
    top_k: int | None = None
    beams: int | None = None
    length_penalty: float = 0.0
    candidates: int | None = None
    """Number of captions per example; None: as many as the adapter has."""
    max_length: int | None = None
    options: Parameters = field(default_factory=dict[str, Any], hash=False)
    """Options of an adapter's own strategy (for example ``alpha`` for rsa)."""


@dataclass(frozen=True, slots=True)
class Generation:
    """Candidates of one example with optional further values.

    An adapter may return it in place of bare :data:`Candidates`.
    """

    candidates: Candidates
    references: tuple[str, ...] | None = None
    """References that remain for scoring, where the adapter removed some (held-out
    humans).
    """
    log_probs: tuple[float, ...] | None = None
    """Sum of the token log-probabilities of each candidate under the unmodified model.
    """
    lengths: tuple[int, ...] | None = None
    """Number of tokens of each candidate, END included."""
    stop_reasons: tuple[str, ...] | None = None
    """``stop`` or ``length`` for each candidate."""
    held_out: tuple[int, ...] | None = None
    """Positions of the example's references that the adapter removed; a cut of the
    references then keeps those of the other models.
    """


@dataclass(frozen=True, slots=True)
class Failure:
    """Result of an adapter for an example that it could not process.

    The run continues, lists the example and exits with 1.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class TaskView:
    """View of the whole task that an adapter gets before captions are generated
    (:class:`~harness.contracts.Prepares`).
    """

    examples: Sequence[Example]
    """All examples of the run, in order."""
    decoding: Decoding
    partial: bool = False
    """True when the run takes only the first examples of its data set; entries for
    other examples are then no mistake.
    """


@dataclass(frozen=True, slots=True)
class CaptionSet:
    """Input of a metric for one example: n candidates and m references."""

    id: str
    candidates: tuple[str, ...]
    references: tuple[str, ...]
    media: str | None = None
    source: str | None = None
    meta: Parameters = field(default_factory=Values)


@dataclass(frozen=True, eq=False)
class Batch:
    """Caption sets of one (n, m) shape, with their texts interned in a
    :class:`~harness.contracts.Features`.
    """

    sets: tuple[CaptionSet, ...]
    text_ids: np.ndarray
    """Text ids, shape (B, n + m); candidates first."""
    n: int
    m: int
    parent: Batch | None = None
    """A larger batch of the same examples of which this batch is a subset of columns.
    """
    columns: np.ndarray | None = None
    """Columns of the parent, shape (n + m,)."""

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def ids(self) -> tuple[str, ...]:
        """Example ids, length B."""
        return tuple(item.id for item in self.sets)

    @property
    def texts(self) -> list[list[str]]:
        """B lists of n + m raw texts, candidates first."""
        return [[*item.candidates, *item.references] for item in self.sets]

    @property
    def candidate_ids(self) -> np.ndarray:
        """Text ids of the candidates, shape (B, n)."""
        return self.text_ids[:, : self.n]

    @property
    def reference_ids(self) -> np.ndarray:
        """Text ids of the references, shape (B, m)."""
        return self.text_ids[:, self.n :]


class PositionedBatch(NamedTuple):
    """A batch and the positions of its examples among all examples that are scored."""

    positions: np.ndarray
    """Positions, shape (B,)."""
    batch: Batch


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """One item (image, video, audio clip, source text) with its references (m >= 1)."""

    id: str
    references: tuple[str, ...]
    media: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedCaption:
    """One caption of an item, or a set of captions that is judged as a whole."""

    item: int
    """Position of the item in :attr:`Judgments.items`."""
    texts: tuple[str, ...]
    """The captions (n >= 1); one for nearly all judgment sets."""
    system: str = ""
    ratings: tuple[float, ...] = ()
    """Ratings by the raters; one number where the file has a mean; empty where captions
    are judged in pairs only.
    """
    own_references: tuple[int, ...] = ()
    """Positions of the item's references that are this caption."""
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """Further human scores by column."""
    meta: Parameters = field(default_factory=Values)
    """Fields of the record that are not used otherwise, such as ``kind`` and
    ``category``.
    """


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A preference between two captions of one item."""

    first: int
    """Position of the first caption in :attr:`Judgments.captions`."""
    second: int
    votes: tuple[float, ...]
    """Vote of each person, or their sum: positive for the first caption, negative for
    the second, 0 for a tie, NaN for none.
    """
    meta: Parameters = field(default_factory=Values)

    @property
    def preference(self) -> float:
        """The sum of the votes: positive where people prefer the first caption,
        negative for the second, 0 for a tie.
        """
        return math.fsum(vote for vote in self.votes if not math.isnan(vote))


@dataclass(frozen=True)
class Judgments:
    """A set of human judgments."""

    source: str
    """The files, for messages."""
    items: Sequence[JudgedItem]
    captions: Sequence[JudgedCaption]
    pairs: Sequence[JudgedPair] = ()
    """Preferences; empty for sets that rate single captions."""
    systems: Mapping[str, float] = field(default_factory=dict[str, float])
    """Human scores of whole systems, where a file has them."""
    notes: Sequence[str] = ()
    """Remarks on the set for the report."""
