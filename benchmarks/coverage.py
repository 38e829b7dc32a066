"""Coverage of the nominal 95 % intervals of the built-in metrics, by simulation.

    python -m benchmarks.coverage [--sizes 20 100 1000] [--replications 2000] [--metrics
    NAME ...] [--processes 2] [--strict]

Examples are drawn with replacement from a population: 5000 COCO images (golden values
of the repository), A3DS reference games, or simulated token scores. Statistics per
example are computed once; a replication draws their rows. The truth is the value of the
whole population, or, for a number whose expected value depends on the number of
examples, its mean over runs of that number. State that all samples share (document
frequencies, vocabularies) is fixed, and listed.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

# a library looks for the package of this name while another benchmark runs as a file
if __name__ == "coverage":
    raise ModuleNotFoundError(
        "the package 'coverage' is not installed", name="coverage"
    )

import numpy as np

from benchmarks import coverage_cases
from benchmarks.coverage_cases import CASES, NOT_RUN, Case
from harness.contracts import Interval, is_defined
from harness.errors import HarnessError
from harness.registry import current
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.intervals import nominal_estimate
from harness.stats import bootstrap

PER_SEED = 25
"""Replications that share a bootstrap seed, hence the weights."""
SAMPLES = 1000
"""Bootstrap samples of an interval, as in a run."""
TRUTH = 400
"""Minimum number of runs whose mean is the truth of a number that depends on the number
of examples.
"""
SECONDS = 15.0
"""Time for one metric and size; slow metrics have fewer replications,
at least :data:`FEWEST`.
"""
FEWEST = 100
Draw = Callable[[np.ndarray, int], dict[str, tuple[float, Interval]]]
"""Rows of the population and a seed -> column name -> number and interval."""


class Cell(NamedTuple):
    """Result of one metric at one size."""

    label: str
    size: int
    coverage: float
    replications: int
    printed: int
    """Replications with an interval."""
    width: float
    """Median width of the intervals."""
    note: str
    """Reason of the replications without an interval."""

    @property
    def error(self) -> float:
        """Monte Carlo standard error of the coverage."""
        return float(
            np.sqrt(
                max(self.coverage * (1 - self.coverage), 0.01) / max(1, self.printed)
            )
        )

    @property
    def mark(self) -> str:
        """``MISS`` for a goal missed by more than two standard errors,
        ``~`` for one missed by less.
        """
        low, high = (0.93, 1.0) if self.size < 100 else (0.94, 0.96)
        if low <= self.coverage <= high or not self.printed:
            return ""
        return (
            "MISS"
            if self.coverage + 2 * self.error < low
            or self.coverage - 2 * self.error > high
            else "~"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 100, 1000])
    parser.add_argument(
        "--replications",
        type=int,
        default=2000,
        help=f"simulated runs; slow metrics have down to {FEWEST}",
    )
    parser.add_argument("--metrics", nargs="+", help="registered names; default: all")
    parser.add_argument("--processes", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 where a goal is missed"
    )
    options = parser.parse_args()

    cases = [
        k
        for k, case in enumerate(CASES)
        if not options.metrics or case.name in options.metrics
    ]
    os.environ.update(
        OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", CAPTION_KERNELS_THREADS="1"
    )

    started = time.perf_counter()
    print(
        f"{'metric':34} {'n':>5} {'coverage':>8} {'MC s.e.':>8} {'median width':>13} "
        f"{'runs':>5}",
        flush=True,
    )

    misses = 0
    silent: dict[str, str] = {}
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        futures = {
            case: pool.submit(
                simulate, CASES[case], tuple(options.sizes), options.replications
            )
            # the slow ones start first
            for case in sorted(cases, key=lambda case: not CASES[case].of_size)
        }

        for case in cases:
            for cell in futures[case].result():
                if not cell.printed:
                    silent[cell.label] = cell.note
                    continue
                partly = (
                    ""
                    if cell.printed == cell.replications
                    else f"  {cell.replications - cell.printed} without interval"
                )
                print(
                    f"{cell.label:34} {cell.size:5} {cell.coverage:8.3f} "
                    f"{cell.error:8.3f} {cell.width:13.5g} "
                    f"{cell.replications:5}  {cell.mark}{partly}",
                    flush=True,
                )
                misses += cell.mark == "MISS"

    _print_rest([CASES[case] for case in cases], silent, bool(options.metrics))
    print(
        f"\n{misses} goals missed by more than two standard errors; "
        f"{time.perf_counter() - started:.0f} s"
    )
    return int(bool(misses) and options.strict)


def _print_rest(cases: list[Case], silent: dict[str, str], selected: bool) -> None:
    """Print the state that is held fixed, metrics without an interval,
    and metrics that are not simulated.
    """
    fixed: dict[str, list[str]] = {}
    for case in cases:
        if case.held_fixed and case.name not in fixed.setdefault(case.held_fixed, []):
            fixed[case.held_fixed].append(case.name)
    for state, names in fixed.items():
        print(f"held fixed: {state}: {', '.join(names)}")
    same = [label for case in cases if case.of_size for label in [case.name]]
    if same:
        print(f"truth of the same number of examples: {', '.join(dict.fromkeys(same))}")
    for label, note in silent.items():
        print(f"no interval: {label}: {note}")
    known = {*NOT_RUN, *(case.name for case in CASES)}
    unknown = {
        entry.name: "not in benchmarks/coverage_cases.py"
        for entry in current().entries("metrics")
        if entry.provider == "harness" and entry.name not in known
    }
    if not selected:
        for name, reason in {**NOT_RUN, **unknown}.items():
            print(f"not run: {name}: {reason}")


def simulate(case: Case, sizes: tuple[int, ...], replications: int) -> list[Cell]:
    """Return the results of one case at several sizes;
    one cell with a note where it cannot run.
    """
    _share_weights()
    try:
        draw, truth, count = (
            _tokens(case) if case.population == "tokens" else _captions(case)
        )
        cells: list[Cell] = []
        for size in sizes:
            cells += _cells(case, draw, truth, count, size, replications)
    except HarnessError as error:
        return [Cell(case.name, 0, float("nan"), 0, 0, 0.0, f"not run: {error}")]
    return cells


@functools.cache
def _share_weights() -> None:
    """Compute the bootstrap weights of a seed and size once per process instead of once
    per interval.
    """
    weights = bootstrap.weights

    @functools.lru_cache(maxsize=4)
    def stored(
        n_examples: int, samples: int, seed: int, chunk: int = 256
    ) -> list[np.ndarray]:
        return list(weights(n_examples, samples, seed, chunk))

    bootstrap.weights = stored  # type: ignore[assignment]


def _captions(case: Case) -> tuple[Draw, dict[str, float], int]:
    """Return the function that draws results, the values of the population,
    and its number of examples.
    """
    sets = coverage_cases.population(case.population)
    metric: Any = current().create("metrics", case.name, dict(case.params))
    features = FeatureCache([item.references for item in sets])
    label = metric.spec.name + ("(df: resampled)" if case.params.get("df") else "")
    # these numbers take minutes on the whole population
    if not (metric.spec.resampled or hasattr(metric, "interval")):
        sets = sets[:200]
    stats = scoring.score(
        metric, scoring.batches(sets, features, None), features, None, 0
    ).stats
    stats = stats[is_defined(stats)]

    def draw(rows: np.ndarray, seed: int) -> dict[str, tuple[float, Interval]]:
        if seed < 0:  # the number alone
            return {label: (float(metric.reduce(stats[rows])), Interval(None))}
        return {label: nominal_estimate(metric, stats[rows], SAMPLES, seed)}

    whole = metric.spec.resampled and not case.of_size
    return (
        draw,
        {label: float(metric.reduce(stats)) if whole else float("nan")},
        len(stats),
    )


def _tokens(case: Case) -> tuple[Draw, dict[str, float], int]:
    """Return as :func:`_captions` for a metric of token scores; a sum is compared with
    the mean times the number of examples.
    """
    tokens = coverage_cases.token_population()
    metric: Any = current().create("metrics", case.name, dict(case.params))
    count = len(tokens.images) - 1

    def draw(rows: np.ndarray, seed: int) -> dict[str, tuple[float, Interval]]:
        part = tokens.take(rows)
        values = metric.evaluate_scores(part)
        if seed < 0:
            return {name: (value, Interval(None)) for name, value in values.items()}
        intervals = metric.intervals(part, SAMPLES, seed)
        return {name: (value, intervals[name]) for name, value in values.items()}

    return draw, metric.evaluate_scores(tokens), count


def _cells(
    case: Case,
    draw: Draw,
    truth: dict[str, float],
    count: int,
    size: int,
    replications: int,
) -> list[Cell]:
    rng = np.random.default_rng([1, size])
    values: dict[str, list[float]] = {name: [] for name in truth}
    intervals: dict[str, list[Interval]] = {name: [] for name in truth}
    started = time.perf_counter()
    drawn = 0
    while drawn < replications and (
        drawn < FEWEST or time.perf_counter() - started < SECONDS
    ):
        for name, (value, interval) in draw(
            rng.integers(0, count, size), drawn // PER_SEED
        ).items():
            values[name].append(value)
            intervals[name].append(interval)
        drawn += 1
        if drawn == 3 and all(
            item.ends is None for items in intervals.values() for item in items
        ):
            break
    if case.of_size:
        more = [draw(rng.integers(0, count, size), -1) for _ in range(drawn, TRUTH)]
        for name, items in values.items():
            truth[name] = float(np.mean([*items, *(row[name][0] for row in more)]))
    scale = size / count  # of sums
    return [
        _cell(
            name,
            size,
            truth[name] * (scale if name.startswith("sum_") else 1.0),
            intervals[name],
        )
        for name in truth
    ]


def _cell(name: str, size: int, truth: float, intervals: list[Interval]) -> Cell:
    ends = np.array([item.ends for item in intervals if item.ends is not None]).reshape(
        -1, 2
    )
    note = next((item.note for item in intervals if item.ends is None), "")
    if len(ends) == 0:
        return Cell(name, size, float("nan"), len(intervals), 0, 0.0, note)
    covered = float(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])))
    return Cell(
        name,
        size,
        covered,
        len(intervals),
        len(ends),
        float(np.median(ends[:, 1] - ends[:, 0])),
        note,
    )


if __name__ == "__main__":
    sys.exit(main())
