"""Decisions with fewer calls: false alarms of sequences that are looked at after every
example, examples that they save, size of the gate.

    python -m benchmarks.decide [--runs 200] [--length 2000] [--metrics NAME ...]
    [--cache FILE] [--seed 0]

Captions are those of 13 captioners of the COCO Karpathy test split; TRM has four
systems of three captions each. Statistics are computed once and kept in a file. The
grades of a judge are those of people for five systems of THumB.

*False alarms*: share of null runs whose confidence sequence ever excludes 0, with a
look after every example from the first one to ``--length``, at which the conditions of
an asymptotic sequence are looked at too. Examples are drawn with replacement; under
*swapped* the captions of both systems change places at random, *skewed* has 95 % small
losses and 5 % large gains whose difference is 0, *rare* .5 % large gains. Beside it the
z test with the same looks from 200 examples on. ``python -m benchmarks.promises`` has
further populations.

*Price of the conditions*: examples until a normal difference is decided, beside the
same sequence that begins at 200 examples whatever the sample shows.

*Examples used*: of the pairs that differ significantly with all examples (z test, level
.05), the share of the examples until the sequence excludes 0, at the looks of
``harness run --until``; 1 where it never does. Wrong directions are counted among them.

*Gate*: share of runs of 200, 500 and 1000 examples that pass and that fail at the
margin (the true worsening), the power of both beside that of Student's t where the
normal approximation promises .8, and the number of examples for which the gate has the
power .8 there: the price of bounds that hold at every skew. Before, the smallest number
of examples at which a version without any change passes.

*Overhead*: CPU time of a run with a condition that the data never decide, beside the
run without it.

Goals: false alarms, and size of the gate, at most .05 within two standard errors; at
most 50 % of the examples for CIDEr-D and 60 % for METEOR; wrong directions at most 1 %;
a price of at most 1.2; overhead at most 5 %. Exit status 1 when one is missed. The full
size is ``--runs 4000``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from itertools import combinations
from math import sqrt
from pathlib import Path

import numpy as np
from scipy import stats as distributions

import harness
from benchmarks.captions import CAPTIONERS, data_folder, read_json_lines, references
from benchmarks.decide_data import GRADES, METRICS, Addends, load
from benchmarks.decide_sequences import check_evidence, is_alarm, running_log_e
from benchmarks.promises.sequences import find_paths
from harness.decisions.statistics.bounded_mean import BoundedMean
from harness.decisions.statistics.one_sided import SkewedMean
from harness.decisions.statistics.paired_shares import PairedShares
from harness.registry.display_names import display_name
from harness.run.sequences import metric_looks
from harness.run.stopping import BATCH, batches
from harness.stats.anytime import FIRST_LOOK, LEVEL
from harness.stats.seeds import derive

NULLS = {"swapped": 0.0, "skewed": 0.05, "rare": 0.005}
"""Null -> share of large gains; 0: captions change places."""
SHARES = {"cider": 0.5, "meteor": 0.6}
"""Metric -> goal of the mean share of examples."""
WRONG = 0.01
OVERHEAD = 0.05
PRICE = 1.2
EFFECTS = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0)
"""Goal of the price of the conditions, and mean normal differences in standard
deviations; those above 1.5 have no goal.
"""
GATED = (200, 500, 1000)
"""Numbers of examples of the runs of a gate."""
MARGINS = {
    "CIDEr-D": (10.0, (0.02, 0.05, 0.1)),
    "ROUGE-L, accuracy as declared by --bounds, BLEU and METEOR": (
        1.0,
        (0.005, 0.01, 0.02, 0.05),
    ),
}
"""Metrics -> range, and margins of which the smallest numbers of examples are printed.
"""
ANSWERS = (0.005, 0.01, 0.02, 0.05)
"""The same margins of right and wrong answers."""
failures: list[str] = []


def check(name: str, value: float, goal: float, runs: int = 0) -> str:
    """Return a mark of a goal, within two standard errors of a share of runs,
    and note a failure.
    """
    holds = value <= goal + (2 * sqrt(goal * (1 - goal) / runs) if runs else 0.0)
    if not holds:
        failures.append(name)
    return "ok" if holds else "MISSED"


def skewed_population(
    data: Addends, a: np.ndarray, b: np.ndarray, share: float = 0.05
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return addends of both systems and the probability of each example: small losses
    and a share of large gains, with difference 0.
    """
    effects = data.influences_of(a, b) + data.value(a) - data.value(b)
    order = np.argsort(np.abs(effects))
    gains = order[-round(share * len(order)) :]
    swap = np.where(np.isin(np.arange(len(a)), gains), effects < 0, effects > 0)[
        :, None
    ]
    a, b = np.where(swap, b, a), np.where(swap, a, b)

    def difference(weights: np.ndarray) -> float:
        return data.value(a * weights[:, None]) - data.value(b * weights[:, None])

    def weights(losses: int, gained: float) -> np.ndarray:
        found = np.zeros(len(a))
        found[order[:losses]] = (1 - gained) / losses
        found[gains] = gained / len(gains)
        return found

    few = 1
    many = len(order) - len(gains)
    # the more of the smaller differences are losses, the larger is their mean
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (
            (middle, many) if difference(weights(middle, share)) > 0 else (few, middle)
        )
    low, high = 0.0, 0.5
    for _ in range(60):
        low, high = (
            (low, middle)
            if difference(weights(many, middle := (low + high) / 2)) > 0
            else (middle, high)
        )
    return a, b, weights(many, low)


