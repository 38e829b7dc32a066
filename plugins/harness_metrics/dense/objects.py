"""Protocols of captions of objects in scenes: ``vote2cap``, ``scan2cap`` and
``scan2cap-benchmark`` (B/C/R/M@kIoU).

An example is a scene, its events are objects with boxes; descriptions of one object are
events of one label. The rules are those of the evaluators of Scan2Cap (Chen et al.,
CVPR 2021), Vote2Cap-DETR (Chen et al., CVPR 2023) and of the benchmark of ScanNet, in
words; no code of theirs is here. The overlap is that of the axis-aligned hulls in all
three, so that a turned box is scored by its hull, and is computed in single precision,
which decides whether two boxes of nominal overlap k match.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.contracts import EventSet, Features
from harness.errors import HarnessError, InputError
from harness_metrics.dense.corpus_captions import CorpusCaptions
from harness_metrics.dense.matched import match
from harness_metrics.dense.options import Options
from harness_metrics.dense.overlaps import generalised_scene_overlaps, scene_overlaps
from harness_metrics.dense.protocol import FittedProtocol, f_measures
from harness_metrics.dense.videos import Side, SideRules, Video

START, END = "sos", "eos"
"""Marks around a description, which count as words."""
MAX_TOKENS = 30
"""Words of a reference between the marks."""
SUPPRESSED = 0.25
"""Overlap above which the less sure of two boxes of one class is dropped."""
DEFAULT_IOU = 0.5


def marked_reference(text: str) -> str:
    """Return the first words of a description between the marks.

    >>> marked_reference("a round table")
    'sos a round table eos'
    """
    return " ".join([START, *_words(text)[:MAX_TOKENS], END])


def marked_candidate(text: str) -> str:
    """Return a caption between the marks, whole.

    >>> marked_candidate("sos a table eos"), marked_candidate("a table")
    ('sos a table eos', 'sos a table eos')
    """
    return " ".join([START, *_words(text), END])


def _words(text: str) -> list[str]:
    """Return the words of a text without its marks."""
    words = text.split()
    if words[:1] == [START]:
        words = words[1:]
    return words[:-1] if words[-1:] == [END] else words


@dataclass(frozen=True)
class SceneObjects:
    """The annotated objects of a scene."""

    places: np.ndarray
    """Corners of the box of each object, shape (k, 8, 3)."""
    references: tuple[tuple[str, ...], ...]
    """Descriptions of each object, with marks."""


def scene_objects(
    video: Video, features: Features, marked: Callable[[str], str]
) -> SceneObjects:
    """Return the objects of a scene in the order of the file; descriptions of one label
    are those of one object, and each without a label is an object.

    ``marked`` puts the marks around a description.
    """
    merged = video.merged
    rows: dict[str, list[int]] = {}
    for row, label in enumerate(merged.labels):
        rows.setdefault(label or f"\0{row}", []).append(row)
    texts: list[str] = [features.texts[k] for k in merged.texts.tolist()]
    return SceneObjects(
        merged.places.astype(np.float32)[[own[0] for own in rows.values()]],
        tuple(tuple(marked(texts[row]) for row in own) for own in rows.values()),
    )


def keep_sure_boxes(system: Side, example: str) -> Side:
    """Return the boxes that non-maximum suppression leaves, in the order of the file.

    Of two boxes of a class that overlap by more than :data:`SUPPRESSED` the less sure
    one is dropped. Boxes without confidence are taken as those that remained. Raises
    :class:`InputError` where some have a confidence and others none.
    """
    unsure = np.isnan(system.scores)
    if unsure.all():
        return system
    if unsure.any():
        raise InputError(
            f"{int(unsure.sum())} of {len(system)} boxes have no score; expected one "
            "for each, or none where boxes are suppressed already",
            f"candidates: '{example}'",
        )
    places = system.places.astype(np.float32)
    overlaps = scene_overlaps(places, places)
    classes = np.array(system.labels)
    remaining = np.ones(len(system), dtype=bool)
    for row in np.argsort(-system.scores, kind="stable").tolist():
        if remaining[row]:
            rivals = (overlaps[row] > SUPPRESSED) & (classes == classes[row])
            rivals[row] = False
            remaining &= ~rivals
    return system[np.flatnonzero(remaining)]


def _has_volume(system: Side) -> np.ndarray:
    """Return the mask of the boxes with a volume, shape (n,)."""
    sides = system.places.max(axis=1) - system.places.min(axis=1)
    return (sides > 0).all(axis=1)


class ObjectProtocol(FittedProtocol):
    """Corpus scores over all annotated objects: a box describes one object, which it
    must overlap by more than k; an object without a box has the marks alone.
    """

    def __init__(self, options: Options) -> None:
        options.refuse("seconds", "max_proposals", "annotators")
        options.refuse_measures("precision", "recall", "f1")
        self.by_centre = options.protocol == "scan2cap"
        self.captions = CorpusCaptions(options.metric, options.protocol)
        self.threshold = one_threshold(options)
        self.rules = SideRules(options.protocol, geometry="box3d")
        self.bounds = self.captions.metric.spec.bounds

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        """Return the corpus state of the text metric, whose documents are the
        objects.
        """
        return self.captions.metric.fit(
            object_references(references, marked_reference), features
        )

    def addends(
        self, videos: Sequence[Video], features: Features, state: Any
    ) -> np.ndarray:
        """Return the summands of the text metric over the objects of each scene, shape
        (V, k).
        """
        candidates: list[str] = []
        references: list[tuple[str, ...]] = []
        owners: list[int] = []
        for number, video in enumerate(videos):
            objects = scene_objects(video, features, marked_reference)
            boxes = keep_sure_boxes(video.system, video.id)
            boxes = boxes[_has_volume(boxes)]
            places = boxes.places.astype(np.float32)
            chosen = self._assign(places, objects.places)
            for row, texts in zip(chosen, objects.references):
                text = "" if row < 0 else features.texts[int(boxes.texts[row])]
                candidates.append(marked_candidate(text))
                references.append(texts)
                owners.append(number)
        summands = self.captions.sums(candidates, references, features, state)
        out = np.zeros((len(videos), summands.shape[1]))
        np.add.at(out, owners, summands)
        return out

    def _assign(self, boxes: np.ndarray, objects: np.ndarray) -> list[int]:
        """Return the box of each object, -1 for none."""
        chosen = [-1 for _ in objects]
        if not len(boxes):
            return chosen
        overlaps = scene_overlaps(boxes, objects)
        if self.by_centre:
            nearest = _centre_distances(boxes, objects).argmin(axis=1)
        else:
            nearest = overlaps.argmax(axis=1)
        places: list[int] = nearest.tolist()
        for row, place in enumerate(places):
            overlap = overlaps[row, place]
            if overlap <= self.threshold:
                continue
            earlier = chosen[place]
            # the last box stays by centre, the one of largest overlap else
            if earlier < 0 or self.by_centre or overlap > overlaps[earlier, place]:
                chosen[place] = row
        return chosen


class ObjectBenchmarkProtocol(FittedProtocol):
    """The benchmark of 2022: boxes and objects are matched one to one, and the scores
    of the captions are summed over boxes (precision) or objects (recall). References
    are whole, and all boxes count.
    """

    def __init__(self, options: Options) -> None:
        options.refuse("seconds", "max_proposals", "annotators")
        self.captions = CorpusCaptions(options.metric, options.protocol)
        self.threshold = one_threshold(options)
        self.measure = "f1" if options.measure == "score" else options.measure
        self.rules = SideRules(options.protocol, geometry="box3d", turned=True)
        self.bounds = self.captions.metric.spec.bounds

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        """As :meth:`ObjectProtocol.fit`."""
        return self.captions.metric.fit(
            object_references(references, marked_candidate), features
        )

    def addends(
        self, videos: Sequence[Video], features: Features, state: Any
    ) -> np.ndarray:
        """Return the sum of the scores, and the numbers of boxes and of objects, shape
        (V, 3).
        """
        candidates: list[str] = []
        references: list[tuple[str, ...]] = []
        owners: list[int] = []
        out = np.zeros((len(videos), 3))
        for number, video in enumerate(videos):
            objects = scene_objects(video, features, marked_candidate)
            out[number, 1:] = len(video.system), len(objects.places)
            if not len(video.system):
                continue
            places = video.system.places.astype(np.float32)
            chosen = _match(places, objects.places)
            overlaps = scene_overlaps(places, objects.places)
            for place, row in enumerate(chosen.tolist()):
                if overlaps[row, place] >= self.threshold:
                    text = features.texts[int(video.system.texts[row])]
                    candidates.append(marked_candidate(text))
                    references.append(objects.references[place])
                    owners.append(number)
        scores = self.captions.scores(candidates, references, features, state)
        np.add.at(out[:, 0], owners, scores)
        return out

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return precision, recall or F1 (...) of sums (..., 3)."""
        precision = sums[..., 0] / np.maximum(sums[..., 1], 1)
        recall = sums[..., 0] / np.maximum(sums[..., 2], 1)
        if self.measure == "f1":
            return f_measures(precision, recall)
        return precision if self.measure == "precision" else recall


