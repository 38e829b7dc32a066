"""Does model A beat model B? Paired tests on the per-example scores of one run or of two."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import HarnessError, InputError, did_you_mean
from harness.reporting.console import decoding_text
from harness.rundir.store import read_run
from harness.stats.paired import compare

FIXED = ("model", "decoding", "example", "candidates", "references")


@dataclass(frozen=True)
class System:
    """One model under one decoding of one run, with its per-example scores by metric."""

    run: str
    model: str
    decoding: str
    scores: dict[str, dict[str, float | None]]
    """metric -> example -> score."""

    @property
    def label(self) -> str:
        return f"{self.model} {decoding_text(json.loads(self.decoding))}".strip()


def systems(path: str | Path) -> tuple[dict[str, Any], list[System]]:
    """The manifest of a run and its systems, in order; raises :class:`InputError` when the run is not whole."""
    import pyarrow.parquet as pq

    folder, _, model = str(path).partition("::")
    manifest, _ = read_run(folder)
    file = Path(folder) / "samples.parquet"
    if not file.is_file():
        raise InputError("has no samples.parquet", folder)
    table = pq.read_table(file)
    metrics = [name for name in table.column_names if name not in FIXED and not name.startswith("p:")]
    columns = {name: table.column(name).to_pylist() for name in ("model", "decoding", "example", *metrics)}
    found: dict[tuple[str, str], System] = {}
    for row, key in enumerate(zip(columns["model"], columns["decoding"])):
        if key not in found:
            found[key] = System(folder, key[0], key[1], {name: {} for name in metrics})
        for name in metrics:
            found[key].scores[name][columns["example"][row]] = columns[name][row]
    chosen = [system for system in found.values() if not model or system.model == model]
    if not chosen:
        names = list(dict.fromkeys(system.model for system in found.values()))
        raise HarnessError(
            f"{folder} has no model '{model}'{did_you_mean(model, names)}; models are {', '.join(names)}"
        )
    return manifest, chosen


def pairs(paths: Sequence[str], any_data: bool = False) -> list[tuple[System, System]]:
    """What to compare: all pairs of one run, or for two runs the systems of the same name (or the only ones)."""
    if len(paths) == 1:
        _, found = systems(paths[0])
        if len(found) < 2:
            raise HarnessError(f"{paths[0]} holds one system; give two runs to compare")
        return list(itertools.combinations(found, 2))
    (one, a), (other, b) = systems(paths[0]), systems(paths[1])
    if not any_data and one["data"]["fingerprint"] != other["data"]["fingerprint"]:
        raise HarnessError(
            f"{a[0].run} and {b[0].run} read different data ({one['data']['reader']}, {other['data']['reader']}): equal ids would be "
            "paired by chance; --any-data compares all the same"
        )
    by_name = {(system.model, system.decoding): system for system in b}
    matched = [
        (system, by_name[system.model, system.decoding]) for system in a if (system.model, system.decoding) in by_name
    ]
    if matched:
        return matched
    if all("::" in path for path in paths):  # two chosen models: the same decodings
        by_decoding = {system.decoding: system for system in b}
        matched = [(system, by_decoding[system.decoding]) for system in a if system.decoding in by_decoding]
        if matched:
            return matched
    if len(a) == len(b) == 1:
        return [(a[0], b[0])]
    raise HarnessError(
        f"the runs share no system: {', '.join(s.label for s in a)} and {', '.join(s.label for s in b)}; choose with RUN::MODEL"
    )


def compare_systems(a: System, b: System, *, draws: int = 10_000, seed: int = 0) -> list[dict[str, Any]]:
    """One row per metric that both have, on the examples that both have. Raises :class:`HarnessError` when they share none."""
    rows = []
    for metric in a.scores:
        if metric not in b.scores:
            continue
        shared = [example for example in a.scores[metric] if example in b.scores[metric]]
        if not shared:
            raise HarnessError(f"{a.label} ({a.run}) and {b.label} ({b.run}) share no example")
        x, y = (np.array([s.scores[metric][e] for e in shared], dtype=np.float64) for s in (a, b))
        if np.all(np.isnan(x) | np.isnan(y)):
            continue
        outcome = asdict(compare(x, y, draws=draws, seed=seed))
        means = {"a": float(np.nanmean(x)), "b": float(np.nanmean(y))}
        rows.append({"metric": metric, "system_a": a.label, "system_b": b.label, **means, **outcome})
    if not rows:
        raise HarnessError(f"{a.label} and {b.label} share no metric with scores per example")
    return rows


def set_sizes(paths: Sequence[str]) -> dict[tuple[str, str, str], Any]:
    """(run, system label, metric) -> set sizes, for metrics of level ``set``, whose values compare within one size only."""
    out: dict[tuple[str, str, str], Any] = {}
    for path in paths:
        folder = str(path).partition("::")[0]
        _, results = read_run(folder)
        for record in results["results"]:
            if record["level"] == "set":
                decoding = json.dumps(record["decoding"], sort_keys=True)
                label = System(folder, record["model"], decoding, {}).label
                out[folder, label, record["metric"]] = record.get("sizes")
    return out


def directions(manifest_paths: Sequence[str]) -> dict[str, bool | None]:
    """metric -> higher is better, from the results of the runs."""
    out: dict[str, bool | None] = {}
    for path in manifest_paths:
        _, results = read_run(str(path).partition("::")[0])
        out.update({record["metric"]: record["higher_is_better"] for record in results["results"]})
    return out


def verdict(row: dict[str, Any], higher_is_better: bool | None, level: float = 0.05) -> str:
    """``A`` or ``B`` is better, or ``=`` where the difference is not significant at ``level``."""
    if row["p_value"] > level or row["difference"] == 0 or higher_is_better is None:
        return "="
    return "A" if (row["difference"] > 0) == higher_is_better else "B"
