"""Protocol ``matched``, which is recommended: events matched one to one in any order.

Each annotator is a set of its own. The events of the system and of an annotator are
matched one to one so that the sum of overlap times text score is largest (Kuhn 1955);
precision is the sum over the number of predictions, recall over that of references, and
a video's F1 is the mean over its annotators. Nothing is gained by repeating an event,
by many short events, or by the order of the file; no text is compared with a reference
of no meaning. Empty and missing predictions count 0. The overlap is that of the events'
places: times, boxes in images, or boxes in scenes by their volume as they are turned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from harness.contracts import EventMatch, Features
from harness.errors import InputError, require
from harness.registry import current
from harness_metrics.dense.options import Options
from harness_metrics.dense.protocol import VideoProtocol, f_measures
from harness_metrics.dense.soda import check_cells, text_matrices
from harness_metrics.dense.videos import Side, SideRules, Video

OverlapFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Overlaps (n, m), in [0, 1], of places (n, ...) and (m, ...)."""
USUAL: Mapping[tuple[int, ...], str] = {
    (2,): "tiou",
    (4,): "iou",
    (8, 3): "iou3d",
}
"""Registered overlap by the shape of a place."""


class Matching(NamedTuple):
    """The events of a system matched with those of an annotator."""

    video: int
    annotator: int
    """Position among the annotators of the video; 0 where they are merged."""
    predictions: np.ndarray
    """Prediction of each pair, shape (k,)."""
    references: np.ndarray
    """Event of the annotator, or of all merged, of each pair, shape (k,)."""
    overlaps: np.ndarray
    texts: np.ndarray
    """Overlap and text score of each pair, two arrays (k,)."""
    n_predictions: int
    n_references: int

    @property
    def scores(self) -> np.ndarray:
        """Addends of the pairs to the sum, shape (k,)."""
        return self.texts * self.overlaps

    def pairs(self) -> list[EventMatch]:
        """Return the pairs, with the positions of this matching."""
        predictions: list[int] = self.predictions.tolist()
        references: list[int] = self.references.tolist()
        numbers: list[tuple[float, float, float]] = np.stack(
            [self.overlaps, self.texts, self.scores], axis=1
        ).tolist()
        return [
            EventMatch(prediction, self.annotator, reference, *own)
            for prediction, reference, own in zip(predictions, references, numbers)
        ]


def match(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and columns of the one-to-one matching of cells (n, m) with the
    largest sum, two arrays of the smaller of both sizes.

    >>> rows, columns = match(np.array([[0.9, 0.8], [0.8, 0.1]]))
    >>> rows.tolist(), columns.tolist()
    ([0, 1], [1, 0])
    """
    # 100 ms: only protocols that match need it
    optimize = require("scipy.optimize", needed_by="metric 'dense'")
    return optimize.linear_sum_assignment(cells, maximize=True)


class MatchedProtocol(VideoProtocol):
    """Precision, recall and F1 of an optimal matching."""

    def __init__(self, options: Options) -> None:
        options.refuse("tious", "seconds", "max_proposals")
        name = options.overlap
        self.overlap = None if name is None else overlap_function(name)
        self.text = options.text
        self.measure = "f1" if options.measure == "score" else options.measure
        self.annotators = options.annotators or "mean"
        turned = name in (None, "iou3d")
        self.rules = SideRules(options.protocol, geometry=None, turned=turned)

    def scores(self, videos: Sequence[Video], features: Features) -> np.ndarray:
        """Return precision, recall or F1 of each video, shape (V,)."""
        return self.scores_of(videos, self.matchings(videos, features))

    def scores_of(
        self, videos: Sequence[Video], matchings: Sequence[Matching]
    ) -> np.ndarray:
        """Return the scores of videos with these matchings, shape (V,)."""
        scores = np.array([0.0 if video.annotators else np.nan for video in videos])
        owners = np.array([matching.video for matching in matchings])
        values = _measures(matchings)[self.measure]
        for number in dict.fromkeys(owners.tolist()):
            scores[number] = values[owners == number].mean()
        return scores

    def matchings(self, videos: Sequence[Video], features: Features) -> list[Matching]:
        """Return the matchings whose measures are averaged, in the order of the videos;
        none for a video without predictions or annotators.
        """
        sides: list[tuple[int, int, Side, Side]] = []
        for number, video in enumerate(videos):
            if not video.annotators or not len(video.system):
                continue
            own = video.annotators
            if self.annotators == "merged":
                own = (video.merged,)
            for place, annotator in enumerate(own):
                check_geometry(video.system, annotator, video.id)
                check_cells(video.system, annotator, video.id, self.rules.name)
                sides.append((number, place, video.system, annotator))

        matrices = text_matrices([side[2:] for side in sides], self.text, features)
        matchings: list[Matching] = []
        for texts, (number, place, system, annotator) in zip(matrices, sides):
            overlaps = self._overlaps(system, annotator)
            rows, columns = match(texts * overlaps)
            matchings.append(
                Matching(
                    number,
                    place,
                    rows,
                    columns,
                    overlaps[rows, columns],
                    texts[rows, columns],
                    len(system),
                    len(annotator),
                )
            )
        return _best(matchings) if self.annotators == "best" else matchings

    def _overlaps(self, system: Side, annotator: Side) -> np.ndarray:
        """Return the overlaps of all events of two sides, (n, m)."""
        name = USUAL[system.places.shape[1:]]
        overlap = self.overlap or overlap_function(name)
        return overlap(system.places, annotator.places)


def _measures(matchings: Sequence[Matching]) -> dict[str, np.ndarray]:
    """Return precision, recall and F1 of matchings, arrays of their number."""
    sums = np.array([matching.scores.sum() for matching in matchings])
    precision = sums / np.array([matching.n_predictions for matching in matchings])
    recall = sums / np.array([matching.n_references for matching in matchings])
    f1 = f_measures(precision, recall)
    return {"precision": precision, "recall": recall, "f1": f1}


def _best(matchings: Sequence[Matching]) -> list[Matching]:
    """Return the matching of each video with the largest F1, the first of equals."""
    best: dict[int, tuple[float, Matching]] = {}
    values: list[float] = _measures(matchings)["f1"].tolist()
    for f1, matching in zip(values, matchings):
        if matching.video not in best or f1 > best[matching.video][0]:
            best[matching.video] = (f1, matching)
    return [matching for _, matching in best.values()]


def overlap_function(name: str) -> OverlapFunction:
    """Return a registered overlap; raise :class:`UnknownName` for another name."""
    return current().load("overlaps", name)


def check_geometry(system: Side, annotator: Side, example: str) -> None:
    """Raise :class:`InputError` for a prediction with other places than a reference."""
    if system.places.shape[1:] != annotator.places.shape[1:]:
        raise InputError(
            f"the predictions have {system.places[0].size} numbers each and the "
            f"references {annotator.places[0].size}; expected places of one kind",
            f"candidates: '{example}'",
        )
