"""METEOR of Banerjee & Lavie (2005) as NLTK 3.5 computes it, which the benchmark of
Scan2Cap uses for its mean average precision: other stems, synonyms and constants than
METEOR 1.5.

Words of the hypothesis are matched from its end with the last free equal word of the
reference, then with an equal stem (Porter), then with a synonym. Of m matches in k
chunks of neighbours, F is P R / (.9 P + .1 R), and the score F (1 - .5 (k / m)^3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from harness_metrics.dense.wordnet import WordNet
from harness_metrics.tokenisers.porter import porter_stem

ALPHA = 0.9
BETA = 3
GAMMA = 0.5
"""Constants of NLTK."""
Word = tuple[int, str]
"""Position and text."""


class NltkMeteor:
    """Scores of texts whose words are divided by blanks.

    Parameters
    ----------
    wordnet : WordNet
    """

    def __init__(self, wordnet: WordNet) -> None:
        self.signature = f"meteor|nltk-3.5|{wordnet.signature}"
        self._wordnet = wordnet
        self._synonyms: dict[str, frozenset[str]] = {}

    def best_score(self, hypothesis: str, references: Sequence[str]) -> float:
        """Return the largest score of a text against its references, in [0, 1)."""
        words = hypothesis.lower().split()
        return max(self._score(words, text.lower().split()) for text in references)

    def _score(self, words: Sequence[str], others: Sequence[str]) -> float:
        """Return the score of a list of words against another."""
        free = list(enumerate(words))
        free_others = list(enumerate(others))
        matches: list[tuple[int, int]] = []
        for is_match in (_is_equal, _has_equal_stem, self._is_synonym):
            matches += take_matches(free, free_others, is_match)
        if not matches:
            return 0.0

        count = len(matches)
        precision = count / len(words)
        recall = count / len(others)
        f_mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
        penalty = GAMMA * (count_chunks(matches) / count) ** BETA
        return f_mean * (1 - penalty)

    def _is_synonym(self, word: str, other: str) -> bool:
        if word not in self._synonyms:
            self._synonyms[word] = self._wordnet.synonyms(word)
        return other in self._synonyms[word]


def _is_equal(word: str, other: str) -> bool:
    return word == other


def _has_equal_stem(word: str, other: str) -> bool:
    return porter_stem(word) == porter_stem(other)


def take_matches(
    free: list[Word], free_others: list[Word], is_match: Callable[[str, str], bool]
) -> list[tuple[int, int]]:
    """Return the positions of matching words, which are taken out of both lists: from
    the end, each with the last free one.
    """
    matches: list[tuple[int, int]] = []
    for k in range(len(free) - 1, -1, -1):
        for j in range(len(free_others) - 1, -1, -1):
            if is_match(free[k][1], free_others[j][1]):
                matches.append((free.pop(k)[0], free_others.pop(j)[0]))
                break
    return matches


def count_chunks(matches: Sequence[tuple[int, int]]) -> int:
    """Return the number of runs of matches that are neighbours in both texts.

    >>> count_chunks([(0, 0), (1, 1), (2, 5)])
    2
    """
    ordered = sorted(matches)
    return 1 + sum(
        following != (first + 1, second + 1)
        for (first, second), following in pairwise(ordered)
    )
