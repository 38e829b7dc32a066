"""Human judgments of captions, as frozen dataclasses: items with references, judged captions, and preferences between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.contracts.parameters import Parameters, Values


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
    """Ratings by the raters; one number where the file has a mean; empty where captions are judged in pairs only."""
    own_references: tuple[int, ...] = ()
    """Positions of the item's references that are this caption."""
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """Further human scores by column."""
    meta: Parameters = field(default_factory=Values)
    """Fields of the record that are not used otherwise, such as ``kind`` and ``category``."""


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A preference between two captions of one item."""

    first: int
    """Position of the first caption in :attr:`Judgments.captions`."""
    second: int
    preference: float
    """Positive where people prefer the first caption, negative for the second, 0 for a tie; the sum of the votes."""
    meta: Parameters = field(default_factory=Values)


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
