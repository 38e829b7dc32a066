"""Metrics ``chair-i``, ``chair-s`` and ``object-recall``: objects of captions against
those of annotations or references.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from harness.contracts import (
    Batch,
    CaptionSet,
    Features,
    MeanMetric,
    MetricSpec,
    PathParam,
    SumMetric,
)
from harness.contracts.parameters import check_arguments
from harness.errors import InputError
from harness_metrics.bases.example_values import features_by_example
from harness_metrics.hallucination.objects import is_text_list, object_table

Truth = Literal["references", "annotations", "both"]


class Counts(NamedTuple):
    """Counts of one caption."""

    mentions: int
    """Mentions of objects, with repetitions."""
    hallucinated: int
    """Mentions of objects that are not there."""
    covered: int
    """Distinct objects that are there and mentioned."""
    objects: int
    """Distinct objects that are there."""


def counts(mentions: Sequence[str], truth: frozenset[str]) -> Counts:
    """Return the counts of a caption that mentions objects,
    against the objects that are there.

    >>> counts(["dog", "dog", "cat"], frozenset({"dog", "person"}))
    Counts(mentions=3, hallucinated=1, covered=1, objects=2)
    """
    false = sum(item not in truth for item in mentions)
    return Counts(len(mentions), false, len(truth.intersection(mentions)), len(truth))


class ObjectMetric(MeanMetric):
    """Base class: the objects of each caption against the truth; a subclass defines
    ``name``, ``higher`` and ``of_example``.

    Parameters
    ----------
    truth : {"references", "annotations", "both"}
        Objects that are there: those that a reference mentions, those of the example's
        meta, or both.
    key : str, default "objects"
        Key of the annotations in the meta of an example: a list of names that the table
        contains.
    table : path, default "coco"
        Table of synonyms: ``coco``, or a YAML or JSON file
        (:func:`harness_metrics.hallucination.objects.object_table`).

    Raises
    ------
    InputError
        For an invalid table; in ``stats`` for an example without annotations, or with
        an object that the table lacks.

    References
    ----------
    Rohrbach et al. 2018, *Object Hallucination in Image Captioning*, section 2.1.
    """

    name = "unnamed"
    higher = False
    of_all_candidates = False
    """True for a score of the objects of all candidates together,
    which depends on their number.
    """

    @check_arguments
    def __init__(
        self,
        *,
        truth: Truth = "references",
        key: str = "objects",
        table: PathParam = "coco",
    ) -> None:
        self.truth = truth
        self.key = key
        self.table = object_table(table)

        details: list[str] = []
        if truth != "references":
            details.append(truth)
        if table != "coco":
            details.append(self.table.name)
        label = f"{self.name}({','.join(details)})" if details else self.name

        needs = frozenset({"references"})
        if truth == "annotations":
            needs = frozenset[str]()
        sizes = needs
        if self.of_all_candidates:
            sizes |= {"candidates"}
        untestable = "reads annotations" if truth != "references" else ""
        self.spec = MetricSpec(
            label,
            self.higher,
            needs=needs,
            bounds=(0.0, 1.0),
            untestable=untestable,
            depends_on=sizes,
        )

    def signature(self) -> str:
        """Return a text such as ``chair-i|references|coco-1acdb52088df``."""
        truth = self.truth if self.truth == "references" else f"{self.truth}:{self.key}"
        return f"{self.name}|{truth}|{self.table.signature()}"

    def of_example(self, captions: Sequence[Counts]) -> tuple[float, ...]:
        """Return the statistics of an example from the counts of its captions, the
        first NaN where they are undefined.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define of_example(captions)"
        )

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the statistics, shape (B, d)."""

        def find(texts: list[str]) -> list[list[str]]:
            return [self.table.mentions(text) for text in texts]

        key = ("objects", self.table.signature())
        mentions = features_by_example(features, batch, key, find)

        rows: list[tuple[float, ...]] = []
        for item, (candidates, references) in zip(batch.sets, mentions):
            truth = frozenset[str]()
            if self.truth != "annotations":
                truth |= {name for text in references for name in text}
            if self.truth != "references":
                truth |= self._read_annotations(item)
            rows.append(self.of_example([counts(text, truth) for text in candidates]))
        return np.array(rows, dtype=np.float64).reshape(len(batch), -1)

    def _read_annotations(self, item: CaptionSet) -> frozenset[str]:
        """Return the annotated objects of an example."""
        labels = item.meta.get(self.key)
        if not is_text_list(labels):
            keys = ", ".join(sorted(item.meta)) or "no meta"
            raise InputError(
                f"{self.name}: the example '{item.id}' has no list of objects under "
                f"'{self.key}' (found {keys}); "
                "truth: references takes the objects of the references"
            )
        location = f"{self.name}: example '{item.id}'"
        return frozenset(self.table.object_of(label, location) for label in labels)


class ChairI(ObjectMetric, SumMetric):
    """Share of the mentioned objects that are not there, over all captions of the run,
    in [0, 1]; lower is better.

    The number is the ratio of sums over examples. An example whose captions mention no
    object is undefined. Parameters are those of :class:`ObjectMetric`.
    """

    name = "chair-i"
    of_all_candidates = True

    def of_example(self, captions: Sequence[Counts]) -> tuple[float, ...]:
        """Return the numbers of hallucinated and of all mentions."""
        mentions = sum(item.mentions for item in captions)
        if not mentions:
            return float("nan"), 0.0
        return float(sum(item.hallucinated for item in captions)), float(mentions)

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        """Return the share of each example, shape (B,)."""
        return stats[:, 0] / stats[:, 1]

    def summands(self, stats: np.ndarray) -> np.ndarray:
        """Return the statistics, shape (B, 2)."""
        return stats

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return the shares (...) of summed numbers of mentions (..., 2)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return sums[..., 0] / sums[..., 1]


class ChairS(ObjectMetric):
    """Share of the captions that mention an object that is not there, in [0, 1];
    lower is better.

    Parameters are those of :class:`ObjectMetric`.
    """

    name = "chair-s"

    def of_example(self, captions: Sequence[Counts]) -> tuple[float, ...]:
        """Return the share of the captions of an example."""
        return (float(np.mean([item.hallucinated > 0 for item in captions])),)


class ObjectRecall(ObjectMetric):
    """Mean share of the objects that are there that a caption mentions, in [0,
    1]; higher is better.

    An example without objects is undefined. AMBER calls the share cover. Parameters are
    those of :class:`ObjectMetric`.
    """

    name = "object-recall"
    higher = True

    def of_example(self, captions: Sequence[Counts]) -> tuple[float, ...]:
        """Return the mean share over the captions of an example."""
        if not captions[0].objects:
            return (float("nan"),)
        return (float(np.mean([item.covered / item.objects for item in captions])),)
