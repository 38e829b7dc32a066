"""Coverage and size of the paired jackknife,
by which comparisons test numbers of a whole corpus.

    python -m benchmarks.paired_coverage [--sizes 50 200] [--seconds 20] [--metrics NAME
    ...]

Examples are drawn without replacement from 5000 COCO images (golden values of the
repository), with five captions of each of two systems: the first and the second five of
ten captioners. *Coverage* is the share of 95 % intervals of the difference that contain
its mean over all drawn runs of that number of examples; *power* is the share of
p-values of at most 0.05. For *size* the two systems of each example are exchanged with
probability one half, so that the expected difference is 0: it is the share of p-values
of at most 0.05 then. Goals: coverage of at least 0.93, size of at most 0.07, both
within two Monte Carlo standard errors; the exit status is 1 when one is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks import captions
from benchmarks.coverage_cases import CASES, GOLDEN_DATA, Case
from harness.contracts import CaptionSet, LeftOut, Statistics, join_statistics
from harness.registry import current
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.stats.resampled_difference import ResampledDifference, difference_of_parts

FEWEST = 60
"""Minimum number of runs of a cell."""
LEVEL = 0.05


class Cell(NamedTuple):
    """Result of one metric at one size."""

    coverage: float
    power: float
    size: float
    runs: int

    @property
    def missed(self) -> bool:
        """True where a goal is missed by more than two standard errors."""
        error = [
            2 * np.sqrt(max(x * (1 - x), 0.01) / self.runs)
            for x in (self.coverage, self.size)
        ]
        return bool(self.coverage + error[0] < 0.93 or self.size - error[1] > 0.07)


def systems() -> tuple[list[CaptionSet], list[CaptionSet]]:
    """Return the examples with the captions of both systems."""
    references = {
        row["image_id"]: row["references"]
        for row in captions.read_json_lines(GOLDEN_DATA / captions.REFERENCES)
    }
    sides: tuple[list[CaptionSet], list[CaptionSet]] = ([], [])
    for row in captions.read_json_lines(GOLDEN_DATA / captions.CAPTIONERS):
        texts = [text for name, text in row["candidates"].items() if name != "human_1"]
        for side, part in zip(sides, (texts[:5], texts[5:10])):
            side.append(
                CaptionSet(
                    str(row["image_id"]),
                    tuple(part),
                    tuple(references[row["image_id"]][:5]),
                )
            )
    return sides


def statistics(
    metric: Any, sides: tuple[list[CaptionSet], list[CaptionSet]]
) -> tuple[Statistics, Statistics]:
    """Return the statistics of both systems."""
    rows: list[Statistics] = []
    for sets in sides:
        features = FeatureCache([item.references for item in sets])
        rows.append(
            scoring.score(
                metric, scoring.batches(sets, features, None), features, None, 0
            ).stats
        )
    return rows[0], rows[1]


def compared(
    metric: Any, a: Statistics, b: Statistics, seed: int
) -> ResampledDifference:
    """Return the comparison of two systems from their statistics."""
    one, other = (metric.left_out(rows, seed) for rows in (a, b))
    difference = LeftOut(one.values - other.values, one.share, one.freedom)
    return difference_of_parts(
        float(metric.reduce(a)), float(metric.reduce(b)), difference
    )


def simulate(
    metric: Any, a: Statistics, b: Statistics, size: int, seconds: float
) -> Cell:
    """Return coverage, power and size for statistics of a population."""
    rng = np.random.default_rng([2, size])
    started = time.perf_counter()
    results: list[ResampledDifference] = []
    null: list[bool] = []
    while len(results) < FEWEST or time.perf_counter() - started < seconds:
        rows = rng.choice(len(a), size, replace=False)
        x, y = a[rows], b[rows]
        results.append(compared(metric, x, y, len(results)))
        swap = rng.random(size) < 0.5
        both = join_statistics([x, y])
        first = np.arange(size)
        sides = (
            both[np.where(swap, first + size, first)],
            both[np.where(swap, first, first + size)],
        )
        null.append(compared(metric, *sides, len(results)).p_value <= LEVEL)
    truth = float(np.mean([result.difference for result in results]))
    inside = [
        item.ci95 is not None and item.ci95[0] <= truth <= item.ci95[1]
        for item in results
    ]
    power = [item.p_value <= LEVEL for item in results]
    return Cell(
        float(np.mean(inside)),
        float(np.mean(power)),
        float(np.mean(null)),
        len(results),
    )


def main() -> int:
    """Print a row per metric and size; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 200])
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="time for one metric and size"
    )
    parser.add_argument(
        "--metrics",
        nargs="+",
        help="registered names; default: all metrics of the paired jackknife",
    )
    options = parser.parse_args()
    sides = systems()
    missed = 0
    print(
        f"{'metric':28} {'n':>5} {'coverage':>9} {'power':>7} {'size':>7} {'runs':>6}",
        flush=True,
    )
    for case in CASES:
        metric = _metric(case)
        if metric is None or (options.metrics and case.name not in options.metrics):
            continue
        a, b = statistics(metric, sides)
        for size in options.sizes:
            cell = simulate(metric, a, b, size, options.seconds)
            missed += cell.missed
            print(
                f"{metric.spec.name:28} {size:5} {cell.coverage:9.3f} "
                f"{cell.power:7.3f} {cell.size:7.3f} {cell.runs:6}"
                f"{'  goal missed' * cell.missed}",
                flush=True,
            )
    return int(bool(missed))


def _metric(case: Case) -> Any:
    """Return the metric of a case of several candidates that comparisons test by the
    jackknife, else None.
    """
    if case.population != "several":
        return None
    metric: Any = current().create("metrics", case.name, dict(case.params))
    return metric if hasattr(metric, "left_out") else None


if __name__ == "__main__":
    sys.exit(main())
