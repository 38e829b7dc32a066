"""Null size of the tests between two metrics that were judged on the same items.

    python -m benchmarks.metric_tests [--power] [--runs 4000] [--statistics NAME ...] [--designs 60x5 ...]

Judgments of items with several captions are simulated, with four grades and image effects of people. Two nulls:

- *exchanged*: two continuous metrics with item effects of standard deviation 2, whose joint distribution is symmetric;
- *other distributions*: a continuous metric without item effects against one with effects of 2 and with ties; the noise of the first
  is set so that both agree equally well with people in 300,000 items.

With ``--power`` two real sets (below HARNESS_DATA) are subsampled instead: for pairs of metrics, as many items as ``harness power
--compare`` names are drawn with replacement, and the share of exchange tests up to .05 is printed, which is to be .8.

Printed is the share of p-values up to .05: of 199 exchanges by item (the default) and by caption, and of the jackknife over items. Exit
status 1 when exchange by item or the jackknife exceeds .06, or exchange by item is below .04 for exchanged metrics.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable

import numpy as np

from benchmarks.judgments import data_folder
from harness import api
from harness.analysis.difference_power import pilots
from harness.judgments.agreement import CORRELATIONS
from harness.judgments.execute import score_metrics
from harness.judgments.plan import JudgmentPlan
from harness.run.execution import Execution
from harness.rundir.provenance import Provenance
from harness.stats.jackknife import t_test, weights_without_items
from harness.stats.metric_tests import KendallOfScores, permute_scores
from harness.stats.weighted_correlation import Detection

DRAWS = 199
LARGE = 300_000
STATISTICS: dict[str, Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]] = {
    **CORRELATIONS,
    "auc": lambda scores, human: Detection(scores, human >= 3, "auc"),
    "average_precision": lambda scores, human: Detection(scores, human >= 3, "average_precision"),
}


def draw_judgments(rng: np.random.Generator, items: int, captions: int, effect: float, noise: float) -> list[np.ndarray]:
    """Return the item, the grade and the scores of four metrics of each caption: two exchanged ones, and two of other distributions."""
    n = items * captions
    item = np.repeat(np.arange(items), captions)
    quality = rng.normal(size=n) + effect * rng.normal(size=items)[item]
    human = np.clip(np.round(quality + rng.normal(size=n) / 2 + 2.5), 1, 4)
    plain = quality + noise * rng.normal(size=n)
    tied = np.round((quality + 2 * rng.normal(size=items)[item] + rng.normal(size=n)) / 1.5)
    exchanged = [human + 2 * rng.normal(size=items)[item] + rng.normal(size=n) for _ in range(2)]
    return [item, human, *exchanged, plain, tied]


def equal_noise(statistic: str, effect: float) -> float:
    """Return the noise of the continuous metric with which it agrees with people as the one with ties does."""
    low, high = 0.1, 12.0
    for _ in range(12):
        noise = (low + high) / 2
        _, human, _, _, plain, tied = draw_judgments(np.random.default_rng(9), LARGE, 1, effect, noise)
        first, second = (STATISTICS[statistic](scores, human)(np.ones((1, LARGE)))[0] for scores in (plain, tied))
        low, high = (noise, high) if first > second else (low, noise)
    return low


def p_values(statistic: str, data: list[np.ndarray], first: int, seed: int) -> list[float]:
    """Return the p-values of exchange by item, exchange by caption and the jackknife, of the metrics in columns first and first + 1."""
    item, human, a, b = data[0], data[1], data[first], data[first + 1]
    ones = np.ones((1, len(human)))
    make = STATISTICS[statistic]
    of_scores: Callable[[np.ndarray], np.ndarray] = lambda scores: np.array([make(row, human)(ones)[0] for row in scores])  # noqa: E731
    if statistic in ("kendall_b", "kendall_c"):
        of_scores = KendallOfScores(human, statistic[-1])
    of_a, of_b = make(a, human), make(b, human)
    weights = weights_without_items(int(item[-1]) + 1)[:, item]
    return [
        *(permute_scores(of_scores, a, b, unit=unit, draws=DRAWS, seed=seed) for unit in (item, None)),
        t_test(of_a(weights) - of_b(weights))[1],
    ]


PAIRS = (
    ("judgments/thumb", "cider", "bleu4"), ("judgments/thumb", "meteor", "bleu4"), ("judgments/thumb", "cider", "meteor"),
    ("judgments/flickr8k-expert", "meteor", "rouge"), ("judgments/flickr8k-expert", "cider", "meteor"),
)  # fmt: skip
"""Judgment set and two metrics that a number of items is to separate."""


def check_power(runs: int) -> int:
    """Print the power with the numbers of items that are named for two metrics; return 1 where it is far from .8."""
    missed = False
    for task, first, second in PAIRS:
        with tempfile.TemporaryDirectory() as folder:
            api.evaluate(task, metrics=[first, second], output=folder)
            (pilot,), difference, _ = pilots(folder, [first, second])
        needed = int((pilot.difference_power(difference, pilot.examples).needed or (0,))[0])
        plan = api.plans(task, metrics=[first, second])[0]
        assert isinstance(plan, JudgmentPlan)
        rows, sets = plan.prepare()
        scored = score_metrics(plan, sets, Execution(Provenance({})))
        a, b = (metric.scores.scores[rows.rated.caption, 0] for metric in scored)
        members = [np.flatnonzero(rows.rated.item == k) for k in range(rows.items)]
        rng, statistic = np.random.default_rng(0), plan.spec.statistics[0]
        significant = 0
        for draw in range(runs):
            drawn = [members[k] for k in rng.integers(0, rows.items, needed)]
            rows_drawn, item = np.concatenate(drawn), np.repeat(np.arange(needed), [len(part) for part in drawn])
            human = rows.rated.human[rows_drawn]
            of_scores = KendallOfScores(human, statistic[-1]) if statistic.startswith("kendall") else pearson_of_scores(human)
            significant += permute_scores(of_scores, a[rows_drawn], b[rows_drawn], unit=item, draws=DRAWS, seed=draw) <= 0.05
        print(f"{task:<28}{first:<8}{second:<8}{needed:>6} items  power {significant / runs:.2f}", flush=True)
        missed |= not 0.7 <= significant / runs <= 0.9
    return int(missed)


def pearson_of_scores(human: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the map from scores (W, n) to their correlations with judgments (n,), shape (W,)."""
    return lambda scores: np.array([np.corrcoef(row, human)[0, 1] for row in scores])


