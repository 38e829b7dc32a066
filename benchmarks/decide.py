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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats as distributions

import harness
from benchmarks.captions import CAPTIONERS, data_folder, read_json_lines, references
from benchmarks.promises.sequences import find_paths
from harness.analysis.score_logs import LoggedScore
from harness.contracts import CaptionSet
from harness.registry import current
from harness.registry.display_names import display_name
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.sequences import finite_bounds, mean_bounds, metric_looks
from harness.run.stopping import BATCH, batches
from harness.stats.anytime import FIRST_LOOK, FRACTIONS, LEVEL, influences
from harness.stats.bounded_mean import BoundedMean
from harness.stats.one_sided import SkewedMean
from harness.stats.paired_shares import PairedShares
from harness.stats.readiness import CARRIERS, count_carriers
from harness.stats.seeds import derive

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


# --------------------------------------------------------------------------- data
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


# --------------------------------------------------------------------------- sequences of many runs
def running_log_e(
    data: Addends, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the logarithm of the evidence against equality after each example, and the
    z statistic, both (R, n).

    Parameters
    ----------
    data : Addends
        The metric.
    a, b : ndarray
        Addends of R runs, shape (R, n, k).
    """
    counts = np.arange(1, a.shape[1] + 1)
    if data.bound is not None:
        differences = (a - b)[..., 0]
        sides = [
            np.cumsum(
                np.log1p(np.multiply.outer(sign * differences / data.bound, FRACTIONS)),
                axis=1,
            )
            for sign in (1, -1)
        ]
        capital = np.maximum(
            *(np.logaddexp.reduce(side, axis=2) - log(len(FRACTIONS)) for side in sides)
        )
        mean = np.cumsum(differences, axis=1) / counts
        square = np.cumsum(differences**2, axis=1) / counts
        return capital - log(2), mean / np.sqrt(
            np.maximum(square - mean**2, 1e-300) / counts
        )
    sums = [np.cumsum(side, axis=1) for side in (a, b)]
    values = [
        data.metric.of_sums(side.reshape(-1, side.shape[2])).reshape(side.shape[:2])
        for side in sums
    ]
    gradient = np.concatenate(
        [_gradient(data, sums[0]), -_gradient(data, sums[1])], axis=2
    )
    columns = np.concatenate([a, b], axis=2)
    second = np.cumsum(
        np.einsum("rni,rnj->rnij", columns, columns, optimize=True), axis=1
    )
    mean = np.concatenate(sums, axis=2) / counts[:, None]
    along = np.einsum("rni,rni->rn", gradient, mean)
    variance = (
        np.einsum("rni,rnij,rnj->rn", gradient, second, gradient, optimize=True)
        / counts
        - along**2
    )
    deviation = counts * np.sqrt(np.maximum(variance, 1e-300))
    difference = np.nan_to_num(values[0] - values[1])
    rho = sqrt((-2 * log(LEVEL) + log(-2 * log(LEVEL) + 1)) / FIRST_LOOK)
    growth = counts * rho**2 + 1
    log_e = (counts * rho * difference / deviation) ** 2 / (2 * growth) - np.log(
        growth
    ) / 2
    return np.where(counts >= FIRST_LOOK, log_e, 0.0), np.where(
        counts >= FIRST_LOOK, difference / deviation * np.sqrt(counts), 0.0
    )


def _gradient(data: Addends, sums: np.ndarray) -> np.ndarray:
    """Return the gradient of the number at sums (R, n, k)."""
    gradient = np.zeros_like(sums)
    for column in range(sums.shape[2]):
        step = np.zeros_like(sums)
        step[..., column] = 1e-6 * np.maximum(np.abs(sums[..., column]), 1e-9)
        ends = [
            data.metric.of_sums(
                (sums + side * step).reshape(-1, sums.shape[2])
            ).reshape(sums.shape[:2])
            for side in (1, -1)
        ]
        gradient[..., column] = (ends[0] - ends[1]) / (2 * step[..., column])
    return np.nan_to_num(gradient)


def check_evidence(
    data: Addends, a: np.ndarray, b: np.ndarray, log_e: np.ndarray
) -> None:
    """End the script where the evidence of a run differs from the p-value of the
    harness.
    """
    (look,) = metric_looks(data.metric, a, b, np.ones(len(a)), [len(a)])
    ours = min(
        1.0, float(np.exp(-(log_e.max() if data.bound is not None else log_e[-1])))
    )
    if data.bound is None and (bounds := finite_bounds(data.metric)) is not None:
        ours = max(
            ours,
            min(
                1.0,
                2
                * float(
                    np.exp(-len(a) * abs(look.difference) / (bounds[1] - bounds[0]))
                ),
            ),
        )
    # With fewer carriers the harness takes a larger deviation.
    is_plain = (
        data.bound is not None or count_carriers(data.influences_of(a, b)) >= CARRIERS
    )
    if (
        is_plain
        and not look.waits
        and not np.isclose(look.p_value, ours, rtol=1e-3, atol=1e-9)
    ):
        raise SystemExit(
            f"{data.name}: p is {look.p_value:g} in the harness and {ours:g} here"
        )


def is_alarm(data: Addends, a: np.ndarray, b: np.ndarray, log_e: np.ndarray) -> bool:
    """Return whether the sequence of a run ever excludes 0.

    The conditions of an asymptotic sequence only ever raise its p-value: they are asked
    at the looks with enough evidence alone.
    """
    crossed = np.flatnonzero(log_e >= -log(LEVEL)) + 1
    if data.bound is not None or not len(crossed):
        return len(crossed) > 0
    sizes = np.ones(len(a))
    parts = np.array_split(crossed, -(-len(crossed) // 20))
    return any(
        metric_looks(data.metric, a, b, sizes, part.tolist())[-1].p_value <= LEVEL
        for part in parts
    )


# --------------------------------------------------------------------------- false alarms
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
        found[order[:losses]], found[gains] = (1 - gained) / losses, gained / len(gains)
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


# --------------------------------------------------------------------------- examples used
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


# --------------------------------------------------------------------------- price of the conditions
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


# --------------------------------------------------------------------------- gate
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


# --------------------------------------------------------------------------- overhead
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