def false_alarms(data: Addends, runs: int, length: int, seed: int) -> None:
    """Print the share of null runs in which the sequence, and the z test,
    ever rejects.
    """
    first, last = data.ends
    for null, share in NULLS.items():
        rng = np.random.default_rng(derive(seed, data.name, null))
        a, b, p = (
            skewed_population(data, first, last, share)
            if share
            else (first, last, None)
        )

        alarms = 0
        naive = 0
        chunk = max(1, 4_000_000 // (length * max(64, 4 * a.shape[1] ** 2)))

        for start in range(0, runs, chunk):
            rows = rng.choice(len(a), (min(chunk, runs - start), length), p=p)
            swap = (
                rng.integers(0, 2, rows.shape).astype(bool)[..., None]
                if not share
                else np.zeros((1, 1, 1), dtype=bool)
            )

            x = np.where(swap, b[rows], a[rows])
            y = np.where(swap, a[rows], b[rows])
            log_e, z = running_log_e(data, x, y)
            if not start:
                check_evidence(data, x[0], y[0], log_e[0])

            alarms += sum(is_alarm(data, *run) for run in zip(x, y, log_e))
            naive += int(
                (np.abs(z[:, min(FIRST_LOOK, length) - 1 :]).max(axis=1) > 1.96).sum()
            )

        mark = check(f"false alarms {data.name} {null}", alarms / runs, LEVEL, runs)
        name = display_name(data.metric.spec.name)
        print(
            f"  {name:12} {null:8} {alarms / runs:8.4f}  z test "
            f"{naive / runs:6.3f}   {mark}",
            flush=True,
        )


def examples_used(data: Addends, orders: int, seed: int) -> None:
    """Print the share of the examples until the sequences of significant pairs have
    decided, and the wrong directions.
    """
    rng = np.random.default_rng(seed)
    n = len(data.systems[0])
    stops = [
        min(n, BATCH * batch[-1][1])
        for batch in batches([(k, k + 1) for k in range(-(-n // BATCH))])
    ]

    shares = list[float]()
    wrong = 0
    pairs = list(combinations(data.systems, 2))
    significant = 0

    for a, b in pairs:
        difference = data.value(a) - data.value(b)
        if abs(difference) <= 1.96 * float(np.std(data.influences_of(a, b))) / sqrt(n):
            continue
        significant += 1

        for _ in range(orders):
            order = rng.permutation(n)
            looks = metric_looks(
                data.metric, a[order], b[order], np.ones(n), stops, ends=False
            )
            look = next((look for look in looks if look.p_value <= LEVEL), None)
            shares.append((look.n if look else n) / n)
            wrong += look is not None and look.difference * difference < 0

    mean = float(np.mean(shares))
    marks = (
        [check(f"examples {data.name}", mean, SHARES[data.name])]
        if data.name in SHARES
        else []
    )
    marks.append(check(f"wrong directions {data.name}", wrong / len(shares), WRONG))

    decided = float(np.mean(np.array(shares) < 1))
    print(
        f"  {display_name(data.metric.spec.name):12} {significant:3} of {len(pairs)} "
        f"pairs  {mean:6.1%} of the examples, before the end "
        f"{decided:6.1%}, wrong {wrong} of {len(shares)}   {' '.join(marks)}",
        flush=True,
    )


def price_of_conditions(runs: int, seed: int) -> None:
    """Print the mean number of examples until a normal difference without a declared
    range is decided, with the conditions and without.
    """
    for effect in EFFECTS:
        length = round(max(600, 60 / effect**2))
        rng = np.random.default_rng(derive(seed, "price", str(effect)))
        totals = {False: 0, True: 0}
        for start in range(0, runs, 200):
            differences = rng.standard_normal((min(200, runs - start), length)) + effect
            for conditions in totals:
                excludes = find_paths(differences, conditions=conditions).excludes(0.0)
                totals[conditions] += int(
                    np.where(
                        excludes.any(axis=1), excludes.argmax(axis=1) + 1, length
                    ).sum()
                )
        plain = totals[False] / runs
        conditional = totals[True] / runs
        mark = (
            check(f"price {effect}", conditional / plain, PRICE)
            if effect <= 1.5
            else ""
        )
        print(
            f"  {effect:4} deviations  {plain:7.0f} examples, "
            f"with the conditions {conditional:7.0f}: "
            f"{conditional / plain:.3f}   {mark}",
            flush=True,
        )


def smallest_numbers() -> None:
    """Print the smallest numbers of examples at which a version without any change
    passes.
    """
    for name, (reach, margins) in MARGINS.items():
        numbers = [
            BoundedMean.of_values(np.zeros(1), -reach, reach).n_without_change(margin)
            for margin in margins
        ]
        print(
            f"  {name}: "
            + ", ".join(
                f"{number:,.0f} (margin {margin:g})"
                for margin, number in zip(margins, numbers)
            )
        )
    numbers = [PairedShares(0, 0, 1).n_without_change(margin) for margin in ANSWERS]
    print(
        "  right and wrong answers: "
        + ", ".join(
            f"{number:,.0f} (margin {margin:g})"
            for margin, number in zip(ANSWERS, numbers)
        )
    )


def gate_mean(
    data: Addends, sign: float, x: np.ndarray, y: np.ndarray
) -> BoundedMean | SkewedMean:
    """Return the test of a gate of two systems on the addends of a sample,
    shape (n, k).
    """
    if data.bound is not None:
        return BoundedMean.of_values(sign * (x - y)[:, 0], -data.bound, data.bound)
    differ = np.asarray((x != y).any(axis=1))
    return SkewedMean.of(
        sign * (data.value(x) - data.value(y)), sign * data.influences_of(x, y), differ
    )


def gate_size(data: Addends, runs: int, seed: int) -> None:
    """Print how often a gate passes and fails at the margin, its power beside Student's
    t, and the examples that it needs.
    """
    populations = [(*data.ends, None), skewed_population(data, *data.ends)]
    sign = -1.0 if data.metric.spec.higher_is_better else 1.0
    for (a, b, p), kind in zip(populations, ("real", "skewed")):
        weights = np.full(len(a), 1 / len(a)) if p is None else p
        truth = sign * (
            data.value(a * weights[:, None]) - data.value(b * weights[:, None])
        )

        sample = np.random.default_rng(seed).choice(len(a), 100_000, p=p)
        spread = float(np.std(data.influences_of(a[sample], b[sample])))
        population = gate_mean(data, sign, a[sample[:20_000]], b[sample[:20_000]])
        for n in GATED:
            rng = np.random.default_rng(derive(seed, data.name, kind, n))
            step = 2.4865 * spread / sqrt(n)

            counts = np.zeros(6)
            for _ in range(runs):
                rows = rng.choice(len(a), n, p=p)
                x, y = a[rows], b[rows]
                mean = gate_mean(data, sign, x, y)
                error = float(np.std(data.influences_of(x, y))) / sqrt(n - 1) or 1.0
                t = (
                    sign * (data.value(x) - data.value(y))
                    - truth
                    + np.array([-step, step])
                ) / error

                counts += [
                    mean.p_below(truth) <= LEVEL,
                    mean.p_above(truth) <= LEVEL,
                    mean.p_below(truth + step) <= LEVEL,
                    mean.p_above(truth - step) <= LEVEL,
                    t[0] <= distributions.t.ppf(LEVEL, n - 1),
                    t[1] >= distributions.t.ppf(1 - LEVEL, n - 1),
                ]
            share = counts / runs
            marks = [
                check(f"gate {side} {data.name} {kind} {n}", share[k], LEVEL, runs)
                for k, side in enumerate(("pass", "fail"))
            ]
            needed = (
                population.n_to_decide(population.value + step),
                population.n_to_decide(population.value - step),
            )
            print(
                f"  {display_name(data.metric.spec.name):12} {kind:7} n = {n:5}  at "
                f"the margin: pass {share[0]:.4f} fail {share[1]:.4f}   "
                f"power: pass {share[2]:.3f} (t {share[4]:.3f}) "
                f"fail {share[3]:.3f} (t {share[5]:.3f})   "
                f"power .8: pass {needed[0]:,.0f} fail {needed[1]:,.0f} examples   "
                f"{' '.join(marks)}",
                flush=True,
            )


def overhead(limit: int, repeats: int = 3) -> None:
    """Print the CPU time of a run with a condition that the data never decide, beside
    that of the run without it.
    """
    rows = read_json_lines(data_folder() / CAPTIONERS)[:limit]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.jsonl"
        models = list[object]()

        examples = [
            {"id": str(k), "references": own}
            for k, own in enumerate(references()[:limit])
        ]
        data.write_text(
            "".join(json.dumps(item) + "\n" for item in examples), encoding="utf-8"
        )

        for name in ("init_1", "merge_3"):
            file = Path(folder) / f"{name}.jsonl"
            lines = [
                json.dumps({"id": str(k), "candidates": [row["candidates"][name]]})
                + "\n"
                for k, row in enumerate(rows)
            ]
            file.write_text("".join(lines), encoding="utf-8")
            models.append({"predictions": {"label": name, "path": str(file)}})

        spec = {
            "task": "overhead",
            "dataset": {"reader": "jsonl", "path": str(data)},
            "models": models,
            "metrics": ["cider", "meteor", "rouge", "bleu4"],
            "bootstrap": {"samples": 0},
        }

        seconds: dict[bool, list[float]] = {False: [], True: []}
        harness.evaluate({**spec, "limit": 20})  # imports and tables are loaded once
        for _ in range(repeats):
            for grows in (False, True):
                start = time.process_time()
                harness.evaluate(
                    {
                        **spec,
                        **(
                            {"until": {"conditions": ["cider ± 0.0001"]}}
                            if grows
                            else {}
                        ),
                    }
                )
                seconds[grows].append(time.process_time() - start)

    plain = min(seconds[False])
    grown = min(seconds[True])
    share = grown / plain - 1
    mark = check("overhead", share, OVERHEAD)
    print(
        f"  {limit:,} examples, 2 systems, 4 metrics: {plain:.2f} s CPU, "
        f"with --until {grown:.2f} s ({share:+.1%})   {mark}"
    )


def main() -> int:
    """Print the sections; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=int, default=200, help="null runs, and runs of a gate"
    )
    parser.add_argument(
        "--orders",
        type=int,
        default=1,
        help="random orders of the examples for each pair",
    )
    parser.add_argument(
        "--length", type=int, default=2000, help="examples of a null run"
    )
    parser.add_argument(
        "--metrics", nargs="+", choices=(*METRICS, GRADES), default=[*METRICS, GRADES]
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=5000,
        help="examples of the runs that measure the overhead; 0: none",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(tempfile.gettempdir()) / "harness-decide.npz",
        help="file of the statistics",
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    metrics = load(args.metrics, args.cache)
    print(
        f"False alarms, looks after every example up to {args.length:,}, "
        f"{args.runs:,} runs; goal {LEVEL}"
    )
    for data in metrics:
        false_alarms(data, args.runs, args.length, args.seed)

    print(f"\nPrice of the conditions, {args.runs:,} runs")
    price_of_conditions(args.runs, args.seed)

    print("\nExamples used by pairs that are significant with all of them")
    for data in metrics:
        examples_used(data, args.orders, args.seed)

    print(
        "\nSmallest number of examples at which a version without a change passes "
        "the gate"
    )
    smallest_numbers()

    print(f"\nGate, {args.runs:,} runs; goal {LEVEL} at the margin")
    for data in metrics:
        gate_size(data, args.runs, args.seed)

    if args.limit:
        print("\nOverhead of --until")
        overhead(args.limit)

    print("\nmissed: " + ", ".join(failures) if failures else "\nall goals met")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
