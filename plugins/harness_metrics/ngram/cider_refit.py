"""CIDEr with document frequencies of the examples that are reduced, so that an interval
counts their uncertainty too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from caption_kernels import TextIndex, log
from caption_kernels.batches import ngram
from harness.contracts import Interval, Objects
from harness.stats import jackknife
from harness_metrics.words.grams import sparse_counts

GROUPS = 100
"""Maximum number of groups of examples that the interval leaves out in turn."""
HELD_FIXED = "document frequencies of all references held fixed"
"""Note of intervals under the document frequencies of the task."""
TESTABLE_FROM = 50
"""Examples from which on permutation p-values have their size under the document
frequencies of the task.

Words of an example's own references count one document more than words of its
candidates alone. Captions of people on both sides have p of .05 or less in .047 to .055
of 50 examples and .066 of 2; random words up to .06 and .12 (``benchmarks.promises``,
permutation).
"""
NOTE = (
    "jackknife with document frequencies refitted; "
    "for the expected value of this number of examples"
)
"""Note of intervals under refitted document frequencies."""


@dataclass(frozen=True, eq=False)
class _Shape:
    """Examples with the same numbers of candidates and references."""

    examples: np.ndarray
    """Positions, shape (b,)."""
    hyp: np.ndarray
    """Rows of the candidates in the index, shape (b, n)."""
    ref: np.ndarray
    """Rows of the references in the index, shape (b, m)."""


class Refit:
    """Texts of the examples, scored under the document frequencies of weighted
    examples.

    Parameters
    ----------
    objects : Objects
        Words of the captions of B examples
        (:class:`~harness_metrics.words.captions.CaptionWords`).
    plain : bool
        Use the original CIDEr instead of CIDEr-D.
    """

    def __init__(self, objects: Objects, plain: bool) -> None:
        self.plain = plain
        self.n_examples = len(objects)
        self.index = TextIndex("none")
        ids = np.unique(objects.values("words"), return_inverse=True)[1]
        texts = _texts(ids, objects.values("lengths"))
        text_rows = self.index.gram_rows(self.index.add(texts))

        # Examples of one shape are one array for the kernels; the rows of an example
        # are consecutive, candidates first.
        per_example = objects.counts["lengths"]
        starts = objects.starts("lengths")
        n_candidates = objects.values("candidates")
        sizes = np.stack([n_candidates, per_example], axis=1)
        self.shapes: list[_Shape] = []
        for n, total in np.unique(sizes, axis=0).tolist():
            examples = np.flatnonzero((n_candidates == n) & (per_example == total))
            block = text_rows[starts[examples][:, None] + np.arange(total)]
            hyp = np.ascontiguousarray(block[:, :n])
            ref = np.ascontiguousarray(block[:, n:])
            self.shapes.append(_Shape(examples, hyp, ref))

        self._documents = self._document_matrix()

    def _document_matrix(self) -> Any:
        """Return the sparse matrix (B, n_grams) with 1 where a reference of an example
        contains an n-gram.
        """
        index = self.index
        examples = [np.zeros(0, dtype=np.int64)]
        grams = [np.zeros(0, dtype=np.int64)]
        for shape in self.shapes:
            for example, rows in zip(shape.examples.tolist(), shape.ref):
                of_texts = [
                    ids for row in rows.tolist() for ids, _ in index.entries(row)
                ]
                ids = np.unique(np.concatenate(of_texts))
                examples.append(np.full(len(ids), example))
                grams.append(ids)

        size = (self.n_examples, index.n_grams)
        return sparse_counts(np.concatenate(examples), np.concatenate(grams), size)

    def value(self, weights: np.ndarray) -> float:
        """Return CIDEr of the examples with weights (B,):
        documents and scores count as often as they weigh.
        """
        # An n-gram that only examples without weight contain counts as unseen, as does
        # one in no document.
        counts = np.maximum(weights @ self._documents, 1.0)
        idf = ngram.unseen_idf(weights.sum()) - log(counts)

        scores = np.zeros(self.n_examples)
        for shape in self.shapes:
            present = np.flatnonzero(weights[shape.examples] > 0)
            pairs = ngram.cider(
                self.index,
                idf,
                0.0,
                shape.hyp[present],
                shape.ref[present],
                clip=not self.plain,
            )
            scores[shape.examples[present]] = pairs.mean(axis=2).mean(axis=1)
        return float((weights * scores).sum() / weights.sum())

    def interval(self, seed: int) -> Interval:
        """Return the interval of the value of all examples, from the values without
        each of up to :data:`GROUPS` groups.
        """
        # Groups, not single examples: each refit is a pass over the corpus, and up to
        # 100 values are enough for a standard error.
        groups = min(GROUPS, self.n_examples)
        rng = np.random.default_rng([seed, self.n_examples])
        order = rng.permutation(self.n_examples)

        values: list[float] = []
        for group in np.array_split(order, groups):
            weights = np.ones(self.n_examples)
            weights[group] = 0.0
            values.append(self.value(weights))

        value = self.value(np.ones(self.n_examples))
        ends = jackknife.interval(value, np.array(values))
        if ends is None:
            return Interval(None, "the results without some examples do not differ")
        return Interval(ends, NOTE)


def _texts(ids: np.ndarray, lengths: np.ndarray) -> list[str]:
    """Return one text per sentence, its words as numbers, for word ids (T,) and the
    numbers of words of the sentences (S,).
    """
    words = ids.astype(str)
    ends = np.cumsum(lengths)
    return [" ".join(words[start:stop]) for start, stop in zip(ends - lengths, ends)]
