"""Mean average precision of ``scan2cap-benchmark``: captions of objects in scenes,
sorted by the confidence of their boxes, by the rules of the benchmark of 2022 in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness.contracts import Features, Objects
from harness.errors import HarnessError
from harness_metrics.dense.nltk_meteor import NltkMeteor
from harness_metrics.dense.objects import SceneObjects, marked_candidate, scene_objects
from harness_metrics.dense.options import Options
from harness_metrics.dense.overlaps import scene_overlaps
from harness_metrics.dense.videos import Side, SideRules, Video, check_confidence
from harness_metrics.dense.wordnet import installed_wordnet

NAME = "the mean average precision of scan2cap-benchmark"
OVERLAPS = (0.1, 0.2, 0.3, 0.4, 0.5)
TEXT_SCORES = (0.15, 0.3, 0.45, 0.6, 0.75)
"""Thresholds over whose pairs the mean is taken."""


class ObjectPrecisionProtocol:
    """Mean of the average precisions over thresholds of overlap and METEOR of NLTK.

    A box goes to the object that it overlaps and describes best: of the objects in the
    order of the file, each takes the place of the one before if both its overlap and
    its METEOR are larger. The surest box of an object that is above both thresholds is
    a true positive, every other box a false one; of equally sure boxes the later one
    comes first.
    """

    bounds = (0.0, 1.0)
    depends_on = ("candidates",)

    def __init__(self, options: Options) -> None:
        options.refuse("seconds", "max_proposals", "annotators")
        if options.metric.spec.name != "meteor":
            raise HarnessError(
                "dense: the mean average precision of scan2cap-benchmark has METEOR of "
                "NLTK; expected no 'text' beside 'measure: map', found "
                f"'{options.metric.spec.name}'",
                parameter="text",
            )
        self.text = NltkMeteor(installed_wordnet())
        self.text_signature = self.text.signature
        self.overlaps = options.tious or OVERLAPS
        self.rules = SideRules(options.protocol, geometry="box3d")

    def collect(
        self, videos: Sequence[Video], features: Features
    ) -> list[dict[str, np.ndarray] | None]:
        """Return the confidence of the boxes of each scene and their true positives
        (n, thresholds), in the order of the file, and the number of its objects.
        """
        records: list[dict[str, np.ndarray] | None] = []
        for video in videos:
            if not video.annotators:
                records.append(None)
                continue
            objects = scene_objects(video, features, marked_candidate)
            record = {"scenes": np.array([len(objects.places)])}
            if len(video.system):
                check_confidence(video.system, video.id, NAME)
                record["confidence"] = video.system.scores
                record["hits"] = self._true_positives(video.system, objects, features)
            records.append(record)
        return records

    def _true_positives(
        self, system: Side, objects: SceneObjects, features: Features
    ) -> np.ndarray:
        """Return 1 where a box is the surest of its object above both thresholds, shape
        (n, thresholds).
        """
        overlaps = scene_overlaps(system.places.astype(np.float32), objects.places)
        hits = np.zeros((len(system), len(self.overlaps) * len(TEXT_SCORES)))
        has_box = np.zeros((len(objects.places), hits.shape[1]), dtype=bool)
        for row in surest_first(system.scores).tolist():
            caption = marked_candidate(features.texts[int(system.texts[row])])
            place, overlap, score = self._best_object(caption, overlaps[row], objects)
            above = [
                overlap > low and score > lowest
                for low in self.overlaps
                for lowest in TEXT_SCORES
            ]
            first = np.array(above) & ~has_box[place]
            has_box[place] |= first
            hits[row] = first
        return hits

    def _best_object(
        self, caption: str, overlaps: np.ndarray, objects: SceneObjects
    ) -> tuple[int, float, float]:
        """Return the object of a box, its overlap and the score of the caption."""
        best = (0, -np.inf, -np.inf)
        for place, overlap in enumerate(overlaps.tolist()):
            # the text is compared only where the overlap is larger
            if overlap > best[1]:
                score = self.text.best_score(caption, objects.references[place])
                if score > best[2]:
                    best = (place, overlap, score)
        return best

    def number(self, objects: Objects) -> float:
        """Return the mean average precision of all scenes."""
        total = int(objects.values("scenes").sum())
        if "hits" not in objects.columns:
            return 0.0
        hits = objects.values("hits")[surest_first(objects.values("confidence"))]
        return float(np.mean([*average_precisions(hits, total)]))


def average_precisions(hits: np.ndarray, total: int) -> Iterator[float]:
    """Yield the area below precision over recall of each column of hits (n, k), each
    precision replaced by the largest one at no smaller a recall.

    >>> [float(area) for area in average_precisions(np.array([[1.0], [0.0], [1.0]]), 2)]
    [0.8333333333333333]
    """
    counts = np.cumsum(hits, axis=0)
    precision = counts / np.arange(1, len(hits) + 1)[:, None]
    best = np.maximum.accumulate(precision[::-1], axis=0)[::-1]
    # recall grows by 1 / total at each true positive, and nowhere else
    yield from (best * hits).sum(axis=0) / total


def surest_first(confidence: np.ndarray) -> np.ndarray:
    """Return the rows of boxes by falling confidence, of equal ones the later first.

    >>> surest_first(np.array([0.5, 0.9, 0.5])).tolist()
    [1, 2, 0]
    """
    return np.argsort(confidence, kind="stable")[::-1]
