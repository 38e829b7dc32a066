"""Null size of the tests between two metrics that were judged on the same items.

    python -m benchmarks.metric_tests [--power] [--runs 4000] [--statistics NAME ...]
    [--designs 60x5 ...] [--effects 0 1]

Judgments of items with several captions are simulated, with four grades and image
effects of people. Two nulls:

- *exchanged*: two continuous metrics with item effects of standard deviation 2, whose
  joint distribution is symmetric;
- *other distributions*: a continuous metric without item effects against one with
  effects of 2 and with ties; the noise of the first is set so that both agree equally
  well with people in 300,000 captions.

For statistics of systems the captions of an item are those of eight systems, and of
other distributions are a continuous metric that confuses the two worst systems and one
with ties that confuses the two best; soft pairwise accuracy is tested by its hard form.

With ``--power`` two real sets (below HARNESS_DATA) are subsampled instead: for pairs of
metrics, as many items as ``harness power --compare`` names are drawn with replacement,
and the share of exchange tests up to .05 is printed, which is to be .8.

Printed is the share of p-values up to .05 of 199 exchanges by item and, for Pearson's
r, by caption, and for tau-b and r of the jackknife over items; then a row of the table
of docs/judgments.md with the range over the designs. Exchanged scores are not sorted
again: the signs of all pairs of captions are added by item once (:func:`exchange`),
which tests/benchmarks/test_metric_tests.py compares with the package. Exit status 1
when the test in use (jackknife for tau-b, exchange by item for the others) exceeds .06,
or is below .04 for exchanged metrics where values are continuous.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from itertools import product
from typing import cast

import numpy as np

from benchmarks.judgments import data_folder
from benchmarks.metric_exchanges import (
    GOOD,
    Columns,
    difference_of_items,
    exchange,
    leave_out_items,
)
from harness import api
from harness.decisions.power.difference_power import pilots
from harness.judgments.plan import JudgmentPlan
from harness.judgments.rated_agreement import CORRELATIONS
from harness.judgments.scoring import score_metrics
from harness.run.execution import Execution
from harness.rundir.provenance import Provenance
from harness.stats.correlation import across_systems
from harness.stats.jackknife import t_test, weights_without_items
from harness.stats.metric_tests import KendallOfScores, permute_credit, permute_scores
from harness.stats.weighted_correlation import Detection, Pearson

DRAWS = 199
LARGE = 300_000
SYSTEMS = 8
ROWS = ("kendall_b", "kendall_c", "pearson", "spearman", "auc", "average_precision")
ITEMS = ("kendall_within", "accuracy")
OF_SYSTEMS = "soft_pairwise_accuracy"
JACKKNIFED = ("kendall_b",)
OF_FEW_STEPS = ("accuracy", OF_SYSTEMS)
"""Statistics whose differences take few values,
so that a test of level .05 may reject less often.
"""
STATISTICS = (*ROWS, *ITEMS, OF_SYSTEMS)
PAIRS = (
    ("judgments/thumb", "cider", "bleu4"),
    ("judgments/thumb", "meteor", "bleu4"),
    ("judgments/thumb", "cider", "meteor"),
    ("judgments/flickr8k-expert", "meteor", "rouge"),
    ("judgments/flickr8k-expert", "cider", "meteor"),
)
"""Judgment set and two metrics that a number of items is to separate."""


def draw_judgments(
    rng: np.random.Generator, items: int, captions: int, effect: float, noise: float
) -> Columns:
    """Return the item, the grade and the scores of four metrics of each caption: two
    exchanged ones, and two of other distributions.
    """
    n = items * captions
    item = np.repeat(np.arange(items), captions)
    quality = rng.normal(size=n) + effect * rng.normal(size=items)[item]
    human = np.clip(np.round(quality + rng.normal(size=n) / 2 + 2.5), 1, 4)
    plain = quality + noise * rng.normal(size=n)
    tied = np.round(
        (quality + 2 * rng.normal(size=items)[item] + rng.normal(size=n)) / 1.5
    )
    exchanged = [
        human + 2 * rng.normal(size=items)[item] + rng.normal(size=n) for _ in range(2)
    ]
    return [item, human, *exchanged, plain, tied]


def draw_systems(
    rng: np.random.Generator, items: int, effect: float, noise: float
) -> Columns:
    """Return the item, the grade and the scores of four metrics for each item and
    system, as :func:`draw_judgments`.
    """
    system = np.tile(np.arange(SYSTEMS), items)
    item = np.repeat(np.arange(items), SYSTEMS)
    n = len(item)
    level = np.arange(SYSTEMS) / 3
    worst = np.arange(SYSTEMS)
    best = np.arange(SYSTEMS)
    worst[:2], best[-2:] = worst[1::-1], best[:-3:-1]
    shared = effect * rng.normal(size=items)[item]
    quality = level[system] + shared + rng.normal(size=n)
    human = np.round(quality + rng.normal(size=n) / 2)
    exchanged = [
        human + 2 * rng.normal(size=items)[item] + rng.normal(size=n) for _ in range(2)
    ]
    plain = level[worst][system] + shared + noise * rng.normal(size=n)
    tied = np.round(
        (
            level[best][system]
            + shared
            + 2 * rng.normal(size=items)[item]
            + 2 * rng.normal(size=n)
        )
        / 1.5
    )
    return [item, human, *exchanged, plain, tied]


def equal_noise(statistic: str, effect: float, captions: int, items: int) -> float:
    """Return the noise of the continuous metric with which it agrees with people as the
    one with ties does.
    """
    low, high = 0.1, 12.0
    for _ in range(12):
        noise = (low + high) / 2
        rng = np.random.default_rng(9)
        if statistic == OF_SYSTEMS:  # agreement of the mean scores of so many items
            data = draw_systems(rng, items * 1500, effect, noise)
            human, first, second = (
                x.reshape(1500, items, SYSTEMS).mean(axis=1)
                for x in (data[1], data[4], data[5])
            )
            difference = float(
                np.nanmean(
                    across_systems(human, first, "accuracy")
                    - across_systems(human, second, "accuracy")
                )
            )
        else:
            size = captions if statistic in ITEMS else 1
            data = draw_judgments(rng, LARGE // size, size, effect, noise)
            if statistic in ITEMS:
                difference = float(np.nanmean(difference_of_items(statistic, data, 4)))
            else:
                of_rows = [whole_set(statistic, scores, data[1]) for scores in data[4:]]
                difference = of_rows[0] - of_rows[1]
        low, high = (noise, high) if difference > 0 else (low, noise)
    return low


def whole_set(statistic: str, scores: np.ndarray, human: np.ndarray) -> float:
    """Return the statistic of all captions by the package."""
    ones = np.ones((1, len(human)))
    if statistic in CORRELATIONS:
        return float(CORRELATIONS[statistic](scores, human)(ones)[0])
    return float(Detection(scores, human >= GOOD, statistic)(ones)[0])


def p_values(statistic: str, data: Columns, first: int, seed: int) -> dict[str, float]:
    """Return test -> p-value of the metrics in columns first and first + 1."""
    item, human = data[:2]
    a, b = ((x - x.mean()) / x.std() for x in data[first : first + 2])
    items = int(item[-1]) + 1
    if statistic in ITEMS:
        difference = difference_of_items(statistic, data, first)
        return {
            "item": permute_credit(
                difference, np.zeros(items), np.arange(items), draws=DRAWS, seed=seed
            )
        }
    if statistic == OF_SYSTEMS:
        means = human.reshape(items, SYSTEMS).mean(axis=0)[None]

        def of_scores(scores: np.ndarray) -> np.ndarray:
            return across_systems(
                np.repeat(means, len(scores), axis=0),
                scores.reshape(-1, items, SYSTEMS).mean(axis=1),
                "accuracy",
            )

        return {
            "item": permute_scores(
                of_scores, a, b, unit=item, draws=DRAWS, seed=seed, standardised=True
            )
        }
    out: dict[str, float] = {}
    rng = np.random.default_rng([seed, items])
    for name, units in (("item", items), ("caption", len(item)))[
        : 2 if statistic == "pearson" else 1
    ]:
        keep = np.concatenate(
            [
                np.ones((1, units), dtype=bool),
                rng.integers(0, 2, (DRAWS, units)).astype(bool),
            ]
        )
        shift = np.abs(exchange(statistic, a, b, human, keep))
        out[name] = float(np.mean(shift >= shift[0] * (1 - 1e-6)))
    if statistic == "kendall_b":
        out["jackknife"] = t_test(
            leave_out_items(a, human, len(a) // items)
            - leave_out_items(b, human, len(a) // items)
        )[1]
    if statistic == "pearson":
        weights = weights_without_items(items)[:, item]
        out["jackknife"] = t_test(
            Pearson(a, human)(weights) - Pearson(b, human)(weights)
        )[1]
    return out


def check_power(runs: int) -> int:
    """Print the power with the numbers of items that are named for two metrics; return
    1 where it is far from .8.
    """
    missed = False
    for task, first, second in PAIRS:
        with tempfile.TemporaryDirectory() as folder:
            api.evaluate(task, metrics=[first, second], output=folder)
            (pilot,), difference, _ = pilots(folder, [first, second])

        needed = int(
            (pilot.difference_power(difference, pilot.examples).needed or (0,))[0]
        )

        plan = cast(JudgmentPlan, api.plans(task, metrics=[first, second])[0])
        rows, sets = plan.prepare()
        scored = score_metrics(plan, sets, Execution(Provenance({})), rows.judgments)
        a, b = (metric.scores.scores[rows.rated.caption, 0] for metric in scored)

        members = [np.flatnonzero(rows.rated.item == k) for k in range(rows.items)]
        rng = np.random.default_rng(0)
        statistic = plan.spec.statistics[0]
        significant = 0

        for draw in range(runs):
            drawn = [members[k] for k in rng.integers(0, rows.items, needed)]
            rows_drawn = np.concatenate(drawn)
            item = np.repeat(np.arange(needed), [len(part) for part in drawn])
            human = rows.rated.human[rows_drawn]
            of_scores = (
                KendallOfScores(human, statistic[-1])
                if statistic.startswith("kendall")
                else pearson_of_scores(human)
            )

            significant += (
                permute_scores(
                    of_scores,
                    a[rows_drawn],
                    b[rows_drawn],
                    unit=item,
                    draws=DRAWS,
                    seed=draw,
                )
                <= 0.05
            )

        print(
            f"{task:<28}{first:<8}{second:<8}{needed:>6} items  power "
            f"{significant / runs:.2f}",
            flush=True,
        )
        missed |= not 0.7 <= significant / runs <= 0.9
    return int(missed)


def pearson_of_scores(human: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the map from scores (W, n) to their correlations with judgments (n,),
    shape (W,).
    """
    return lambda scores: np.array([np.corrcoef(row, human)[0, 1] for row in scores])


