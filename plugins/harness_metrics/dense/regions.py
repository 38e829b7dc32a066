"""Protocol ``densecap``: mean average precision of captions of image regions (Johnson,
Karpathy & Fei-Fei, "DenseCap", CVPR 2016, section 4.2), by the rules of its evaluator,
in words.

An example is an image, its events are regions: left, top, right and bottom pixel, all
of them inside. Every prediction has a confidence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.contracts import Features, Objects
from harness_metrics.dense.corpus_captions import CorpusCaptions
from harness_metrics.dense.options import Options
from harness_metrics.dense.videos import Side, SideRules, Video, check_confidence

MERGED = 0.7
"""Overlap from which on two reference regions are one."""
OVERLAPS = (0.3, 0.4, 0.5, 0.6, 0.7)
TEXT_SCORES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
"""Thresholds over whose pairs the mean is taken."""
RECALLS = tuple(np.cumsum([0.0] + [0.01] * 99).tolist())
"""Recalls of the average: the sum of hundredths passes 1 before its last point, so that
there are 100 and not 101.
"""


def pixel_overlaps(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the IoU of all pairs of regions, (n, m): the last pixel belongs to a
    region.

    >>> pixel_overlaps(np.array([[0.0, 0, 1, 1]]), np.array([[1.0, 0, 2, 1]])).round(3)
    array([[0.333]])
    """
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    common = np.maximum(high - low + 1, 0.0).prod(axis=2)
    areas = (first[:, 2:] - first[:, :2] + 1).prod(axis=1)
    others = (second[:, 2:] - second[:, :2] + 1).prod(axis=1)
    return common / (areas[:, None] + others - common)


def merge_regions(places: np.ndarray) -> list[np.ndarray]:
    """Return the groups of reference regions that are one: repeatedly the region with
    most others that overlap it, the first of equals, with these.
    """
    near = pixel_overlaps(places, places) >= MERGED
    remaining = np.ones(len(places), dtype=bool)
    groups: list[np.ndarray] = []
    while remaining.any():
        counts = np.where(remaining, (near & remaining).sum(axis=1), -1)
        group = np.flatnonzero(near[counts.argmax()] & remaining)
        groups.append(group)
        remaining[group] = False
    return groups


