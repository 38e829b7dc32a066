"""Coverage of the intervals of agreement with people, by the number of judged items:
the table of harness/judgments/coverage.py.

    python -m benchmarks.agreement_coverage [--runs 1000] [--statistics NAME ...]
    [--items 2 3 ...]

Judgments are drawn whose agreement with a metric is known, the items are resampled as a
run of judgments does, and the printed intervals that contain the truth are counted. Of
each statistic the lowest coverage of these cases is printed, with the cases below it:

- *normal*: continuous judgments and scores;
- *skewed*: both are lognormal, of skewness 6;
- *votes*: the mean of three votes from 1 to 4, and a score that is 0 for a third of the
  captions, as BLEU is.

Rated captions are one of an item, or three of an item that have a common part;
statistics within items have three captions. Those of systems have five systems, of
which the metric confuses two, with one caption of each for every item. Labels of
detection are the highest three of ten judgments. Soft pairwise accuracy is estimated
for the number of items at hand: its truth is the mean over the runs.

Below :data:`FEW` items a quarter of the runs is drawn. 500 resamples stand for the
1,000 of a run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from harness.judgments.coverage import interval_of_resamples
from harness.judgments.pair_credit import correctness
from harness.judgments.rated_agreement import CORRELATIONS, correlate_groups
from harness.stats import bootstrap
from harness.stats.correlation import (
    SoftPairwiseAccuracy,
    across_systems,
    pairwise_differences,
)
from harness.stats.quantiles import wilson_interval
from harness.stats.weighted_correlation import Detection, pairs_within

SIZES = (2, 3, 5, 7, 10, 20, 50, 100)
"""Numbers of items."""
KINDS = ("normal", "skewed", "votes")
DESIGNS = ((1, 0.0), (3, 1.0))
"""Captions of an item, and the standard deviation of their common part;
that of their own part is 1.
"""
WITHIN = ((3, 0.0), (3, 1.0))
"""The same for statistics within items."""
RESAMPLES = 500
FEW = 7
PER_SEED = 20
"""Runs that share the weights of the resamples, which take as long as the statistics.
"""
TRUTH = 60_000
"""Items of which the true agreement is computed."""
LEVELS = np.array([0.0, 0.4, 0.8, 1.2, 1.6])
"""Quality of five systems for people."""
CONFUSED = np.array([0.0, 0.4, 1.2, 0.8, 1.6])
"""The same for the metric."""
ROWS = ("kendall_b", "kendall_c", "spearman", "pearson", "auc", "average_precision")
ITEMS = ("kendall_within", "accuracy")
SYSTEMS = (
    "pearson_system",
    "spearman_system",
    "kendall_system",
    "accuracy_system",
    "soft_pairwise_accuracy",
)
STATISTICS = (*ROWS, *ITEMS, *SYSTEMS)
Reduce = Callable[[np.ndarray], np.ndarray]
"""Weights of items (W, items) -> values (W,)."""


@dataclass(frozen=True)
class Case:
    """A kind of judgments of captions by a design."""

    kind: str
    captions: int
    effect: float

    def __str__(self) -> str:
        return f"{self.kind}, {self.captions} captions an item" + (
            " with a common part" if self.effect else ""
        )

    def draw(
        self,
        rng: np.random.Generator,
        items: int,
        levels: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> list[np.ndarray]:
        """Return the item, the judgment and the score of each caption; with levels of
        systems, captions are those of the systems.
        """
        item = np.repeat(np.arange(items), self.captions)
        shared = self.effect * rng.normal(size=items)[item]
        quality = shared + rng.normal(size=len(item))
        metric = (
            quality
            + rng.normal(size=len(item))
            + 0.5 * self.effect * rng.normal(size=items)[item]
        )
        if levels is not None:
            quality = quality + np.tile(levels[0], items)
            metric = metric + np.tile(levels[1], items)
        spread = np.sqrt(1 + self.effect**2), np.sqrt(2 + 1.25 * self.effect**2)
        if self.kind == "skewed":
            return [item, np.exp(quality / spread[0]), np.exp(metric / spread[1])]
        if self.kind == "votes":
            votes = np.clip(
                np.round(
                    quality[:, None] + 0.5 * rng.normal(size=(len(item), 3)) + 2.5
                ),
                1,
                4,
            )
            return [
                item,
                votes.mean(axis=1),
                np.maximum(metric / spread[1] + 0.43, 0.0),
            ]
        return [item, quality, metric]


def cases_of(statistic: str) -> list[Case]:
    """Return the cases on which a statistic is measured."""
    if statistic in SYSTEMS:
        return [
            Case(kind, len(LEVELS), effect)
            for kind, effect in product(KINDS, (0.0, 1.0))
        ]
    designs = WITHIN if statistic in ITEMS else DESIGNS
    return [Case(kind, *design) for kind, design in product(KINDS, designs)]


def reduce_of(
    statistic: str, data: Sequence[np.ndarray], items: int, threshold: float
) -> Reduce:
    """Return a statistic of judgments as a function of the weights of items,
    as the package computes it.
    """
    item, human, scores = data
    if statistic in SYSTEMS:
        # [item, system]
        of_people = human.reshape(items, -1)
        of_metric = scores.reshape(items, -1)
        if statistic == "soft_pairwise_accuracy":
            return SoftPairwiseAccuracy(
                pairwise_differences(of_people.T), pairwise_differences(of_metric.T)
            )
        name = statistic.removesuffix("_system")
        return lambda weights: across_systems(
            weights @ of_people / items, weights @ of_metric / items, name
        )
    if statistic in CORRELATIONS:
        correlation = CORRELATIONS[statistic](scores, human)
        return lambda weights: correlation(weights[:, item])
    if statistic in ("auc", "average_precision"):
        detection = Detection(scores, human >= threshold, statistic)
        return lambda weights: detection(weights[:, item])
    if statistic == "accuracy":
        i, j = pairs_within(item)
        credit = correctness(scores[i] - scores[j], human[i] - human[j])
        counted = ~np.isnan(credit)
        sums, counts = (
            np.bincount(item[i][counted], values, items)
            for values in (credit[counted], np.ones(counted.sum()))
        )
    else:
        coefficients = correlate_groups(statistic, scores, human, item, items)
        sums = np.nan_to_num(coefficients)
        counts = (~np.isnan(coefficients)).astype(np.float64)

    def mean(weights: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return (weights @ sums) / (weights @ counts)

    return mean


@cache
def find_truth(statistic: str, case: Case) -> tuple[float, float]:
    """Return the agreement in :data:`TRUTH` items, NaN where it depends on their
    number, and the smallest judgment of a positive label.
    """
    whole = case.draw(
        np.random.default_rng(1),
        TRUTH,
        (LEVELS, CONFUSED) if statistic in SYSTEMS else None,
    )
    threshold = float(np.quantile(whole[1], 0.7))
    if statistic == "soft_pairwise_accuracy":
        return float("nan"), threshold
    return float(
        reduce_of(statistic, whole, TRUTH, threshold)(np.ones((1, TRUTH)))[0]
    ), threshold


def measure(
    statistic: str, case: Case, items: int, runs: int, seed: int = 0
) -> tuple[int, int]:
    """Return the number of printed intervals that contain the true agreement,
    and the number of printed ones.
    """
    rng = np.random.default_rng([seed, items, *map(ord, str(case))])
    levels = (LEVELS, CONFUSED) if statistic in SYSTEMS else None
    truth, threshold = find_truth(statistic, case)
    values = np.full(runs, np.nan)
    ends: list[tuple[float, float] | None] = []
    for run in range(runs):
        reduce = reduce_of(statistic, case.draw(rng, items, levels), items, threshold)
        values[run] = reduce(np.ones((1, items)))[0]
        ends.append(
            None
            if np.isnan(values[run])
            else _interval(statistic, reduce, values[run], items, run // PER_SEED)
        )
    if np.isnan(truth):
        truth = float(np.nanmean(values))
    printed = np.array([found for found in ends if found is not None]).reshape(-1, 2)
    return int(
        ((printed[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= printed[:, 1])).sum()
    ), len(printed)


def _interval(
    statistic: str, reduce: Reduce, value: float, items: int, seed: int
) -> tuple[float, float] | None:
    resampled = bootstrap.distribution(reduce, items, RESAMPLES, seed)
    found = interval_of_resamples(resampled)
    if found.ends is None and statistic == "accuracy" and not np.isnan(resampled).any():
        return wilson_interval(value, items)
    return found.ends


def cells(statistic: str, items: int, runs: int) -> Iterator[tuple[Case, int, int]]:
    """Yield each case with the number of hits and of printed intervals;
    a tenth of the runs has to print one.
    """
    runs = runs if items >= FEW else runs // 4
    for case in cases_of(statistic):
        hits, printed = measure(statistic, case, items, runs)
        if printed >= runs // 10:
            yield case, hits, printed


def main() -> int:
    """Print the table and the lowest cases; exit status 0."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.agreement_coverage",
        description=(__doc__ or "").partition("\n\n")[0],
    )
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument(
        "--statistics", nargs="*", default=STATISTICS, choices=STATISTICS
    )
    parser.add_argument("--items", nargs="*", type=int, default=SIZES)
    args = parser.parse_args()
    for statistic in args.statistics:
        row: list[str] = []
        for items in args.items:
            found = [
                (hits / printed, str(case))
                for case, hits, printed in cells(statistic, items, args.runs)
            ]
            if found:
                row.append(f"{items}: {min(found)[0]:.3f}")
                cases = "; ".join(
                    f"{share:.3f} {case}" for share, case in sorted(found)
                )
                print(f"# {statistic} {items}: {cases}", file=sys.stderr, flush=True)
        print(f'    "{statistic}": {{{", ".join(row)}}},', flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
