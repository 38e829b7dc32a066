"""Texts prepared for METEOR's alignment: the readable version of ``MeteorTexts``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from caption_kernels_reference.meteor.aligner import (
    Occurrence,
    Text,
    TooManyMatches,
    Word,
    statistics,
)
from caption_kernels_reference.meteor.java_hash import java_hash
from caption_kernels_reference.meteor.lexicon import Lexicon
from caption_kernels_reference.meteor.normaliser import words as words_of
from caption_kernels_reference.meteor.score import N_STATISTICS, segment_score
from caption_kernels_reference.stemmer import stem
from caption_kernels_reference.text_index import TextIndex


class MeteorTexts:
    """Texts prepared for the alignment;
    each distinct word and raw text is analysed once.

    Parameters
    ----------
    lexicon : Lexicon
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._ids: dict[str, int] = {}
        self._words: list[list[str]] = []
        self._texts: list[Text] = []
        self._known: dict[str, Word] = {}

    def intern(self, texts: Sequence[str]) -> np.ndarray:
        """Return the ids (T,) of raw texts, int64; equal texts have one id,
        counted from 0.
        """
        if isinstance(texts, str):
            raise TypeError("expected a sequence of texts, found one str")
        return np.array([self._id(text) for text in list(texts)], dtype=np.int64)

    def add_rows(self, index: TextIndex, rows: np.ndarray) -> np.ndarray:
        """Return the ids (T,) of rows of an index, int64:
        those of their words joined by one blank.
        """
        return self.intern(index.texts(rows))

    def same_words(self, ids: np.ndarray) -> np.ndarray:
        """Return numbers of shape (B, N), int64, that are equal for texts ``ids`` (B,
        N) with the same words after normalising.
        """
        numbers: dict[tuple[str, ...], int] = {}
        flat = [
            numbers.setdefault(tuple(self._words[self._check_row(i)]), len(numbers))
            for i in ids.ravel().tolist()
        ]
        return np.array(flat, dtype=np.int64).reshape(ids.shape)

    def n_words(self, text: int) -> int:
        """Return the number of words of a text."""
        return len(self._words[self._check_row(text)])

    def align(
        self,
        text_starts: np.ndarray,
        texts: np.ndarray,
        pair_starts: np.ndarray,
        hyps: np.ndarray,
        refs: np.ndarray,
        rows: np.ndarray,
        start: int,
        stop: int,
        scores: np.ndarray,
        statistics: np.ndarray,
    ) -> int:
        """Align the pairs of groups ``start`` to ``stop - 1`` and write their scores
        and statistics.

        A group is the texts of one example, or one hypothesis and its references. The
        compiled version does once per group what its pairs share, so pairs of one
        hypothesis should be next to each other.

        Parameters
        ----------
        text_starts : (groups + 1,) int64
            Bounds of each group in ``texts``.
        texts : (sum of sizes,) int64
            Text ids.
        pair_starts : (groups + 1,) int64
            Bounds of each group in the three arrays below.
        hyps, refs : (pairs,) int32
            Positions of hypothesis and reference in their group.
        rows : (pairs,) int64
            Row of ``statistics`` that receives the pair's statistics, -1 for none.
        start, stop : int
            Range of groups.
        scores : (pairs,) float64
            Output: score of each pair.
        statistics : (rows, 23) int32
            Output: statistics of the pairs with a row.

        Returns
        -------
        int
            The first pair with more than 2**22 matches, at which the work stops, or -1.
        """
        _check_shapes(text_starts, pair_starts, hyps, refs, rows, scores, statistics)
        if not 0 <= start <= stop < len(text_starts):
            raise IndexError("METEOR: a row or id lies outside its table")

        for group in range(start, stop):
            ids = [self._check_row(i) for i in _part(texts, text_starts, group)]
            for pair in range(*_bounds(pair_starts, group, len(hyps))):
                hyp = int(hyps[pair])
                ref = int(refs[pair])
                row = int(rows[pair])
                if not (
                    0 <= hyp < len(ids)
                    and 0 <= ref < len(ids)
                    and row < len(statistics)
                ):
                    raise IndexError("METEOR: a row or id lies outside its table")

                try:
                    values = self._statistics(ids[hyp], ids[ref])
                except TooManyMatches:
                    return pair
                scores[pair] = segment_score(values)
                if row >= 0:
                    statistics[row] = values
        return -1

    def _statistics(self, hyp: int, ref: int) -> list[int]:
        return statistics(self._texts[hyp], self._texts[ref])

    def _check_row(self, text: int) -> int:
        if not 0 <= text < len(self._texts):
            raise IndexError("METEOR: a row or id lies outside its table")
        return text

    def _id(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"expected texts of type str, found {type(text).__name__}")
        if text not in self._ids:
            words = words_of(text, self._lexicon)
            self._texts.append(
                Text(tuple(map(self._word, words)), self._phrases(words))
            )
            self._words.append(words)
            self._ids[text] = len(self._ids)
        return self._ids[text]

    def _word(self, word: str) -> Word:
        if word not in self._known:
            lexicon = self._lexicon
            synsets = frozenset(lexicon.synsets(word))
            is_function = lexicon.is_function_word(word)
            self._known[word] = Word(
                java_hash(word), java_hash(stem([word])[0]), synsets, is_function
            )
        return self._known[word]

    def _phrases(self, words: list[str]) -> tuple[Occurrence, ...]:
        """Return every run of words that is a node of the paraphrase table,
        by start and length.
        """
        lexicon = self._lexicon
        occurrences = []

        numbers = [lexicon.number(word) for word in words]
        for start, first in enumerate(numbers):
            node = lexicon.paraphrase_child(0, first)
            stop = start + 1
            while node >= 0:
                occurrences.append(
                    Occurrence(
                        start,
                        stop - start,
                        node,
                        tuple(lexicon.paraphrase_targets(node)),
                    )
                )
                if stop == len(numbers) or numbers[stop] < 0:
                    break
                node = lexicon.paraphrase_child(node, numbers[stop])
                stop += 1
        return tuple(occurrences)


def _check_shapes(
    text_starts: np.ndarray,
    pair_starts: np.ndarray,
    hyps: np.ndarray,
    refs: np.ndarray,
    rows: np.ndarray,
    scores: np.ndarray,
    statistics: np.ndarray,
) -> None:
    if not len(text_starts) or len(pair_starts) != len(text_starts):
        raise ValueError("expected bounds of the same number of groups")
    if (
        not len(hyps) == len(refs) == len(rows) == len(scores)
        or statistics.shape[1] != N_STATISTICS
    ):
        raise ValueError(
            "expected hyps, refs, rows and scores of one length, "
            "and statistics with 23 columns"
        )


def _bounds(starts: np.ndarray, group: int, size: int) -> tuple[int, int]:
    first = int(starts[group])
    last = int(starts[group + 1])
    if not 0 <= first <= last <= size:
        raise IndexError("METEOR: a row or id lies outside its table")
    return first, last


def _part(values: np.ndarray, starts: np.ndarray, group: int) -> list[int]:
    first, last = _bounds(starts, group, len(values))
    return values[first:last].tolist()