def assign_regions(overlaps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the merged region of each prediction and whether it is the first one
    there, two arrays (n,), for overlaps (n, k) in the order of falling confidence.

    A prediction takes the region that it overlaps most, however little; one that
    touches none takes the last.
    """
    chosen = np.where(overlaps.max(axis=1) > 0, overlaps.argmax(axis=1), -1)
    chosen %= overlaps.shape[1]
    is_first = np.zeros(len(chosen), dtype=bool)
    is_first[np.unique(chosen, return_index=True)[1]] = True
    return chosen, is_first


def average_precision(hits: np.ndarray, total: int) -> float:
    """Return the mean over :data:`RECALLS` of the largest precision at no smaller a
    recall.

    Parameters
    ----------
    hits : ndarray
        True for a true positive, shape (n,), in the order of falling confidence.
    total : int
        Number of merged reference regions.
    """
    found = np.cumsum(hits)
    precision = found / np.arange(1, len(hits) + 1)
    recall = found / total
    # the largest precision at this prediction or behind it
    best = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    return float(best[np.searchsorted(recall, RECALLS)].mean())


def precisions_at_hits(hits: np.ndarray) -> np.ndarray:
    """Return the largest precision from each true positive on, shape (k, m), 0 behind
    the last of the m that a threshold has at most.

    Precision falls at every false positive, so that the largest one is at a true one.

    Parameters
    ----------
    hits : ndarray
        True for a true positive, shape (k, n): thresholds by predictions in the order
        of falling confidence.

    Examples
    --------
    >>> precisions_at_hits(np.array([[False, True, True, True], [True] + [False] * 3]))
    array([[0.75, 0.75, 0.75],
           [1.  , 0.  , 0.  ]])
    """
    counts = np.count_nonzero(hits, axis=1)
    rows = np.repeat(np.arange(len(hits)), counts)
    found = np.arange(1, len(rows) + 1) - (np.cumsum(counts) - counts)[rows]
    # positions in the flat array, of which those of a row begin at its number times n
    predictions = np.flatnonzero(hits) - rows * hits.shape[1] + 1

    precision = np.zeros((len(hits), int(counts.max(initial=0))))
    precision[np.arange(precision.shape[1]) < counts[:, None]] = found / predictions
    return np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]


class RegionProtocol:
    """Mean of the average precisions over thresholds of overlap and text score."""

    bounds = (0.0, 1.0)
    depends_on = ("candidates",)

    def __init__(self, options: Options) -> None:
        options.refuse("seconds", "max_proposals", "annotators")
        options.refuse_measures("recall", "f1")
        self.captions = CorpusCaptions(options.metric, options.protocol)
        self.overlaps = options.tious or OVERLAPS
        # localisation asks for nothing of the text
        is_localisation = options.measure == "precision"
        self.text_scores = (-1.0,) if is_localisation else TEXT_SCORES
        self.rules = SideRules(options.protocol, geometry="box")

    def collect(
        self, videos: Sequence[Video], features: Features
    ) -> list[dict[str, np.ndarray] | None]:
        """Return the predictions of each image: confidence, overlap, text score, and
        whether each is the first of its region, with the number of regions.
        """
        candidates: list[str] = []
        references: list[list[str]] = []
        records: list[dict[str, np.ndarray] | None] = []
        for video in videos:
            if not video.annotators:
                records.append(None)
                continue
            merged = video.merged
            groups = merge_regions(merged.places)
            places = np.array([merged.places[group].mean(axis=0) for group in groups])
            system = _by_confidence(video.system, video.id)
            record = {"regions": np.array([len(groups)])}
            if len(system):
                overlaps = pixel_overlaps(system.places, places)
                chosen, is_first = assign_regions(overlaps)
                record["confidence"] = system.scores
                record["overlap"] = overlaps[np.arange(len(chosen)), chosen]
                record["first"] = is_first
                for row, place in enumerate(chosen.tolist()):
                    rows = merged.texts[groups[place]].tolist()
                    candidates.append(features.texts[int(system.texts[row])])
                    references.append([features.texts[k] for k in rows])
            records.append(record)

        scores = self.captions.scores(candidates, references, features, None)
        start = 0
        for record in records:
            if record is not None and "first" in record:
                stop = start + len(record["first"])
                record["text"] = scores[start:stop]
                start = stop
        return records

    def number(self, objects: Objects) -> float:
        """Return the mean average precision of all images."""
        total = int(objects.values("regions").sum())
        if "first" not in objects.columns:
            return 0.0
        order = np.argsort(-objects.values("confidence"), kind="stable")
        overlaps = objects.values("overlap")[order]
        texts = objects.values("text")[order]
        is_first = objects.values("first")[order]
        precisions = [
            average_precision((overlaps >= overlap) & is_first & (texts > score), total)
            for overlap in self.overlaps
            for score in self.text_scores
        ]
        return float(np.mean(precisions))

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return :meth:`number` of the images of each row of weights (W, B), which say
        how often an image counts, shape (W,).

        Predictions are compared with the thresholds once.
        """
        if "first" not in objects.columns:
            return np.zeros(len(weights))
        overlaps = objects.values("overlap")
        texts = objects.values("text")
        hits = np.array(
            [
                (overlaps >= overlap) & objects.values("first") & (texts > score)
                for overlap in self.overlaps
                for score in self.text_scores
            ]
        )
        # whole numbers are sorted faster
        ranks = np.unique(-objects.values("confidence"), return_inverse=True)[1]
        ranks = ranks.astype(np.min_scalar_type(len(ranks)))
        regions = np.zeros(len(objects))
        np.add.at(regions, objects.owners("regions"), objects.values("regions"))

        predictions = Objects(
            {"first": np.arange(len(ranks))},
            {"first": objects.counts["first"]},
            objects.defined,
        )
        images = np.arange(len(objects))
        numbers = np.zeros(len(weights))
        for position, row in enumerate(weights):
            drawn = predictions[np.repeat(images, row.astype(np.int64))].values("first")
            drawn = drawn[np.argsort(ranks[drawn], kind="stable")]
            best = precisions_at_hits(hits.take(drawn, axis=1))
            precisions = _at_recalls(best, int(row @ regions)).mean(axis=1)
            numbers[position] = precisions.mean()
        return numbers


def _at_recalls(best: np.ndarray, total: int) -> np.ndarray:
    """Return the largest precision at no smaller a recall than each of
    :data:`RECALLS`, shape (k, 100), from those at the true positives (k, m) of so many
    regions.
    """
    # true positives that reach a recall; the first one reaches that of 0
    needed = np.searchsorted(np.arange(total + 1) / total, RECALLS).clip(min=1)
    padded = np.zeros((len(best), best.shape[1] + 1))
    padded[:, :-1] = best
    return padded.take(np.minimum(needed - 1, best.shape[1]), axis=1)


def _by_confidence(system: Side, example: str) -> Side:
    """Return the predictions in the order of falling confidence, those of the file
    among equals; raise :class:`InputError` for one without.
    """
    check_confidence(system, example, "the protocol densecap")
    return system[np.argsort(-system.scores, kind="stable")]
