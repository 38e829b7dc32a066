"""METEOR 1.5 in plain Python, one pair at a time; the compiled version is tested against it.

Matchers, beam search (width 40) and statistics of Denkowski & Lavie (2014) as meteor-1.5.jar computes them, including its
peculiarities: words are compared by Java's 32-bit string hash, weighted matches are rounded down to whole numbers in the search,
and the distance of a match is added to the path from which it branched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.plugins.meteor.lexicon.java_hash import java_hash
from harness.plugins.meteor.lexicon.lexicon import Lexicon
from harness.plugins.meteor.lexicon.stems import stem
from harness.plugins.meteor.normaliser import words
from harness.plugins.meteor.score import segment_score

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
BEAM = 40


class Match(NamedTuple):
    """``ref_length`` reference words from ``ref_start`` match ``hyp_length`` hypothesis words from ``hyp_start``."""

    ref_start: int
    ref_length: int
    hyp_start: int
    hyp_length: int
    module: int


@dataclass
class Path:
    """A partial alignment of the beam search."""

    matches: dict[int, Match]
    """Match by the reference position at which it starts."""
    used_hyp: set[int]
    used_ref: set[int]
    hyp_count: int = 0
    """Matched words times search weight, rounded down for each match."""
    ref_count: int = 0
    chunks: int = 0
    distance: int = 0
    next_ref: int = 0
    """First reference position after the last match or skipped word."""
    chunk_end: int = -1
    """Hypothesis position after the open chunk, -1 if none is open."""

    def order(self) -> tuple[int, int, int]:
        """Return the sort key: more matched words first, then fewer chunks, then a smaller distance."""
        return (-(self.hyp_count + self.ref_count), self.chunks, self.distance)

    def is_free(self, match: Match) -> bool:
        """Return True when the path uses none of the match's words."""
        return self.used_ref.isdisjoint(_ref_span(match)) and self.used_hyp.isdisjoint(_hyp_span(match))

    def copy(self) -> Path:
        """Return an independent copy of the path."""
        clone = Path(dict(self.matches), set(self.used_hyp), set(self.used_ref))
        clone.hyp_count, clone.ref_count = self.hyp_count, self.ref_count
        clone.chunks, clone.distance = self.chunks, self.distance
        clone.next_ref, clone.chunk_end = self.next_ref, self.chunk_end
        return clone

    def count(self, match: Match) -> None:
        """Add the words and the chunk of a match, but not its distance."""
        whole = match.module == EXACT
        self.hyp_count += match.hyp_length if whole else match.hyp_length // 2
        self.ref_count += match.ref_length if whole else match.ref_length // 2
        if self.chunk_end not in (-1, match.hyp_start):
            self.chunks += 1
        self.next_ref = match.ref_start + match.ref_length
        self.chunk_end = match.hyp_start + match.hyp_length

    def close_chunk(self) -> None:
        """Count the open chunk, if any, and close it."""
        if self.chunk_end != -1:
            self.chunks += 1
            self.chunk_end = -1


def _ref_span(match: Match) -> range:
    return range(match.ref_start, match.ref_start + match.ref_length)


def _hyp_span(match: Match) -> range:
    return range(match.hyp_start, match.hyp_start + match.hyp_length)


@dataclass
class Aligner:
    """Alignments and statistics of texts. Words, stems and synonym sets are cached by text or word.

    Parameters
    ----------
    lexicon : Lexicon
    """

    lexicon: Lexicon
    _words: dict[str, list[str]] = field(default_factory=dict)
    _stems: dict[str, int] = field(default_factory=dict)
    _synsets: dict[str, frozenset[int]] = field(default_factory=dict)

    def words(self, text: str) -> list[str]:
        """Return the normalised words of a raw text."""
        if text not in self._words:
            self._words[text] = words(text, self.lexicon.prefixes)
        return self._words[text]

    def statistics(self, hypothesis: str, references: Sequence[str]) -> list[int]:
        """Return the 23 statistics of a raw hypothesis against the first reference with the highest score."""
        rows = [self.pair_statistics(self.words(hypothesis), self.words(reference)) for reference in references]
        return max(rows, key=segment_score)  # max returns the first of equals

    def pair_statistics(self, hyp: list[str], ref: list[str]) -> list[int]:
        """Return the 23 statistics of the words of one hypothesis and one reference."""
        return statistics_of(self.align(hyp, ref), hyp, ref, self.lexicon.function_words)

    def align(self, hyp: list[str], ref: list[str]) -> list[Match]:
        """Return the matches of the best path, ordered by reference position."""
        return search(self.matches(hyp, ref), len(ref))

    # ------------------------------------------------------------------ matchers
    def matches(self, hyp: list[str], ref: list[str]) -> list[Match]:
        """Return all matches, ordered by module; equal texts have exact matches only."""
        hyp_keys, ref_keys = [java_hash(word) for word in hyp], [java_hash(word) for word in ref]
        matches = [
            Match(j, 1, i, 1, EXACT) for j in range(len(ref)) for i in range(len(hyp)) if hyp_keys[i] == ref_keys[j]
        ]
        if hyp_keys == ref_keys:
            return matches
        pairs = [(j, i) for j in range(len(ref)) for i in range(len(hyp)) if hyp_keys[i] != ref_keys[j]]
        matches += [Match(j, 1, i, 1, STEM) for j, i in pairs if self._stem(hyp[i]) == self._stem(ref[j])]
        matches += [Match(j, 1, i, 1, SYNONYM) for j, i in pairs if self._synset(hyp[i]) & self._synset(ref[j])]
        return [*matches, *self._paraphrases(hyp, ref)]

    def _paraphrases(self, hyp: list[str], ref: list[str]) -> list[Match]:
        hyp_phrases, ref_phrases = self._phrases(hyp), self._phrases(ref)
        targets = self.lexicon.paraphrases.paraphrases
        matches = [
            Match(j, ref_length, i, hyp_length, PARAPHRASE)
            for j, ref_length, phrase in ref_phrases
            for target in targets(phrase)
            for i, hyp_length, other in hyp_phrases
            if other == target
        ]
        matches += [
            Match(j, ref_length, i, hyp_length, PARAPHRASE)
            for i, hyp_length, phrase in hyp_phrases
            for target in targets(phrase)
            for j, ref_length, other in ref_phrases
            if other == target
        ]
        return matches

    def _phrases(self, sentence: list[str]) -> list[tuple[int, int, int]]:
        """Return (start, length, node) of every run of words that is a node of the phrase trie, ordered by start and length."""
        ids = [self.lexicon.paraphrase_words.get(word, -1) for word in sentence]
        phrases = []
        for start in range(len(ids)):
            node = 0
            for stop in range(start, len(ids)):
                node = self.lexicon.paraphrases.child(node, ids[stop])
                if node < 0:
                    break
                phrases.append((start, stop + 1 - start, node))
        return phrases

    def _stem(self, word: str) -> int:
        if word not in self._stems:
            self._stems[word] = java_hash(stem(word))
        return self._stems[word]

    def _synset(self, word: str) -> frozenset[int]:
        if word not in self._synsets:
            self._synsets[word] = frozenset(self.lexicon.synsets(word).tolist())
        return self._synsets[word]


