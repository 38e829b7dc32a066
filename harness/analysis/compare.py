"""Paired comparisons of systems of one run or of two: tests of the number that the table reports, and of per-example scores."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from harness.contracts import Metric, Values
from harness.errors import HarnessError, did_you_mean
from harness.registry import current
from harness.rundir.records import ResultRecord
from harness.rundir.rundir import RunDir
from harness.rundir.samples import System
from harness.stats.multiplicity import benjamini_hochberg_adjusted, holm
from harness.stats.paired import LEVEL, Paired, compare
from harness.stats.resampled_difference import compare_statistics

Sizes = dict[str, list[int]]


@dataclass(frozen=True)
class ComparedRun:
    """One side of a comparison: a run, or one model of it (``RUN::MODEL``)."""

    run: RunDir
    model: str

    @classmethod
    def open(cls, path: str | Path) -> ComparedRun:
        """Open ``RUN`` or ``RUN::MODEL``; raise :class:`HarnessError` when the run is not finished or has no such model."""
        folder, _, model = str(path).partition("::")
        side = cls(RunDir.open(folder), model)
        side.run.require_samples("there are no scores per example")
        if model and not side.systems:
            names = list(dict.fromkeys(system.model for system in side.run.samples.systems))
            raise HarnessError(
                f"{folder} has no model '{model}'{did_you_mean(model, names)}; models are {', '.join(names)}"
            )
        return side

    @property
    def name(self) -> str:
        """Path of the run."""
        return str(self.run.path)

    @property
    def systems(self) -> list[System]:
        """Systems of the run, or of the chosen model."""
        return [system for system in self.run.samples.systems if not self.model or system.model == self.model]

    def record(self, system: System, metric: str) -> ResultRecord | None:
        """Return the result record of a system and metric."""
        for record in self.run.records:
            if record.metric == metric and record.model == system.model and record.decoding == system.decoding:
                return record
        return None

    def statistics(self, system: System, metric: str) -> np.ndarray | None:
        """Return the sufficient statistics (B, d) of a system and metric, rows as its examples; None when they are missing."""
        record = self.record(system, metric)
        if record is None or record.statistics is None:
            return None
        arrays = self.run.pieces.read_named_arrays(record.statistics)
        return None if arrays is None or len(arrays["stats"]) != len(system.rows) else arrays["stats"]


def compare_runs(
    paths: Sequence[str | Path], *, any_data: bool = False, draws: int = 1000, seed: int = 0
) -> list[Values]:
    """Return one row per pair of systems and metric.

    Parameters
    ----------
    paths : sequence of one or two
        Run directories, or ``RUN::MODEL``.
    any_data : bool
        Compare runs on different data by their ids.
    draws, seed : int
        Random sign patterns of the permutation test and their seed.

    Raises
    ------
    HarnessError
        The runs share no system, no example, or no metric with per-example scores.
    """
    sides = [ComparedRun.open(path) for path in paths]
    one, other = sides[0], sides[-1]
    rows: list[Values] = []
    for a, b in pairs(sides, any_data):
        for row in compare_systems(a, b, sides=(one, other), draws=draws, seed=seed):
            records = one.record(a, row["metric"]), other.record(b, row["metric"])
            direction = records[0].higher_is_better if records[0] is not None else None
            rows.append({**row, "higher_is_better": direction, "better": _verdict(row, *records)})
    return _adjusted(rows)


def _adjusted(rows: list[Values]) -> list[Values]:
    """Return the rows with p-values adjusted by Holm over the pairs of a metric and by Benjamini-Hochberg over all rows."""
    p = [float("nan") if row["p_value"] is None else float(row["p_value"]) for row in rows]
    discovery = benjamini_hochberg_adjusted(p)
    family = np.full(len(rows), np.nan)
    for metric in dict.fromkeys(row["metric"] for row in rows):
        places = [k for k, row in enumerate(rows) if row["metric"] == metric]
        family[places] = holm([p[k] for k in places])
    return [
        {**row, "p_holm": None if np.isnan(h) else float(h), "p_bh": None if np.isnan(d) else float(d)}
        for row, h, d in zip(rows, family, discovery)
    ]


def pairs(sides: Sequence[ComparedRun], any_data: bool = False) -> list[tuple[System, System]]:
    """Return the pairs to compare: all of one run, or for two runs the systems of the same name (or the only ones)."""
    if len(sides) == 1:
        systems = sides[0].systems
        if len(systems) < 2:
            raise HarnessError(f"{sides[0].name} holds one system; give two runs to compare")
        return list(itertools.combinations(systems, 2))
    one, other = sides
    if not any_data and one.run.provenance.data["fingerprint"] != other.run.provenance.data["fingerprint"]:
        readers = ", ".join(str(side.run.provenance.data["reader"]) for side in sides)
        raise HarnessError(
            f"{one.name} and {other.name} read different data ({readers}): equal ids would be paired by chance; "
            "--any-data compares them all the same"
        )
    matched = _matched(one.systems, other.systems, by_model=True)
    if not matched and one.model and other.model:  # two chosen models: the same decodings
        matched = _matched(one.systems, other.systems, by_model=False)
    if not matched and len(one.systems) == len(other.systems) == 1:
        matched = [(one.systems[0], other.systems[0])]
    if not matched:
        labels = [", ".join(system.label for system in side.systems) for side in sides]
        raise HarnessError(f"the runs share no system: {labels[0]} and {labels[1]}; choose with RUN::MODEL")
    return matched


def _matched(one: Sequence[System], other: Sequence[System], *, by_model: bool) -> list[tuple[System, System]]:
    def key(system: System) -> tuple[str, str]:
        return (system.model if by_model else "", system.decoding_key)

    by_key = {key(system): system for system in other}
    return [(system, by_key[key(system)]) for system in one if key(system) in by_key]


def compare_systems(
    a: System, b: System, *, sides: tuple[ComparedRun, ComparedRun], draws: int = 1000, seed: int = 0
) -> list[Values]:
    """Return one row per metric that both systems have, on the examples that both have.

    ``difference``, ``ci95``, ``p_value`` (approximate randomisation) and ``p_bootstrap`` belong to the number that the result
    table reports; ``sign_p_value`` and the counts belong to the per-example scores. A metric whose number cannot be resampled
    has a ``note`` instead. Raises :class:`HarnessError` when the systems share no example or no metric.
    """
    shared = [example for example in a.examples if example in b.row_of]
    if not shared:
        raise HarnessError(f"{a.label} ({sides[0].name}) and {b.label} ({sides[1].name}) share no example")
    rows: list[Values] = []
    for metric in a.table.metrics:
        signs = (
            compare_on(a, b, metric, shared, draws=draws, seed=seed, samples=0) if metric in b.table.metrics else None
        )
        if signs is None:
            continue
        paired, means = signs
        row: Values = {"metric": metric, "system_a": a.label, "system_b": b.label}
        row |= _reported_difference(a, b, metric, shared, sides, draws, seed)
        row |= {
            "n": paired.n, "mean_a": means[0], "mean_b": means[1], "sign_p_value": paired.p_value,
            "sign_method": paired.method, "a_larger": paired.a_larger, "b_larger": paired.b_larger, "ties": paired.ties,
        }  # fmt: skip
        rows.append(row)
    if not rows:
        raise HarnessError(f"{a.label} and {b.label} share no metric with scores per example")
    return rows


def _reported_difference(
    a: System,
    b: System,
    metric: str,
    shared: Sequence[str],
    sides: tuple[ComparedRun, ComparedRun],
    draws: int,
    seed: int,
) -> Values:
    """Return the difference of the reported numbers with interval and tests, or a note where it cannot be resampled."""
    empty: Values = dict.fromkeys(("a", "b", "difference", "ci95", "p_value", "p_bootstrap"))
    stats_a, stats_b = sides[0].statistics(a, metric), sides[1].statistics(b, metric)
    if stats_a is None or stats_b is None:
        return {**empty, "note": "the run has no statistics of this metric; run the spec again"}
    entry = next(item for item in sides[0].run.provenance.metrics if item.label == metric)
    instance = cast(Metric, current().create("metrics", entry.name, entry.params))
    if not instance.spec.shardable:
        return {**empty, "note": "the number of this metric cannot be resampled"}
    x = stats_a[[a.row_of[example] for example in shared]]
    y = stats_b[[b.row_of[example] for example in shared]]
    defined = ~(np.isnan(x[:, 0]) | np.isnan(y[:, 0]))
    if not defined.any():
        return {**empty, "note": "no example is defined for both systems"}
    outcome = compare_statistics(instance.reduce, x[defined], y[defined], samples=draws, draws=draws, seed=seed)
    return {
        "a": outcome.a, "b": outcome.b, "difference": outcome.difference, "ci95": outcome.ci95,
        "p_value": outcome.p_randomisation, "p_bootstrap": outcome.p_bootstrap, "note": "",
    }  # fmt: skip


def compare_on(
    a: System, b: System, metric: str, shared: Sequence[str], *, draws: int, seed: int = 0, samples: int = 2000
) -> tuple[Paired, tuple[float, float]] | None:
    """Return the paired test of one metric on shared examples with both means; None without a pair of scores."""
    x, y = (s.scores(metric)[[s.row_of[example] for example in shared]] for s in (a, b))
    if np.all(np.isnan(x) | np.isnan(y)):
        return None
    return compare(x, y, draws=draws, samples=samples, seed=seed), (float(np.nanmean(x)), float(np.nanmean(y)))


def _verdict(row: Values, a: ResultRecord | None, b: ResultRecord | None) -> str:
    """Return ``A`` or ``B`` for the better system, ``=``, or ``sizes differ`` for set metrics of different set sizes."""
    sizes = [record.sizes if record is not None and record.level == "set" else None for record in (a, b)]
    if sizes[0] != sizes[1]:
        return "sizes differ"
    if row["p_value"] is None:
        return "not tested"
    return verdict(row["difference"], row["p_value"], a.higher_is_better if a is not None else None)


def verdict(difference: float, p_value: float, higher_is_better: bool | None, level: float = LEVEL) -> str:
    """Return ``A`` or ``B`` for the better system, or ``=`` where the difference is not significant at ``level``."""
    if p_value > level or difference == 0 or higher_is_better is None:
        return "="
    return "A" if (difference > 0) == higher_is_better else "B"
