"""METEOR 1.5 for English without Java: statistics, scores and matrices of all pairs,
equal to those of meteor-1.5.jar.

Denkowski & Lavie (2014), "Meteor Universal: Language Specific Translation Evaluation
for Any Target Language", with the options ``-l en -norm`` of the COCO caption toolkit.
Scores are in [0, 1], higher is better, and **not symmetric** (recall has weight .85).
The functions of this module take raw text; the COCO pipeline applies the PTB tokeniser
first, see :class:`harness_metrics.meteor.metric.Meteor`. The work is done by
:mod:`caption_kernels.batches.meteor`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

import numpy as np

from caption_kernels import MeteorTexts, TextIndex
from caption_kernels.batches import meteor as kernels
from caption_kernels.batches.meteor import Aligned, Groups, Pair, scores_of
from caption_kernels.batches.meteor import corpus_score as corpus_score
from harness.errors import InputError
from harness_metrics.meteor.installed import lexicon


class PreparedTexts:
    """Table of prepared texts of a run, with their alignment;
    each distinct word and text is analysed once.
    """

    def __init__(self) -> None:
        self._texts = new_table()

    def add_rows(self, index: TextIndex, rows: np.ndarray) -> np.ndarray:
        """Return the ids (T,) of rows (T,) of an index, int64; new texts are added."""
        return self._texts.add_rows(index, np.ascontiguousarray(rows, dtype=np.int64))

    def intern(self, texts: Sequence[str]) -> np.ndarray:
        """Return the ids (T,) of raw texts, int64; new texts are added."""
        return self._texts.intern(texts)

    def align_pairs(
        self, text_ids: np.ndarray, pairs: np.ndarray, *, with_statistics: bool
    ) -> Aligned:
        """Align the same pairs of texts of every example (shape (B, N));
        see :func:`align_pairs`.
        """
        return align_pairs(
            self._texts, text_ids, pairs, with_statistics=with_statistics
        )

    def align_groups(self, groups: Groups) -> Aligned:
        """Align pairs of texts of groups; see
        :func:`caption_kernels.batches.meteor.align`.
        """
        with _input_errors():
            return kernels.align(self._texts, groups)

    def same_words(self, ids: np.ndarray) -> np.ndarray:
        """Return numbers of the same shape as ``ids``, (B, N), int64, that are equal
        for texts with the same words.
        """
        return self._texts.same_words(np.ascontiguousarray(ids, dtype=np.int64))


def new_table() -> MeteorTexts:
    """Return an empty table of prepared texts."""
    return MeteorTexts(lexicon())


def statistics(pairs: Iterable[Pair]) -> np.ndarray:
    """Return the statistics, shape (n, 23), of each hypothesis against the first of its
    references with the highest score.

    Parameters
    ----------
    pairs : iterable of (str, sequence of str)
        n hypotheses, each with its references, as raw text.

    Returns
    -------
    (n, 23) float64
        The answers of meteor-1.5.jar to SCORE: words of hypothesis and reference;
        function words of both; for each of the modules exact, stem, synonym and
        paraphrase the matched content words of both and the matched function words of
        both; chunks; matched words of both.

    Raises
    ------
    InputError
        For a hypothesis without references, or for texts with more than 4 million word
        matches.
    """
    items: list[Pair] = [
        (hypothesis, list(references)) for hypothesis, references in pairs
    ]
    with _input_errors():
        return kernels.best_statistics(new_table(), items)


def scores(pairs: Iterable[Pair]) -> np.ndarray:
    """Return segment scores of shape (n,) in [0, 1], each the highest over the
    references; see :func:`statistics`.

    >>> scores([("a dog runs", ["a dog runs", "a cat"])]).tolist()
    [1.0]
    """
    return scores_of(statistics(pairs))


def matrix(texts: Sequence[str]) -> np.ndarray:
    """Return the scores (T, T) of all pairs of T raw texts:
    rows the hypothesis, columns the reference.

    >>> matrix(["a dog runs", "a dog is running"]).shape
    (2, 2)
    """
    table = new_table()
    return matrices(table, table.intern(texts)[None])[0]


def matrices(table: MeteorTexts, text_ids: np.ndarray) -> np.ndarray:
    """Return the scores (B, N, N) of all pairs of the N texts of each of B examples;
    ``text_ids`` (B, N) are ids of ``table``.
    """
    with _input_errors():
        return kernels.matrices(table, text_ids)


def align_pairs(
    table: MeteorTexts,
    text_ids: np.ndarray,
    pairs: np.ndarray,
    *,
    with_statistics: bool,
) -> Aligned:
    """Align the same K pairs (hypothesis, reference) of every example; see
    :func:`caption_kernels.batches.meteor.align_pairs`.

    Raises
    ------
    InputError
        For texts with more than 4 million word matches.
    """
    with _input_errors():
        return kernels.align_pairs(
            table, text_ids, pairs, with_statistics=with_statistics
        )


@contextmanager
def _input_errors() -> Generator[None, None, None]:
    try:
        yield
    except kernels.UnusableTexts as error:
        raise InputError(str(error)) from error