def main() -> int:
    """Print the sizes; return 1 when one is outside of its limits."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument(
        "--power", action="store_true", help="check numbers of items on real sets"
    )
    parser.add_argument(
        "--statistics", nargs="*", default=STATISTICS, choices=STATISTICS
    )
    parser.add_argument(
        "--designs", nargs="*", default=["60x5"], metavar="ITEMSxCAPTIONS"
    )
    parser.add_argument(
        "--effects",
        nargs="*",
        type=float,
        default=[0.0, 1.0],
        help="image effects of people",
    )
    args = parser.parse_args()

    if args.power:
        os.environ.setdefault("HARNESS_DATA", str(data_folder()))
        return check_power(args.runs)

    missed = False
    for statistic in args.statistics:
        sizes: dict[str, dict[str, list[float]]] = {
            "exchanged": {},
            "other distributions": {},
        }

        for effect, design in product(args.effects, args.designs):
            items, captions = map(int, design.split("x"))
            noise = equal_noise(statistic, effect, captions, items)
            for null, first in zip(sizes, (2, 4)):
                rejected: dict[str, int] = {}
                for run in range(args.runs):
                    rng = np.random.default_rng([run, items])
                    of_systems = statistic == OF_SYSTEMS
                    data = (
                        draw_systems(rng, items, effect, noise)
                        if of_systems
                        else draw_judgments(rng, items, captions, effect, noise)
                    )
                    for name, p in p_values(statistic, data, first, run).items():
                        rejected[name] = rejected.get(name, 0) + (p <= 0.05)

                print(
                    f"{statistic:<24}{design:<7}effect {effect:g}  {null:<20}", end=""
                )
                print(
                    "  ".join(
                        f"{name} {count / args.runs:.3f}"
                        for name, count in rejected.items()
                    ),
                    flush=True,
                )
                for name, count in rejected.items():
                    sizes[null].setdefault(name, []).append(count / args.runs)

        for null, of_test in sizes.items():
            used = of_test["jackknife" if statistic in JACKKNIFED else "item"]
            missed |= max(used) > 0.06 or (
                null == "exchanged"
                and statistic not in OF_FEW_STEPS
                and min(used) < 0.04
            )

            cells = [
                f"{min(v):.3f} to {max(v):.3f}".replace("0.", ".")
                if (v := of_test.get(name))
                else ""
                for name in ("item", "caption", "jackknife")
            ]
            print(f"| `{statistic}` | {null} | {' | '.join(cells)} |", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
