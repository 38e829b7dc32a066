"""SODA: captions of a video as a story, by an order-preserving alignment (Fujita et
al., "SODA: Story Oriented Dense Video Captioning Evaluation Framework", ECCV 2020,
section 3), from the paper.

Predictions and references of a video are put in order of their starts; the one-to-one
alignment in this order whose cells have the largest sum is found by dynamic
programming. Precision is the sum over the number of predictions, recall over that of
references.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.contracts import Features
from harness.errors import InputError
from harness_metrics.dense.options import Options
from harness_metrics.dense.overlaps import time_overlaps
from harness_metrics.dense.pair_scores import Pairs, PairScorer
from harness_metrics.dense.protocol import VideoProtocol, f_measures
from harness_metrics.dense.videos import Side, SideRules, Video

TIOUS = (0.3, 0.5, 0.7, 0.9)
"""Thresholds of SODA_a, those of ActivityNet Captions."""
MAX_CELLS = 4_000_000
"""Largest number of cells of a matrix of predictions and references."""


def alignment_sums(cells: np.ndarray) -> np.ndarray:
    """Return the largest sums of cells of order-preserving one-to-one alignments of the
    first i predictions and j references, shape (n + 1, m + 1).

    >>> alignment_sums(np.array([[1.0, 2.0], [3.0, 1.0]]))[-1, -1]
    np.float64(3.0)
    """
    n, m = cells.shape
    sums = np.zeros((n + 1, m + 1))
    for row in range(n):
        best = np.maximum(sums[row, 1:], sums[row, :-1] + cells[row])
        sums[row + 1, 1:] = np.maximum.accumulate(best)
    return sums


def best_alignment(cells: np.ndarray) -> np.ndarray:
    """Return the pairs (prediction, reference) of an alignment with the largest sum,
    shape (k, 2), in order.

    Of several, the one that aligns the last prediction and reference with each other
    wherever that loses nothing: cells of 0 are aligned too.
    """
    sums = alignment_sums(cells)
    row, column = cells.shape
    pairs: list[tuple[int, int]] = []
    while row and column:
        if sums[row, column] == sums[row - 1, column - 1] + cells[row - 1, column - 1]:
            row, column = row - 1, column - 1
            pairs.append((row, column))
        elif sums[row, column] == sums[row - 1, column]:
            row -= 1
        else:
            column -= 1
    return np.array(pairs[::-1], dtype=np.int64).reshape(-1, 2)


class SodaProtocol(VideoProtocol):
    """SODA_a to SODA_d; videos that either side lacks are left out."""

    def __init__(self, options: Options) -> None:
        options.refuse("seconds", "max_proposals")
        self.variant = options.protocol.removeprefix("soda-")
        if self.variant != "a":
            options.refuse("tious")
        self.tious = options.tious or TIOUS
        self.text = options.text
        self.measure = "f1" if options.measure == "score" else options.measure
        self.annotators = options.annotators or "best"
        self.is_exchanged = options.hypothesis == "reference"
        self.rules = SideRules(options.protocol)

    def scores(self, videos: Sequence[Video], features: Features) -> np.ndarray:
        """Return precision, recall or F1 of each video, shape (V,); NaN for a video
        without predictions or references.
        """
        sides: list[tuple[int, Side, Side]] = []
        for number, video in enumerate(videos):
            if not len(video.system) or not video.annotators:
                continue
            annotators = video.annotators
            if self.annotators == "merged":
                annotators = (video.merged,)
            system = _by_start(video.system)
            for annotator in annotators:
                check_cells(system, annotator, video.id, self.rules.name)
                sides.append((number, system, _by_start(annotator)))

        owners = np.array([number for number, _, _ in sides], dtype=np.int64)
        triples = self._triples(sides, features)
        scores = np.full(len(videos), np.nan)
        column = {"precision": 0, "recall": 1, "f1": 2}[self.measure]
        for number in np.unique(owners).tolist():
            own = triples[owners == number]
            if self.annotators == "mean":
                scores[number] = own[:, column].mean()
            else:
                scores[number] = own[own[:, 2].argmax(), column]
        return scores

    def _triples(
        self, sides: Sequence[tuple[int, Side, Side]], features: Features
    ) -> np.ndarray:
        """Return precision, recall and F1 of each pair of sides, shape (K, 3)."""
        matrices: list[np.ndarray] = []
        if self.variant != "d":
            own = [(system, annotator) for _, system, annotator in sides]
            if self.is_exchanged:
                exchanged = [(annotator, system) for system, annotator in own]
                transposed = text_matrices(exchanged, self.text, features)
                matrices = [matrix.T for matrix in transposed]
            else:
                matrices = text_matrices(own, self.text, features)
        sums: list[float] = []
        for number, (_, system, annotator) in enumerate(sides):
            overlaps = time_overlaps(system.places, annotator.places)
            texts = matrices[number] if matrices else overlaps
            sums.append(self._sum(overlaps, texts))
        total = np.array(sums)
        precision = total / np.array([len(system) for _, system, _ in sides])
        recall = total / np.array([len(annotator) for *_, annotator in sides])
        return np.stack([precision, recall, f_measures(precision, recall)], axis=1)

    def _sum(self, overlaps: np.ndarray, texts: np.ndarray) -> float:
        """Return the sum over the alignment of a video."""
        if self.variant == "d":
            return float(alignment_sums(overlaps)[-1, -1])
        if self.variant == "c":
            return float(alignment_sums(overlaps * texts)[-1, -1])
        if self.variant == "b":
            return _aligned_sum(overlaps, texts)
        cut = [np.where(overlaps >= tiou, overlaps, 0.0) for tiou in self.tious]
        return float(np.mean([_aligned_sum(cells, texts) for cells in cut]))


def _aligned_sum(cells: np.ndarray, texts: np.ndarray) -> float:
    pairs = best_alignment(cells)
    return float(texts[pairs[:, 0], pairs[:, 1]].sum())


def _by_start(side: Side) -> Side:
    """Return the events in the order of their starts; equal ones keep that of the
    file.
    """
    return side[np.argsort(side.places[:, 0], kind="stable")]


def check_cells(system: Side, annotator: Side, example: str, protocol: str) -> None:
    """Raise :class:`InputError` for a video with too many pairs to align."""
    cells = len(system) * len(annotator)
    if cells > MAX_CELLS:
        raise InputError(
            f"{len(system):,} predictions and {len(annotator):,} references make "
            f"{cells:,} pairs; the protocol {protocol} aligns at most {MAX_CELLS:,} "
            "(activitynet-2019 takes the first 1,000 predictions)",
            f"candidates: '{example}'",
        )


def text_matrices(
    sides: Sequence[tuple[Side, Side]], text: PairScorer, features: Features
) -> list[np.ndarray]:
    """Return the text score of every prediction with every reference of each pair of
    sides, matrices (n, m); all in one call of the text metric.
    """
    hyps = [np.repeat(system.texts, len(other)) for system, other in sides]
    refs = [np.tile(other.texts, len(system)) for system, other in sides]
    sizes = [len(texts) for texts in hyps]
    if not sum(sizes):
        return [np.zeros((len(system), len(other))) for system, other in sides]
    pairs = Pairs(
        len(sides),
        np.repeat(np.arange(len(sides)), sizes),
        np.concatenate(hyps),
        np.concatenate(refs),
    )
    scores = text.of_pairs(pairs, features)
    flat = np.split(scores, np.cumsum(sizes)[:-1])
    return [
        own.reshape(len(system), len(other))
        for own, (system, other) in zip(flat, sides)
    ]
