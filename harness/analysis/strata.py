"""Systems on strata of their examples: every metric computed anew on each stratum, corpus state included.

As in Tanti et al. (2018): a system's examples are sorted by a score of its captions (CIDEr-D with the document frequencies
of the whole set), cut into 1..K strata, and on each stratum all metrics are computed as if it were the data set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.analysis.column_table import ColumnTable, from_records
from harness.contracts import CaptionSet, TokenScoreMetric, TokenScores
from harness.errors import HarnessError, InputError
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan
from harness.rundir.store import read_run
from harness.stats.strata import strata


def stratified_runs(paths: Sequence[Path], largest: int, by: str) -> ColumnTable:
    """One row per model, decoding and stratum of runs, ``largest * (largest + 1) / 2`` strata for each.

    Columns are those of the runs' metrics; labels are run, dataset, model and decoding. Raises :class:`InputError` for a run
    without samples, or with fewer examples than strata.
    """
    from harness.api import metric_plans

    (scorer,) = metric_plans([by])
    rows: list[dict[str, Any]] = []
    for path in paths:
        manifest, _ = read_run(path)
        plans = metric_plans([{item["name"]: item["params"]} for item in manifest["metrics"]])
        for (model, decoding), sets in _systems(path).items():
            scores = _token_scores(manifest, model) if any(p.metric.spec.level == "model" for p in plans) else {}
            labels = {"run": str(path), "dataset": manifest["task"], "model": model, "decoding": decoding}
            rows.extend({**labels, **row} for row in stratified(sets, plans, largest, scorer, scores))
    return from_records(", ".join(map(str, paths)), rows)


def stratified(
    sets: Sequence[CaptionSet],
    plans: Sequence[MetricPlan],
    largest: int,
    scorer: MetricPlan,
    token_scores: Mapping[str, Sequence[TokenScores]] | None = None,
) -> list[dict[str, Any]]:
    """One mapping per stratum of 1..``largest``: num_strata, stratum, and the value of every metric on it (None: undefined)."""
    if not 1 <= largest <= len(sets):
        raise InputError(f"cannot make {largest} strata of {len(sets)} examples")
    per_example = _scored(scorer, sets)
    if np.isnan(per_example).any():
        at = int(np.argmax(np.isnan(per_example)))
        raise InputError(f"'{scorer.label}' is undefined for the example '{sets[at].id}': no strata can be made of it")
    rows = []
    for k in range(1, largest + 1):
        for s, members in enumerate(strata(per_example, k)):
            values: dict[str, Any] = {"num_strata": k, "stratum": s}
            for plan in plans:
                values.update(_values(plan, [sets[i] for i in members], token_scores or {}))
            rows.append(values)
    return rows


def _scored(plan: MetricPlan, sets: Sequence[CaptionSet]) -> np.ndarray:
    features = FeatureCache([item.references for item in sets])
    found = scoring.score(plan.metric, scoring.batches(sets, features, None), features, None, 0)
    return np.where(found.defined, plan.metric.per_example(found.stats), np.nan)


def _values(
    plan: MetricPlan, sets: Sequence[CaptionSet], token_scores: Mapping[str, Sequence[TokenScores]]
) -> dict[str, float | None]:
    if isinstance(plan.metric, TokenScoreMetric) and plan.metric.spec.level == "model":
        values = plan.metric.evaluate_scores([token_scores[item.id] for item in sets])
        return {f"{plan.name}({name})": value for name, value in values.items()}
    features = FeatureCache([item.references for item in sets])
    found = scoring.score(plan.metric, scoring.batches(sets, features, None), features, None, 0)
    value, _ = scoring.value_and_interval(plan.metric, found.stats[found.defined], 0, 0)
    return {plan.label: None if np.isnan(value) else value}


def _systems(path: Path) -> dict[tuple[str, str], list[CaptionSet]]:
    """(model, decoding) -> caption sets, from samples.parquet."""
    import pyarrow.parquet as pq

    file = path / "samples.parquet"
    if not file.is_file():
        raise InputError("has no samples.parquet: there are no captions to stratify", str(path))
    table = pq.read_table(file, columns=["model", "decoding", "example", "candidates", "references"])
    systems: dict[tuple[str, str], list[CaptionSet]] = {}
    for row in table.to_pylist():
        made = CaptionSet(row["example"], tuple(row["candidates"]), tuple(row["references"]))
        systems.setdefault((row["model"], row["decoding"]), []).append(made)
    if not systems:
        raise InputError("samples.parquet holds no captions", str(path))
    return systems


def _token_scores(manifest: Mapping[str, Any], model: str) -> dict[str, Sequence[TokenScores]]:
    """Example id -> token scores, asked of the run's own model on the run's own data."""
    from harness.contracts import Scorer
    from harness.registry import current

    own = next(item for item in manifest["models"] if item["label"] == model)
    adapter = current().create("adapters", own["adapter"], own["params"])
    if adapter.fingerprint() != own["fingerprint"]:
        raise HarnessError(f"model '{model}' has changed since the run ({json.dumps(own['params'])})")
    dataset = dict(manifest["spec"]["dataset"])
    examples = list(current().create("readers", dataset.pop("reader"), dataset))[: manifest["data"]["examples"]]
    if not isinstance(adapter, Scorer):
        raise HarnessError(f"model '{model}' ({own['adapter']}) cannot score references token by token")
    return {example.id: scores for example, scores in zip(examples, adapter.score_references(examples))}
