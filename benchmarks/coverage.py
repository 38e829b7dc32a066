"""Coverage of the nominal 95 % intervals of the built-in metrics, by simulation.

    python -m benchmarks.coverage [--sizes 20 100 1000] [--draws 2000] [--metrics NAME ...] [--strict]

Examples are drawn with replacement from real captions (captioners on COCO); the population is therefore known. The truth is the
value on all examples. For metrics whose value depends on the size of the corpus (``cr``, ``nrr``, ``cnd``, ``cider`` with
``df: resampled``) it is the mean value of corpora of the same size.

"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

if not __package__:  # run as a file: start again as a module
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")]
    )
    os.execv(sys.executable, [sys.executable, "-m", "benchmarks.coverage", *sys.argv[1:]])

from benchmarks.captions import captioner_sets, find_data_folder, shipped_sets
from harness.contracts import Metric
from harness.registry import current
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.intervals import estimate
from harness.stats import bootstrap

SINGLE: list[tuple[str, dict[str, Any]]] = [
    ("bleu1", {}), ("bleu2", {}), ("bleu3", {}), ("bleu4", {}), ("meteor", {}), ("rouge", {}), ("cider", {}), ("ciderd", {}),
    ("cider", {"variant": "plain"}), ("chrf", {}), ("ter", {}), ("wmd", {}), ("novelty", {}),
    ("cr", {}), ("nrr", {}), ("cnd", {}), ("cnd", {"form": "unbiased"}), ("nrr", {"form": "cross-sentence"}),
    ("cider", {"df": "resampled"}),
]  # fmt: skip
"""Metrics of one candidate per example."""
SEVERAL: list[tuple[str, dict[str, Any]]] = [
    ("trm", {"distance": "meteor"}), ("trm", {"distance": "cider"}), ("mmd", {"embedding": "bow"}),
    ("frechet", {"embedding": "bow"}), ("energy", {"embedding": "bow"}), ("sliced-wasserstein", {"embedding": "bow"}),
    ("mmd", {}), ("mauve-example", {"embedding": "bow", "k": 2}), ("pairwise-bleu", {}), ("best", {"metric": "rouge"}),
    ("self-bleu", {"conditional": True}), ("cnd", {"conditional": True}),
]  # fmt: skip
"""Metrics of five candidates per example."""
NONE: list[tuple[str, dict[str, Any]]] = [
    ("distinct", {}), ("vocabulary", {}), ("self-bleu", {}), ("mauve", {"embedding": "bow"}), ("corpus-bleu", {}),
]  # fmt: skip
"""Metrics that print no interval: their reason is listed."""
LIMITS = {True: (0.93, 1.0), False: (0.94, 0.96)}
"""Goals, by whether there are fewer than 100 examples."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 100, 1000])
    parser.add_argument("--draws", type=int, default=2000, help="simulated runs of up to 100 examples; fewer of more")
    parser.add_argument("--metrics", nargs="+", help="registered names; default: all")
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a goal is missed")
    options = parser.parse_args()
    sets = captioner_sets() if find_data_folder() else shipped_sets()
    single = [dataclasses.replace(item, candidates=item.candidates[3:4]) for item in sets]
    several = [dataclasses.replace(item, candidates=item.candidates[:5]) for item in sets]
    bootstrap.weights = functools.lru_cache(maxsize=4)(
        _weights_once(bootstrap.weights)
    )  # shared by all metrics of a seed
    print(f"{len(sets)} examples in the population; MC error of a coverage of .95 with {options.draws} draws: "
          f"{np.sqrt(0.95 * 0.05 / options.draws):.4f}")  # fmt: skip
    missed = 0
    for population, choices in ((single, SINGLE), (several, SEVERAL), (several, NONE)):
        features = FeatureCache([item.references for item in population])
        parts = scoring.batches(population, features, None)
        for name, params in choices:
            if not options.metrics or name in options.metrics:
                missed += _report(name, params, parts, features, options.sizes, options.draws)
    print(f"{missed} goals missed beyond Monte Carlo error")
    return int(bool(missed) and options.strict)


def _weights_once(weights: Any) -> Any:
    """Return ``weights`` with lists in place of generators, so that they can be read again."""
    return lambda *args: list(weights(*args))


def _report(name: str, params: dict[str, Any], parts: Any, features: Any, sizes: list[int], draws: int) -> int:
    """Print the coverage of one metric and return the number of goals that it misses."""
    try:
        metric = current().create("metrics", name, params)
        stats = scoring.score(metric, parts, features, None, 0).stats
    except Exception as error:
        print(f"{name:28} not simulated: {error!s:.90}")
        return 0
    label = metric.spec.name + ("[df=resampled]" if params.get("df") else "")
    stats = stats[~np.isnan(stats[:, 0])]
    missed = 0
    cells: list[str] = []
    for size in sizes:
        count = draws if size <= 100 else max(200, draws // 5)
        if getattr(metric, "resampled", False) and size > 100:
            count = 200
        result = coverage(metric, stats, size, count)
        if result is None:
            print(f"{label:28} {estimate(metric, stats[:20], 100, 0)[1].note}")
            return 0
        share, below, printed = result
        low, high = LIMITS[size < 100]
        error = 2 * np.sqrt(share * (1 - share) / max(1, printed))
        bad = share + error < low or share - error > high
        missed += bad
        partly = f" [{printed}/{count} printed]" if printed < count else ""
        cells.append(f"n={size}: {share:.3f} (below {below:.3f}){'*' if bad else ' '}{partly}")
    print(f"{label:28} {'  '.join(cells)}", flush=True)
    return missed


def coverage(
    metric: Metric, stats: np.ndarray, size: int, draws: int, seed: int = 1
) -> tuple[float, float, int] | None:
    """Return the share of intervals that contain the truth, the share above it, and the number of intervals.

    None when the metric prints no interval.
    """
    rng = np.random.default_rng([seed, size])
    values, ends = [], []
    for draw in range(draws):
        rows = stats[rng.integers(0, len(stats), size)]
        value, interval = estimate(metric, rows, 1000, draw // 50)
        values.append(value)
        if interval.ends is not None:
            ends.append(interval.ends)
        if draw == 20 and not ends:
            return None
    of_size = depends_on_size(metric)
    truth = float(np.mean(values)) if of_size else float(metric.reduce(stats))
    low, high = np.array(ends).T
    return float(np.mean((low <= truth) & (truth <= high))), float(np.mean(low > truth)), len(ends)


def depends_on_size(metric: Any) -> bool:
    """Return True for a metric whose expected value depends on the number of examples."""
    return getattr(metric, "resampled", False) or (hasattr(metric, "form") and not metric.conditional)


if __name__ == "__main__":
    sys.exit(main())