def one_threshold(options: Options) -> float:
    """Return the overlap k; raise :class:`HarnessError` for several."""
    thresholds = list(options.tious or [DEFAULT_IOU])
    if len(thresholds) > 1:
        raise HarnessError(
            f"dense: the protocol {options.protocol} has one threshold; expected tious "
            "with one number, such as [0.5]",
            parameter="tious",
            value=thresholds,
        )
    return thresholds[0]


def object_references(
    references: Sequence[Sequence[str]], marked: Callable[[str], str]
) -> list[list[str]]:
    """Return the descriptions of each object of all scenes, from the sets of events of
    the scenes.
    """
    objects: list[list[str]] = []
    for texts in references:
        by_label: dict[str, list[str]] = {}
        for text in texts:
            for event in EventSet.from_text(text).events:
                label = event.label or f"\0{len(by_label)}"
                by_label.setdefault(label, []).append(marked(event.text))
        objects += by_label.values()
    return objects


def _centre_distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the distances of the centres of all pairs of boxes, (n, m)."""
    centres, others = (
        (boxes.min(axis=1) + boxes.max(axis=1)) / 2 for boxes in (first, second)
    )
    return np.linalg.norm(centres[:, None] - others[None], axis=2)


def _match(boxes: np.ndarray, objects: np.ndarray) -> np.ndarray:
    """Return the box of each object, (k,): one to one with the largest sum of
    generalised overlaps; an object without a box of its own has the first.
    """
    rows, columns = match(generalised_scene_overlaps(boxes, objects))
    chosen = np.zeros(len(objects), dtype=np.int64)
    chosen[columns] = rows
    return chosen
