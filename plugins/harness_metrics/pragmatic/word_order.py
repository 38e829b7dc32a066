"""Metric ``adjective-order``: size before colour,
as in the grammar of A3DS and in ordinary English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness_metrics.bases.example_values import mean_of_defined
from harness_metrics.pragmatic.lexicon import HUES, SCALES, SHAPES

_NOUN = re.compile(
    r"\b(?:" + "|".join(sorted(map(re.escape, SHAPES), key=len, reverse=True)) + r")\b"
)
_SIZE = re.compile(
    r"\b(?:" + "|".join(sorted(map(re.escape, SCALES), key=len, reverse=True)) + r")\b"
)
_COLOUR = re.compile(
    r"\b(?:" + "|".join(sorted(map(re.escape, HUES), key=len, reverse=True)) + r")\b"
)


def size_first(text: str) -> float:
    """Return 1 if the size of the object precedes its colour, 0 if it follows, NaN
    unless both precede the first noun of a shape.

    >>> (
    ...     size_first("a tiny red ball on green floor"),
    ...     size_first("a red tiny ball"),
    ...     size_first("a red ball"),
    ... )
    (1.0, 0.0, nan)
    """
    words = text.lower().replace("-", " ")
    noun = _NOUN.search(words)
    before = words[: noun.start()] if noun else ""
    size = _SIZE.search(before)
    colour = _COLOUR.search(before)
    return float(size.start() < colour.start()) if size and colour else float("nan")


class AdjectiveOrder(MeanMetric):
    """Share of captions that name the size of the object before its colour, in [0, 1];
    undefined for captions without both.

    No direction: it describes the order, which the paper names as future work. The
    score of an example is the mean over its defined captions.

    References
    ----------
    Tsvilodub & Franke, "Evaluating pragmatic abilities of image captioners on A3DS"
    (ACL 2023), section Limitations.
    """

    expected_check_failures: ClassVar[Mapping[str, str]] = {
        "scores": "the sample captions name no shape of 3D Shapes "
        "after a size and a colour"
    }

    def __init__(self) -> None:
        self.spec = MetricSpec(
            "adjective-order",
            None,
            needs=frozenset(),
            bounds=(0.0, 1.0),
            untestable="describes the order of words",
        )

    def signature(self) -> str:
        """Return the name of the metric."""
        return "adjective-order|a3ds"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the share of each example, shape (B,);
        NaN where no caption has both adjectives.
        """
        means: list[float] = []
        for item in batch.sets:
            values = [size_first(text) for text in item.candidates]
            means.append(mean_of_defined(values))
        return np.array(means)
