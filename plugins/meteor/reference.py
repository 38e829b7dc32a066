"""METEOR 1.5 in plain Python, one pair at a time: the readable version that the compiled one is tested against.

Matchers, beam search (width 40) and statistics of Denkowski & Lavie (2014) as meteor-1.5.jar computes them, quirks included:
words are compared by Java's 32-bit string hash, partial matches count as whole numbers in the search, and the distance of a
match goes to the path it branched from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.plugins.meteor.lexicon.java_hash import java_hash
from harness.plugins.meteor.lexicon.lexicon import Lexicon, stem
from harness.plugins.meteor.normaliser import words
from harness.plugins.meteor.score import segment_score

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
BEAM = 40


class Match(NamedTuple):
    """Words ``ref_start .. + ref_length`` of the reference stand for words of the hypothesis."""

    ref_start: int
    ref_length: int
    hyp_start: int
    hyp_length: int
    module: int


@dataclass
class Path:
    """A partial alignment of the beam search."""

    taken: dict[int, Match]
    """Match by the reference position at which it starts."""
    used_hyp: set[int]
    used_ref: set[int]
    hyp_count: int = 0
    """Matched words times search weight, cut to a whole number at every step."""
    ref_count: int = 0
    chunks: int = 0
    distance: int = 0
    next_ref: int = 0
    """First reference position behind the last match or skipped word."""
    chunk_end: int = -1
    """Hypothesis position behind the open chunk, -1 when none is open."""

    def order(self) -> tuple[int, int, int]:
        return (-(self.hyp_count + self.ref_count), self.chunks, self.distance)

    def is_free(self, match: Match) -> bool:
        return self.used_ref.isdisjoint(_ref_span(match)) and self.used_hyp.isdisjoint(_hyp_span(match))

    def copy(self) -> Path:
        clone = Path(dict(self.taken), set(self.used_hyp), set(self.used_ref))
        clone.hyp_count, clone.ref_count = self.hyp_count, self.ref_count
        clone.chunks, clone.distance = self.chunks, self.distance
        clone.next_ref, clone.chunk_end = self.next_ref, self.chunk_end
        return clone

    def count(self, match: Match) -> None:
        """Add a match's words and chunk (not its distance)."""
        whole = match.module == EXACT
        self.hyp_count += match.hyp_length if whole else match.hyp_length // 2
        self.ref_count += match.ref_length if whole else match.ref_length // 2
        if self.chunk_end not in (-1, match.hyp_start):
            self.chunks += 1
        self.next_ref = match.ref_start + match.ref_length
        self.chunk_end = match.hyp_start + match.hyp_length

    def close_chunk(self) -> None:
        if self.chunk_end != -1:
            self.chunks += 1
            self.chunk_end = -1


def _ref_span(match: Match) -> range:
    return range(match.ref_start, match.ref_start + match.ref_length)


def _hyp_span(match: Match) -> range:
    return range(match.hyp_start, match.hyp_start + match.hyp_length)


@dataclass
class Aligner:
    """Statistics, scores and alignments of texts, with everything that depends on one word or text kept."""

    lexicon: Lexicon
    _words: dict[str, list[str]] = field(default_factory=dict)
    _stems: dict[str, int] = field(default_factory=dict)
    _synsets: dict[str, frozenset[int]] = field(default_factory=dict)

    def words(self, text: str) -> list[str]:
        """Normalised words of a raw text."""
        if text not in self._words:
            self._words[text] = words(text, self.lexicon.prefixes)
        return self._words[text]

    def statistics(self, hypothesis: str, references: Sequence[str]) -> list[int]:
        """The 23 statistics against the first reference of the highest score."""
        rows = [self.pair_statistics(self.words(hypothesis), self.words(reference)) for reference in references]
        return max(rows, key=segment_score)  # max keeps the first of equals

    def pair_statistics(self, hyp: list[str], ref: list[str]) -> list[int]:
        return statistics_of(self.align(hyp, ref), hyp, ref, self.lexicon.function_words)

    def align(self, hyp: list[str], ref: list[str]) -> list[Match]:
        """Matches of the best path, by reference position."""
        return _search(self.matches(hyp, ref), len(ref))

    # ------------------------------------------------------------------ matchers
    def matches(self, hyp: list[str], ref: list[str]) -> list[Match]:
        """All matches, module after module."""
        hyp_keys, ref_keys = [java_hash(word) for word in hyp], [java_hash(word) for word in ref]
        found = [
            Match(j, 1, i, 1, EXACT) for j in range(len(ref)) for i in range(len(hyp)) if hyp_keys[i] == ref_keys[j]
        ]
        if hyp_keys == ref_keys:
            return found
        pairs = [(j, i) for j in range(len(ref)) for i in range(len(hyp)) if hyp_keys[i] != ref_keys[j]]
        found += [Match(j, 1, i, 1, STEM) for j, i in pairs if self._stem(hyp[i]) == self._stem(ref[j])]
        found += [Match(j, 1, i, 1, SYNONYM) for j, i in pairs if self._synset(hyp[i]) & self._synset(ref[j])]
        return [*found, *self._paraphrases(hyp, ref)]

    def _paraphrases(self, hyp: list[str], ref: list[str]) -> list[Match]:
        hyp_phrases, ref_phrases = self._phrases(hyp), self._phrases(ref)
        targets = self.lexicon.paraphrases.paraphrases
        found = [
            Match(j, ref_length, i, hyp_length, PARAPHRASE)
            for j, ref_length, phrase in ref_phrases
            for target in targets(phrase)
            for i, hyp_length, other in hyp_phrases
            if other == target
        ]
        found += [
            Match(j, ref_length, i, hyp_length, PARAPHRASE)
            for i, hyp_length, phrase in hyp_phrases
            for target in targets(phrase)
            for j, ref_length, other in ref_phrases
            if other == target
        ]
        return found

    def _phrases(self, sentence: list[str]) -> list[tuple[int, int, int]]:
        """(start, length, node) of every run of words that begins a phrase of the table, by start and length."""
        ids = [self.lexicon.paraphrase_words.get(word, -1) for word in sentence]
        found = []
        for start in range(len(ids)):
            node = 0
            for stop in range(start, len(ids)):
                node = self.lexicon.paraphrases.child(node, ids[stop])
                if node < 0:
                    break
                found.append((start, stop + 1 - start, node))
        return found

    def _stem(self, word: str) -> int:
        if word not in self._stems:
            self._stems[word] = java_hash(stem(word))
        return self._stems[word]

    def _synset(self, word: str) -> frozenset[int]:
        if word not in self._synsets:
            self._synsets[word] = frozenset(self.lexicon.synsets(word).tolist())
        return self._synsets[word]