def main() -> int:
    """Print the sizes; return 1 when one is outside of its limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--power", action="store_true", help="check numbers of items on real sets")
    parser.add_argument("--statistics", nargs="*", default=["kendall_c", "pearson"], choices=list(STATISTICS))
    parser.add_argument("--designs", nargs="*", default=["60x5", "100x3"], metavar="ITEMSxCAPTIONS")
    args = parser.parse_args()
    if args.power:
        os.environ.setdefault("HARNESS_DATA", str(data_folder()))
        return check_power(args.runs)
    missed = False
    print(f"{'statistic':<18}{'design':<8}{'effect of people':>17}  {'null':<20}{'by item':>9}{'by caption':>12}{'jackknife':>11}")
    for statistic in args.statistics:
        for effect in (0.0, 1.0):
            noise = equal_noise(statistic, effect)
            for design in args.designs:
                items, captions = map(int, design.split("x"))
                drawn = [draw_judgments(np.random.default_rng([run, items]), items, captions, effect, noise) for run in range(args.runs)]
                for null, first in (("exchanged", 2), ("other distributions", 4)):
                    sizes = np.mean([np.array(p_values(statistic, data, first, run)) <= 0.05 for run, data in enumerate(drawn)], axis=0)
                    print(
                        f"{statistic:<18}{design:<8}{effect:>17g}  {null:<20}{sizes[0]:>9.3f}{sizes[1]:>12.3f}{sizes[2]:>11.3f}", flush=True
                    )
                    missed |= bool(max(sizes[0], sizes[2]) > 0.06) or (first == 2 and bool(sizes[0] < 0.04))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
