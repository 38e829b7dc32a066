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

import numpy as np

from harness.contracts import Features
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


def matched_sum(cells: np.ndarray) -> float:
    """Return the largest sum of cells (n, m) of a one-to-one matching.

    >>> matched_sum(np.array([[0.9, 0.8], [0.8, 0.1]]))
    1.6
    """
    rows, columns = match(cells)
    return float(cells[rows, columns].sum())


def match(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and columns of the one-to-one matching of cells (n, m) with the
    largest sum, two arrays of the smaller of both sizes.
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
        sides: list[tuple[Side, Side]] = []
        owners: list[int] = []
        scores = np.zeros(len(videos))
        for number, video in enumerate(videos):
            if not video.annotators:
                scores[number] = np.nan
            elif len(video.system):
                own = video.annotators
                if self.annotators == "merged":
                    own = (video.merged,)
                for annotator in own:
                    check_geometry(video.system, annotator, video.id)
                    check_cells(video.system, annotator, video.id, self.rules.name)
                    sides.append((video.system, annotator))
                    owners.append(number)

        matrices = text_matrices(sides, self.text, features)
        sums = np.array(
            [
                matched_sum(texts * self._overlaps(system, annotator))
                for texts, (system, annotator) in zip(matrices, sides)
            ]
        )
        precision = sums / np.array([len(system) for system, _ in sides])
        recall = sums / np.array([len(annotator) for _, annotator in sides])
        f1 = f_measures(precision, recall)
        values = {"precision": precision, "recall": recall, "f1": f1}[self.measure]
        for number in dict.fromkeys(owners):
            own_rows = np.flatnonzero(np.array(owners) == number)
            if self.annotators == "best":
                own_rows = own_rows[[f1[own_rows].argmax()]]
            scores[number] = values[own_rows].mean()
        return scores

    def _overlaps(self, system: Side, annotator: Side) -> np.ndarray:
        """Return the overlaps of all events of two sides, (n, m)."""
        name = USUAL[system.places.shape[1:]]
        overlap = self.overlap or overlap_function(name)
        return overlap(system.places, annotator.places)


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
