"""Pairs of predicted and reference events whose overlap reaches a threshold, and
localisation by thresholds: the rules of ``densevid_eval`` and its descendants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from harness_metrics.dense.overlaps import ACTIVITYNET_EPSILON, time_overlaps
from harness_metrics.dense.videos import Video

BLOCK = 4096
"""Predictions whose overlaps are in memory at once."""


@dataclass(frozen=True)
class GarbageRule:
    """Treatment of a prediction without a match: pairs with a reference of no
    meaning.
    """

    text: str
    per_file: bool = False
    """One for each file of references before the first match, not one alone."""


class ThresholdPairs(NamedTuple):
    """Pairs of a video: matched ones, then one with the garbage per prediction."""

    predictions: np.ndarray
    """Prediction of each pair, shape (P,)."""
    references: np.ndarray
    """Event of the merged annotators, shape (P,); -1 for the garbage."""
    weights: np.ndarray
    """Number of times that each pair counts at each threshold, shape (T, P)."""


def overlapping(video: Video, lowest: float, *, strict: bool) -> tuple[np.ndarray, ...]:
    """Return predictions, merged reference events and overlaps of the pairs that reach
    a threshold, three arrays (K,), in the order of the predictions.
    """
    references = video.merged.places
    rows: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    values: list[np.ndarray] = []
    for first in range(0, len(video.system), BLOCK):
        block = video.system.places[first : first + BLOCK]
        overlaps = time_overlaps(block, references, ACTIVITYNET_EPSILON)
        own, other = np.nonzero(overlaps > lowest if strict else overlaps >= lowest)
        rows.append(own + first)
        columns.append(other)
        values.append(overlaps[own, other])
    empty = np.zeros(0, dtype=np.int64)
    return (
        np.concatenate([empty, *rows]),
        np.concatenate([empty, *columns]),
        np.concatenate([np.zeros(0), *values]),
    )


def threshold_pairs(
    video: Video, tious: Sequence[float], garbage: GarbageRule, *, strict: bool
) -> ThresholdPairs:
    """Return the pairs of a video at each threshold.

    A prediction is paired with every event of every annotator whose overlap reaches the
    threshold (is above it where ``strict``); one without a match with the garbage.
    """
    rows, columns, overlaps = overlapping(video, min(tious), strict=strict)
    n_files = len(video.annotators)
    n_predictions = len(video.system)
    matched: list[np.ndarray] = []
    unmatched: list[np.ndarray] = []
    for tiou in tious:
        hits = overlaps > tiou if strict else overlaps >= tiou
        first_file = np.full(n_predictions, n_files)
        np.minimum.at(first_file, rows[hits], video.annotator_of[columns[hits]])
        matched.append(hits.astype(np.int64))
        # the number of files passed before a match, or one for a prediction without
        unmatched.append(
            first_file if garbage.per_file else (first_file == n_files).astype(np.int64)
        )
    return ThresholdPairs(
        np.concatenate([rows, np.arange(n_predictions)]),
        np.concatenate([columns, np.full(n_predictions, -1)]),
        np.concatenate([np.array(matched), np.array(unmatched)], axis=1),
    )


def localisation(
    video: Video, thresholds: Sequence[float], covered: Callable[..., np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return precision and recall of a video at each threshold, two arrays (T,).

    Each is the largest over annotators, for itself.

    Parameters
    ----------
    video : Video
    thresholds : sequence of float
    covered : callable
        ``covered(predictions, references)`` returns closeness of all pairs (n, m) of
        times; a pair is covered where it is above the threshold.
    """
    precision = np.zeros(len(thresholds))
    recall = np.zeros(len(thresholds))
    n_predictions = len(video.system)
    if not n_predictions:
        return precision, recall
    for annotator in video.annotators:
        best_of_prediction = np.full(n_predictions, -np.inf)
        best_of_reference = np.full(len(annotator), -np.inf)
        for first in range(0, n_predictions, BLOCK):
            rows = slice(first, first + BLOCK)
            closeness = covered(video.system.places[rows], annotator.places)
            best_of_prediction[rows] = closeness.max(axis=1)
            best_of_reference = np.maximum(best_of_reference, closeness.max(axis=0))
        limits = np.asarray(thresholds, dtype=np.float64)[:, None]
        hits = (best_of_prediction[None] > limits).mean(axis=1)
        found = (best_of_reference[None] > limits).mean(axis=1)
        precision = np.maximum(precision, hits)
        recall = np.maximum(recall, found)
    return precision, recall


def start_closeness(predictions: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Return minus the distances of the starts of all pairs of times, (n, m)."""
    return -np.abs(predictions[:, None, 0] - references[None, :, 0])


def time_closeness(predictions: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Return the overlaps of all pairs of times, (n, m), as the evaluator of
    ActivityNet Captions computes them.
    """
    return time_overlaps(predictions, references, ACTIVITYNET_EPSILON)
