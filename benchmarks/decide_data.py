"""Addends of metrics for captioners of COCO and grades of THumB,
for :mod:`benchmarks.decide`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.captions import CAPTIONERS, data_folder, read_json_lines, references
from harness.analysis.score_logs import LoggedScore
from harness.contracts import CaptionSet
from harness.registry import current
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.sequences import mean_bounds
from harness.stats.anytime import influences

METRICS: dict[str, tuple[str, dict[str, Any]]] = {
    "cider": ("cider", {}),
    "meteor": ("meteor", {}),
    "rouge": ("rouge", {}),
    "bleu4": ("bleu4", {}),
    "trm": ("trm", {"distance": "rouge"}),
}
GRADES = "grades"
THUMB = "thumb_mscoco/judgments.jsonl.gz"
FAMILIES = ("init", "pre", "par", "merge")
"""Captioners of three seeds each, whose captions are the sets of TRM."""


@dataclass(frozen=True)
class Addends:
    """A metric with the addends of its systems on the same examples."""

    name: str
    metric: Any
    systems: Sequence[np.ndarray]
    """Addends (N, k) of each system."""

    @cached_property
    def bound(self) -> float | None:
        """Largest difference of two scores; None for a metric of the asymptotic
        sequence.
        """
        bounds = mean_bounds(self.metric)
        return bounds[1] - bounds[0] if bounds else None

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last captioner; the people before them are a system of the
        pairs alone.
        """
        return self.systems[
            1 if len(self.systems) > len(FAMILIES) else 0
        ], self.systems[-1]

    def value(self, addends: np.ndarray) -> float:
        """Return the number of addends (B, k)."""
        return float(self.metric.of_sums(addends.sum(axis=0, keepdims=True))[0])

    def influences_of(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the influences (B,) of the examples on the difference."""
        return influences(self.metric.of_sums, a) - influences(self.metric.of_sums, b)


def load(names: Sequence[str], cache: Path) -> list[Addends]:
    """Return the addends of the metrics, from the cache where it has them."""
    stored = dict(np.load(cache)) if cache.exists() else {}
    found: list[Addends] = []
    for name in names:
        if name == GRADES:
            found.append(grades())
            continue
        metric: Any = current().create("metrics", METRICS[name][0], METRICS[name][1])
        if name not in stored:
            start = time.perf_counter()
            stored[name] = np.stack(score_systems(metric, sets=name == "trm"))
            np.savez(cache, **stored)
            print(
                f"scored {name}: {stored[name].shape} in "
                f"{time.perf_counter() - start:.0f} s",
                flush=True,
            )
        found.append(Addends(name, metric, list(stored[name])))
    return found


def grades() -> Addends:
    """Return the grades of people for five systems of THumB in the place of a judge's:
    means of scores up to 5, scaled to [0, 1].
    """
    systems = [row["systems"] for row in read_json_lines(data_folder() / THUMB)]
    columns = [
        np.array([row[name]["human_score"] / 5 for row in systems])
        for name in sorted(systems[0])
    ]
    return Addends(
        GRADES,
        LoggedScore("grade of a judge", (0.0, 1.0)),
        [np.column_stack([c, np.ones(len(c))]) for c in columns],
    )


def score_systems(metric: Any, *, sets: bool) -> list[np.ndarray]:
    """Return the addends (N, k) of every captioner; ``sets``:
    of the captioners of one family together.
    """
    rows = read_json_lines(data_folder() / CAPTIONERS)
    texts = references()
    names = list(rows[0]["candidates"])
    systems = (
        [[name for name in names if name.startswith(family)] for family in FAMILIES]
        if sets
        else [[name] for name in names]
    )
    features = FeatureCache(texts)
    found = list[np.ndarray]()
    for system in systems:
        captions = [
            CaptionSet(
                str(k), tuple(row["candidates"][name] for name in system), tuple(own)
            )
            for k, (row, own) in enumerate(zip(rows, texts))
        ]
        scored = scoring.score(
            metric, scoring.batches(captions, features), features, None, 0
        )
        found.append(
            np.asarray(metric.summands(np.asarray(scored.stats)), dtype=np.float64)
        )
    return found
