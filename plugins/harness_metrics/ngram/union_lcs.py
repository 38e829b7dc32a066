"""Words of a summary that its sentences share with those of another: the union of
longest common subsequences, for ROUGE-Lsum.

The bit-parallel recurrence of Hyyrö (2004), "Bit-Parallel LCS-length Computation
Revisited", fills a row of the table of lengths in a few operations of whole numbers:
bit j of a row is 0 where the length grows at word j. Which of several longest
subsequences is read out of the table matters to the number; it is the one that
rouge_score reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

Sentence = Sequence[str]


@dataclass(frozen=True)
class Summary:
    """Sentences as words, and as bits: one bit a word, and an empty bit after each
    sentence, which stops the carry of a sum.
    """

    sentences: tuple[Sentence, ...]

    @cached_property
    def counts(self) -> Counter[str]:
        """Number of occurrences of each word."""
        return Counter(word for sentence in self.sentences for word in sentence)

    @cached_property
    def n_words(self) -> int:
        """Number of words."""
        return sum(map(len, self.sentences))

    @cached_property
    def starts(self) -> list[int]:
        """First bit of each sentence."""
        starts = [0]
        for sentence in self.sentences:
            starts.append(starts[-1] + len(sentence) + 1)
        return starts[:-1]

    @cached_property
    def bits_of_words(self) -> dict[str, int]:
        """Word -> its bits."""
        bits: dict[str, int] = {}
        for start, sentence in zip(self.starts, self.sentences):
            for position, word in enumerate(sentence, start):
                bits[word] = bits.get(word, 0) | 1 << position
        return bits

    @cached_property
    def bits(self) -> int:
        """The bits of all words."""
        bits = 0
        for start, sentence in zip(self.starts, self.sentences):
            bits |= ((1 << len(sentence)) - 1) << start
        return bits


def union_hits(reference: Summary, candidate: Summary) -> int:
    """Return the number of words of a reference that are in the union of its common
    subsequences with the candidate's sentences.

    A word counts at most as often as the candidate has it.

    Source: Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries",
    section 3.2, with the counts clipped as in ROUGE-1.5.5.

    >>> reference = Summary(("w1 w2 w3 w4 w5".split(),))
    >>> candidate = Summary(("w1 w2 w6 w7 w8".split(), "w1 w3 w8 w9 w5".split()))
    >>> union_hits(reference, candidate)
    4
    """
    left = candidate.counts.copy()
    hits = 0
    for sentence in reference.sentences:
        for position in sorted(_union(sentence, candidate)):
            word = sentence[position]
            if left[word]:
                left[word] -= 1
                hits += 1
    return hits


def _union(sentence: Sentence, candidate: Summary) -> set[int]:
    """Return the positions in a sentence of its common subsequences with each sentence
    of the candidate.
    """
    matches = [candidate.bits_of_words.get(word, 0) for word in sentence]

    row = candidate.bits
    # per number of words of the sentence: the bits at which the length grows
    grown = [0]
    for match in matches:
        # one row of the table of lengths, all sentences of the candidate at once
        common = row & match
        row = (row + common | row - common) & candidate.bits
        grown.append(candidate.bits ^ row)

    positions: set[int] = set()
    for start, candidate_sentence in zip(candidate.starts, candidate.sentences):
        positions.update(_read_out(matches, grown, start, len(candidate_sentence)))
    return positions


def _read_out(
    matches: Sequence[int], grown: Sequence[int], start: int, length: int
) -> list[int]:
    """Return the positions of the subsequence that a walk from the last cell finds;
    ``start`` and ``length`` are a sentence's bits.
    """
    positions: list[int] = []
    row = len(matches)
    column = length
    while row and column:
        if matches[row - 1] >> start + column - 1 & 1:
            positions.append(row - 1)
            row -= 1
            column -= 1
            continue

        # At words that differ, the length in the column before is above that in the row
        # before where this row adds to that one.
        before = (1 << column) - 1
        here = (grown[row] >> start & before).bit_count()
        above = (grown[row - 1] >> start & before).bit_count()
        if here > above:
            column -= 1
        else:
            row -= 1
    return positions