# ---------------------------------------------------------------------- beam search
def _search(matches: list[Match], ref_length: int) -> list[Match]:
    """The best path's matches: those without rival are fixed, the others are searched."""
    at: list[list[Match]] = [[] for _ in range(ref_length)]
    for match in matches:
        at[match.ref_start].append(match)
    paths = [_fixed_path(matches, at)]
    for j in range(ref_length):
        best = sorted(paths, key=Path.order)[:BEAM]  # sorted is stable, as is the tool's sort
        paths = []
        for path in best:
            _advance(path, j, at[j], paths)
        paths = paths or best[:1]
    paths = sorted(paths, key=Path.order)[:BEAM]
    for path in paths:
        path.close_chunk()
    winner = min(paths, key=Path.order)  # min keeps the first of equals
    return [winner.taken[j] for j in sorted(winner.taken)]


def _fixed_path(matches: list[Match], at: list[list[Match]]) -> Path:
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
            path.taken[j] = here[0]
            path.used_ref.update(_ref_span(here[0]))
            path.used_hyp.update(_hyp_span(here[0]))
    return path


def _advance(path: Path, j: int, here: list[Match], out: list[Path]) -> None:
    """Append to ``out`` what becomes of ``path`` at reference word ``j``."""
    if j in path.used_ref:
        if j < path.next_ref:
            out.append(path)
        elif j in path.taken:
            path.count(path.taken[j])
            path.distance += abs(j - path.taken[j].hyp_start)
            out.append(path)
        return
    for match in here:
        if not path.is_free(match):
            continue
        branch = path.copy()
        branch.taken[j] = match
        branch.used_ref.update(_ref_span(match))
        branch.used_hyp.update(_hyp_span(match))
        branch.count(match)
        path.distance += abs(j - match.hyp_start)  # to the parent, not to the branch: as the tool does
        out.append(branch)
    path.close_chunk()
    path.next_ref += 1
    out.append(path)


# ---------------------------------------------------------------------- statistics
def statistics_of(alignment: list[Match], hyp: list[str], ref: list[str], function_words: frozenset[str]) -> list[int]:
    """The 23 statistics of one alignment, in the order of :mod:`harness.plugins.meteor.score`."""
    stats = [len(hyp), len(ref), sum(w in function_words for w in hyp), sum(w in function_words for w in ref)]
    for module in range(4):
        own = [match for match in alignment if match.module == module]
        hyp_words = [hyp[i] in function_words for match in own for i in _hyp_span(match)]
        ref_words = [ref[j] in function_words for match in own for j in _ref_span(match)]
        stats += [hyp_words.count(False), ref_words.count(False), hyp_words.count(True), ref_words.count(True)]
    return [*stats, _chunks(alignment), sum(m.hyp_length for m in alignment), sum(m.ref_length for m in alignment)]


def _chunks(alignment: list[Match]) -> int:
    """Number of maximal runs that are contiguous in both texts."""
    chunks, ref_end, hyp_end = 0, -1, -1
    for match in alignment:
        if (match.ref_start, match.hyp_start) != (ref_end, hyp_end):
            chunks += 1
        ref_end, hyp_end = match.ref_start + match.ref_length, match.hyp_start + match.hyp_length
    return chunks