# ---------------------------------------------------------------------- beam search
def search(matches: list[Match], ref_length: int) -> list[Match]:
    """Return the matches of the best path. Matches that overlap no other match are fixed before the search.

    >>> search([Match(0, 1, 1, 1, EXACT), Match(1, 1, 0, 1, EXACT), Match(1, 1, 2, 1, EXACT)], 2)[1].hyp_start
    2
    """
    at: list[list[Match]] = [[] for _ in range(ref_length)]
    for match in matches:
        at[match.ref_start].append(match)
    paths = [_fixed_path(matches, at)]
    for j in range(ref_length):
        best = sorted(paths, key=Path.order)[:BEAM]  # both sorted and the jar's sort are stable
        paths = []
        for path in best:
            _advance(path, j, at[j], paths)
        paths = paths or best[:1]
    paths = sorted(paths, key=Path.order)[:BEAM]
    for path in paths:
        path.close_chunk()
    winner = min(paths, key=Path.order)  # min returns the first of equals
    return [winner.matches[j] for j in sorted(winner.matches)]


def _fixed_path(matches: list[Match], at: list[list[Match]]) -> Path:
    """Return the first path, with the matches that overlap no other match; ``at`` lists the matches by reference position."""
    ref_cover: dict[int, int] = {}
    hyp_cover: dict[int, int] = {}
    for match in matches:
        for j in _ref_span(match):
            ref_cover[j] = ref_cover.get(j, 0) + 1
        for i in _hyp_span(match):
            hyp_cover[i] = hyp_cover.get(i, 0) + 1
    path = Path({}, set(), set())
    for j, here in enumerate(at):
        if (
            len(here) == 1
            and all(ref_cover[k] == 1 for k in _ref_span(here[0]))
            and all(hyp_cover[k] == 1 for k in _hyp_span(here[0]))
        ):
            path.matches[j] = here[0]
            path.used_ref.update(_ref_span(here[0]))
            path.used_hyp.update(_hyp_span(here[0]))
    return path


def _advance(path: Path, j: int, here: list[Match], out: list[Path]) -> None:
    """Append the continuations of ``path`` at reference word ``j``, whose matches are ``here``, to ``out``."""
    if j in path.used_ref:
        if j < path.next_ref:
            out.append(path)
        elif j in path.matches:
            path.count(path.matches[j])
            path.distance += abs(j - path.matches[j].hyp_start)
            out.append(path)
        return
    for match in here:
        if not path.is_free(match):
            continue
        branch = path.copy()
        branch.matches[j] = match
        branch.used_ref.update(_ref_span(match))
        branch.used_hyp.update(_hyp_span(match))
        branch.count(match)
        path.distance += abs(j - match.hyp_start)  # added to the parent, not to the branch, as in the jar
        out.append(branch)
    path.close_chunk()
    path.next_ref += 1
    out.append(path)


# ---------------------------------------------------------------------- statistics
def statistics_of(alignment: list[Match], hyp: list[str], ref: list[str], function_words: frozenset[str]) -> list[int]:
    """Return the 23 statistics of one alignment, in the order of :mod:`harness.plugins.meteor.score`."""
    stats = [len(hyp), len(ref), sum(w in function_words for w in hyp), sum(w in function_words for w in ref)]
    for module in range(4):
        matches = [match for match in alignment if match.module == module]
        hyp_words = [hyp[i] in function_words for match in matches for i in _hyp_span(match)]
        ref_words = [ref[j] in function_words for match in matches for j in _ref_span(match)]
        stats += [hyp_words.count(False), ref_words.count(False), hyp_words.count(True), ref_words.count(True)]
    return [*stats, _chunks(alignment), sum(m.hyp_length for m in alignment), sum(m.ref_length for m in alignment)]


def _chunks(alignment: list[Match]) -> int:
    """Return the number of maximal runs of matches that are contiguous in both texts."""
    chunks, ref_end, hyp_end = 0, -1, -1
    for match in alignment:
        if (match.ref_start, match.hyp_start) != (ref_end, hyp_end):
            chunks += 1
        ref_end, hyp_end = match.ref_start + match.ref_length, match.hyp_start + match.hyp_length
    return chunks
