"""Parser of the six A3DS features in free captions, with synonyms, any word order, and
a report of unknown words.

A caption is split before its prepositions, copulas and commas into chunks
(``in front of a red wall``). The reading of each distinct chunk is cached, so that a
caption takes a few dictionary look-ups. A colour belongs to the noun after it; after a
copula, to the first noun of the clause; without a noun, to the wall in a chunk that
begins with ``in front of`` and to the floor after ``on``. Any other colour is *bare*:
it counts for a feature when exactly one part of the target has it (Tsvilodub & Franke
2023, section 2.2).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from harness_metrics.pragmatic import lexicon
from harness_metrics.pragmatic.lexicon import (
    FLOOR,
    OBJECT,
    ORIENTATION,
    OTHER,
    SCALE,
    SHAPE,
    WALL,
)

_CUT_WORDS = "in on is close near nearly and with at almost next against are"
_CUTS = [f" {word} " for word in _CUT_WORDS.split()]
"""Words before which a caption is cut into chunks."""
_WORD = re.compile(r"[^\W_]+")
_HEADS = {"front": WALL, "against": WALL, "before": WALL, "on": FLOOR}


class Chunk(NamedTuple):
    """Reading of one chunk; masks are sets of values
    (:mod:`harness_metrics.pragmatic.lexicon`).
    """

    features: int
    """Six 16-bit fields, one mask per feature; 0 for features that are not mentioned.
    """
    mentioned: int
    """Bit f is set when feature f is mentioned."""
    predicate: int
    """Mask of a colour after a copula; 0 for none."""
    bare: int
    """Mask of a colour without a noun; 0 for none."""
    noun: int
    """Hue factor of the first noun; -1 for none."""
    clause: bool
    """True when the chunk begins a new clause."""
    contradictions: int
    """Bit f is set when the words for feature f fit no common value."""
    unread: tuple[str, ...]
    """Unknown words."""


@dataclass(frozen=True)
class Readings:
    """Readings of N captions."""

    masks: np.ndarray
    """``(N, 6)`` uint16 masks of the values of each feature; 0 for features that are
    not mentioned or contradicted.
    """
    bare: np.ndarray
    """``(N,)`` uint16 mask of a colour without a noun; 0 for none."""
    contradictions: np.ndarray
    """``(N,)`` uint8; bit f is set when the words for feature f fit no common value."""
    unread: dict[int, tuple[str, ...]] = field(
        default_factory=dict[int, tuple[str, ...]]
    )
    """Caption number -> unknown words; captions without such words are absent."""


def read(texts: Sequence[str]) -> Readings:
    """Return the readings of N captions; about 5 microseconds per caption whose chunks
    are cached.
    """
    packed = bytearray()
    bare = np.zeros(len(texts), dtype=np.uint16)
    contradictions = np.zeros(len(texts), dtype=np.uint8)
    unread: dict[int, tuple[str, ...]] = {}
    for row, text in enumerate(texts):
        features = mentioned = wrong = loose = 0
        subject = -1
        words: tuple[str, ...] = ()
        for chunk_text in _split_chunks(text):
            chunk = read_chunk(chunk_text)
            # The noun of the first chunk is the subject until a new clause begins
            # ('..., and the wall is blue').
            if subject < 0 or chunk.clause:
                subject = chunk.noun
            new = chunk.features
            bits = chunk.mentioned
            if chunk.predicate:
                # 'the floor is green': a predicate colour belongs to the subject;
                # without one, captions speak of the object.
                noun = subject if subject >= 0 else OBJECT
                values = chunk.predicate << (16 * noun)
                new, bits, clash = _join(new, bits, values, 1 << noun)
                wrong |= clash

            # Features are packed into one integer of six 16-bit fields: captions that
            # mention a feature once, nearly all, are joined by a single OR.
            if mentioned & bits:
                features, mentioned, clash = _join(features, mentioned, new, bits)
                wrong |= clash
            else:
                features |= new
                mentioned |= bits

            wrong |= chunk.contradictions
            loose |= chunk.bare
            if chunk.unread:
                words += chunk.unread

        packed += features.to_bytes(12, "little")
        if loose:
            bare[row] = loose
        if wrong:
            contradictions[row] = wrong
        if words:
            unread[row] = words

    masks = np.frombuffer(bytes(packed), dtype="<u2").reshape(-1, 6).astype(np.uint16)
    if contradictions.any():
        # A contradicted feature counts as mentioned and false; it has no value.
        masks[(contradictions[:, None] >> np.arange(6)) & 1 == 1] = 0
    return Readings(masks, bare, contradictions, unread)


def _split_chunks(text: str) -> list[str]:
    """Return the chunks of a caption, in lower case without hyphens."""
    text = text.lower().replace("-", " ")
    # Cheap tests of substrings first: 'nearly in the middle' is one place, and must not
    # be cut before 'in'.
    if "ly in" in text or "ost in" in text:
        text = text.replace(" nearly in ", "|nearly_in ")
        text = text.replace(" almost in ", "|almost_in ")
    for cut in _CUTS:
        if cut in text:
            text = text.replace(cut, f"|{cut[1:]}")
    if "," in text or "." in text:
        text = text.replace(",", "|,").replace(".", "|.")
    return text.split("|")


def _join(features: int, mentioned: int, new: int, bits: int) -> tuple[int, int, int]:
    """Return features, mentioned bits and contradicted bits of two readings together:
    the values that fit both.
    """
    clash = 0
    for factor in range(6):
        bit = 1 << factor
        shift = 16 * factor
        if not bits & bit:
            continue

        values = new >> shift & 0xFFFF
        if mentioned & bit:
            common = values & (features >> shift)
            if not common:
                clash |= bit
                continue
            features &= ~(0xFFFF << shift)
            values = common
        features |= values << shift
    return features, mentioned | bits, clash


@lru_cache(maxsize=1 << 16)
def read_chunk(text: str) -> Chunk:
    """Return the reading of one chunk, lower-case text without hyphens."""
    words = _WORD.findall(text)
    reader = _Reader(words)
    reader.run()
    clause = text[:1] in ",." or words[:1] in (["and"], ["with"])
    return Chunk(
        reader.features,
        reader.mentioned,
        reader.predicate,
        reader.bare,
        reader.noun,
        clause,
        reader.clash,
        tuple(reader.unread),
    )


class _Reader:
    """State of one pass over the words of a chunk."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.features = self.mentioned = self.clash = 0
        self.predicate = self.bare = 0
        self.noun = -1
        self.hues: list[int] = []
        self.unread: list[str] = []

    def run(self) -> None:
        """Read all words."""
        orientations = lexicon.orientations_of(self.words)
        if orientations:
            self._add(ORIENTATION, orientations)
        at = 0
        while at < len(self.words):
            at += self._word(at, bool(orientations))
        if self.hues:
            self._colour_without_noun()

    def _word(self, at: int, is_place: bool) -> int:
        """Read the phrase that begins at word ``at`` and return its number of words."""
        word = self.words[at]
        pair = f"{word} {self.words[at + 1]}" if at + 1 < len(self.words) else ""

        # Two words before one ('light blue', not 'blue'), and a shade alone is no
        # colour where it begins such a pair.
        begins_pair = word in lexicon.SHADES and pair in lexicon.HUES
        for table in (lexicon.HUES, lexicon.SCALES):
            for phrase, length in ((pair, 2), (word, 1)):
                if phrase not in table or (length == 1 and begins_pair):
                    continue
                if table is lexicon.HUES:
                    self.hues.append(table[phrase])
                else:
                    self._add(SCALE, table[phrase])
                return length

        # a hue that no scene has: dark green
        if word in lexicon.SHADES and self._colour_follows(at):
            self.hues.append(OTHER)
            return 2
        if word in lexicon.NOUNS:
            self._noun(word)
        elif word in lexicon.COLOUR_WORDS:
            self.hues.append(OTHER)
        elif not (
            word in lexicon.FILLERS or (is_place and word in lexicon.PLACE_WORDS)
        ):
            self.unread.append(word)
        return 1

    def _colour_follows(self, at: int) -> bool:
        return at + 1 < len(self.words) and self.words[at + 1] in lexicon.COLOUR_WORDS

    def _noun(self, word: str) -> None:
        """Read a noun and the colours before it."""
        factor = lexicon.NOUNS[word]
        if self.noun < 0:
            self.noun = factor
        if word in lexicon.SHAPES:
            self._add(SHAPE, lexicon.SHAPES[word])
        for hue in self.hues:
            self._add(factor, hue)
        self.hues.clear()

    def _colour_without_noun(self) -> None:
        """Assign colours after the last noun to the subject of the clause,
        to wall or floor, or to no part.
        """
        heads = [factor for word, factor in _HEADS.items() if word in self.words[:2]]
        values = self.hues[0]
        for hue in self.hues[1:]:
            values |= hue

        # After a copula the colour waits for the subject, which another chunk holds.
        is_coloured = "colored" in self.words or "coloured" in self.words
        if self.words[0] in ("is", "are") or is_coloured:
            self.predicate = values
        elif heads:
            self._add(heads[0], values)
        else:
            self.bare = values

    def _add(self, factor: int, values: int) -> None:
        """Add a feature to the reading."""
        self.features, self.mentioned, clash = _join(
            self.features, self.mentioned, values << (16 * factor), 1 << factor
        )
        self.clash |= clash
