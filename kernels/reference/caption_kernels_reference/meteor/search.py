"""METEOR's beam search: the best alignment of two texts from their matches.

Denkowski & Lavie (2014), as meteor-1.5.jar computes it. The search goes through the
words of the reference and keeps the best 40 partial alignments, paths. Which of several
equally good alignments wins depends on three things, which are therefore part of the
definition: the order of the matches at a reference word, the order in which paths are
proposed, and a stable sort.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
BEAM = 40
"""Paths that are kept at each reference word. Texts of repeated words would have
exponentially many.
"""


class Match(NamedTuple):
    """``ref_length`` reference words from ``ref_start`` match ``hyp_length`` hypothesis
    words from ``hyp_start``.
    """

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
        """Return the sort key: more matched words first, then fewer chunks,
        then a smaller distance.
        """
        return (-(self.hyp_count + self.ref_count), self.chunks, self.distance)

    def is_free(self, match: Match) -> bool:
        """Return True when the path uses none of the match's words."""
        return self.used_ref.isdisjoint(ref_span(match)) and self.used_hyp.isdisjoint(
            hyp_span(match)
        )

    def copy(self) -> Path:
        """Return an independent copy of the path."""
        clone = Path(dict(self.matches), set(self.used_hyp), set(self.used_ref))
        clone.hyp_count = self.hyp_count
        clone.ref_count = self.ref_count
        clone.chunks = self.chunks
        clone.distance = self.distance
        clone.next_ref = self.next_ref
        clone.chunk_end = self.chunk_end
        return clone

    def count(self, match: Match) -> None:
        """Add the words and the chunk of a match, but not its distance.

        In the search a match that is not exact weighs one half, and the jar rounds this
        down: a single stem or synonym counts nothing, so that any exact match beats it.
        """
        is_exact = match.module == EXACT
        self.hyp_count += match.hyp_length if is_exact else match.hyp_length // 2
        self.ref_count += match.ref_length if is_exact else match.ref_length // 2
        if self.chunk_end not in (-1, match.hyp_start):
            self.chunks += 1
        self.next_ref = match.ref_start + match.ref_length
        self.chunk_end = match.hyp_start + match.hyp_length

    def close_chunk(self) -> None:
        """Count the open chunk, if any, and close it."""
        if self.chunk_end != -1:
            self.chunks += 1
            self.chunk_end = -1


def ref_span(match: Match) -> range:
    """Return the reference positions of a match."""
    return range(match.ref_start, match.ref_start + match.ref_length)


def hyp_span(match: Match) -> range:
    """Return the hypothesis positions of a match."""
    return range(match.hyp_start, match.hyp_start + match.hyp_length)


def search(matches: list[Match], ref_length: int) -> list[Match]:
    """Return the matches of the best path, ordered by reference position.

    >>> search(
    ...     [
    ...         Match(0, 1, 1, 1, EXACT),
    ...         Match(1, 1, 0, 1, EXACT),
    ...         Match(1, 1, 2, 1, EXACT),
    ...     ],
    ...     2,
    ... )[1].hyp_start
    2
    """
    at: list[list[Match]] = [[] for _ in range(ref_length)]
    for match in matches:
        at[match.ref_start].append(match)
    paths = [_fixed_path(matches, at)]
    for j in range(ref_length):
        # both sorted and the jar's sort are stable
        best = sorted(paths, key=Path.order)[:BEAM]
        paths = []
        for path in best:
            _advance(path, j, at[j], paths)
    paths = sorted(paths, key=Path.order)[:BEAM]
    for path in paths:
        path.close_chunk()
    winner = min(paths, key=Path.order)  # min returns the first of equals
    return [winner.matches[j] for j in sorted(winner.matches)]


def _fixed_path(matches: list[Match], at: list[list[Match]]) -> Path:
    """Return the first path, with the matches that overlap no other match; ``at`` lists
    the matches by reference position.

    Every alignment would do well to contain these, but the search could skip them.
    Fixing them keeps the beam for real choices.
    """
    ref_cover: dict[int, int] = {}
    hyp_cover: dict[int, int] = {}
    for match in matches:
        for j in ref_span(match):
            ref_cover[j] = ref_cover.get(j, 0) + 1
        for i in hyp_span(match):
            hyp_cover[i] = hyp_cover.get(i, 0) + 1
    path = Path({}, set(), set())
    for j, here in enumerate(at):
        if (
            len(here) == 1
            and all(ref_cover[k] == 1 for k in ref_span(here[0]))
            and all(hyp_cover[k] == 1 for k in hyp_span(here[0]))
        ):
            path.matches[j] = here[0]
            path.used_ref.update(ref_span(here[0]))
            path.used_hyp.update(hyp_span(here[0]))
    return path


def _advance(path: Path, j: int, here: list[Match], out: list[Path]) -> None:
    """Append the continuations of ``path`` at reference word ``j``,
    whose matches are ``here``, to ``out``.

    One of them always exists: a used word is the first of a fixed match, or lies within
    the last match of the path.
    """
    if j in path.used_ref:
        if j >= path.next_ref:
            path.count(path.matches[j])
            path.distance += abs(j - path.matches[j].hyp_start)
        out.append(path)
        return

    for match in here:
        if not path.is_free(match):
            continue
        branch = path.copy()
        branch.matches[j] = match
        branch.used_ref.update(ref_span(match))
        branch.used_hyp.update(hyp_span(match))
        branch.count(match)
        # added to the parent, not to the branch, as in the jar
        path.distance += abs(j - match.hyp_start)
        out.append(branch)

    path.close_chunk()
    path.next_ref += 1
    out.append(path)
