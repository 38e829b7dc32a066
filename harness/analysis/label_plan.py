"""Plan of the examples that people label: drawn from strata of a metric's scores, each example with its probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.analysis.human_labels import mean_predictions, named_systems, predictors, read_labels, stratify
from harness.analysis.pairs import ComparedRun
from harness.errors import HarnessError
from harness.run.finished import Run
from harness.stats.prediction_powered import allocate_labels

STRATA = 5
"""Default number of strata."""
UNIFORM = 0.5
"""Share of equal probabilities where a pilot tells strata apart (Zrnic & Candès 2024): no probability comes near 0."""


@dataclass(frozen=True)
class PlannedLabel:
    """A caption to label."""

    id: str
    system: str
    caption: str
    """Caption of the system; several of one example are joined by `` | ``."""
    probability: float
    """Probability with which the example was drawn."""
    stratum: float | None
    """Smallest prediction of the stratum; None without strata."""


def label_plan(
    run: str | Path | Run, budget: int, *, by: str | None = None, strata: int = STRATA, pilot: str | Path | None = None, seed: int = 0
) -> list[PlannedLabel]:
    """Return the captions of ``budget`` examples to label, those of all systems for each example.

    Parameters
    ----------
    run : str, Path or Run
        Run directory, ``RUN::MODEL``, or run.
    budget : int
        Number of examples.
    by : str, optional
        Metric or judge whose mean score over the systems forms strata of equal size; default: a simple random sample.
    strata : int
        Number of strata; fewer where scores are equal.
    pilot : str or Path, optional
        File of earlier labels: strata whose labels vary more are drawn more often (Neyman's allocation).
    seed : int
        Seed of the draw.

    Raises
    ------
    HarnessError
        The budget is larger than the number of examples, or gives a stratum fewer than two of them.
    """
    side = ComparedRun.open(run)
    named = named_systems(side)
    if pilot is not None and by is None:
        raise HarnessError("a pilot tells strata apart: name their metric with --by")
    metric = predictors(side, [by])[0] if by is not None else None
    examples = [example for example in side.systems[0].examples if all(example in system.row_of for system in side.systems)]
    values = np.array(list(mean_predictions(side.systems, metric).values())) if metric else np.zeros(len(examples))
    bounds = np.unique(np.quantile(values, np.arange(max(strata, 1)) / max(strata, 1), method="inverted_cdf"))
    groups = stratify(values, bounds.tolist())
    sizes = np.bincount(groups)
    if not 2 * len(sizes) <= budget <= len(examples) or sizes.min() < 2:
        raise HarnessError(
            f"--budget is {budget}; expected {2 * len(sizes)} (two for each stratum) to {len(examples)}, the examples of {side.name}",
            parameter="budget", value=budget,
        )  # fmt: skip
    spread = np.ones(len(sizes)) if pilot is None else _spread(read_labels(pilot, side).scores, examples, groups)
    counts = allocate_labels(budget, sizes, spread)
    rng = np.random.default_rng([seed, len(examples)])
    drawn = np.sort(np.concatenate([rng.permutation(np.flatnonzero(groups == k))[:count] for k, count in enumerate(counts)]))
    candidates = side.run.samples.lists("candidates")
    return [
        PlannedLabel(
            examples[row], name, " | ".join(candidates[int(system.rows[system.row_of[examples[row]]])]),
            float(counts[groups[row]] / sizes[groups[row]]), float(bounds[groups[row]]) if metric else None,
        )
        for row in drawn.tolist() for name, system in named.items()
    ]  # fmt: skip


def _spread(scores: Mapping[str, Mapping[str, float]], examples: Sequence[str], groups: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the mean scores of a pilot in each stratum, mixed with their mean; equal where they are unknown."""
    rated = np.array([np.mean([rows[example] for rows in scores.values() if example in rows] or [np.nan]) for example in examples])
    known = ~np.isnan(rated)
    if known.sum() < 2 or np.ptp(rated[known]) == 0:
        raise HarnessError("the labels of the pilot do not vary")
    of_strata = [rated[known & (groups == k)] for k in range(int(groups.max()) + 1)]
    deviations = np.array([np.std(values, ddof=1) if len(values) > 1 else np.std(rated[known]) for values in of_strata])
    return UNIFORM * float(deviations.mean()) + (1 - UNIFORM) * deviations
