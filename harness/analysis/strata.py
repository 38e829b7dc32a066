"""Metrics of systems on strata of their examples; corpus state is fitted on each stratum.

Follows Tanti et al. (2018): the examples of a system are sorted by a score of its captions (CIDEr-D with the document frequencies of
the whole set) and cut into 1..K strata; all metrics are computed on each stratum as on a data set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from harness.analysis.column_table import ColumnTable, from_records
from harness.contracts import CaptionSet, ReadsMeta, Scorer, TokenScores
from harness.errors import HarnessError, InputError, counted
from harness.registry import current
from harness.run.finished import Run
from harness.run.intervals import estimate
from harness.run.metric_plan import AnyMetricPlan, MetricPlan, TokenMetricPlan, caption_plans, metric_plans
from harness.run.score import score_sets
from harness.rundir.provenance import Provenance


def stratified_runs(paths: Sequence[Path], largest: int, by: str) -> ColumnTable:
    """Return one row per model, decoding and stratum of runs: ``largest * (largest + 1) / 2`` strata for each system.

    Columns are those of the runs' metrics; labels are run, dataset, model and decoding. Raises :class:`InputError` for a run
    without samples, or with fewer examples than strata.
    """
    (scorer,) = caption_plans(metric_plans([by]))
    rows: list[dict[str, object]] = []
    for path in paths:
        run = Run.open(path)
        plans = metric_plans([{item.name: item.params} for item in run.provenance.metrics])
        systems = run.samples.systems
        if not systems:
            raise InputError("its samples hold no captions", str(path))
        for system in systems:
            judged = any(isinstance(plan, TokenMetricPlan) for plan in plans)
            scores = _token_scores(run.provenance, system.model) if judged else {}
            labels = {
                "run": str(path), "dataset": run.provenance.task, "model": system.model, "decoding": system.decoding_key,
            }  # fmt: skip
            rows.extend({**labels, **row} for row in stratify_by_metric(system.caption_sets(), plans, largest, scorer, scores))
    return from_records(", ".join(map(str, paths)), rows)


def stratify_by_metric(
    sets: Sequence[CaptionSet],
    plans: Sequence[AnyMetricPlan],
    largest: int,
    scorer: MetricPlan,
    token_scores: Mapping[str, Sequence[TokenScores]] | None = None,
) -> list[dict[str, object]]:
    """Return one mapping per stratum, for 1 to ``largest`` strata: num_strata, stratum, and the value of every metric.

    None is the value of a metric that is undefined. Raises :class:`InputError` for more strata than examples, or an undefined score.
    """
    if not 1 <= largest <= len(sets):
        raise InputError(f"cannot make {largest} strata of {counted(len(sets), 'example')}")
    per_example = _score_sets(scorer, sets)
    if np.isnan(per_example).any():
        at = int(np.argmax(np.isnan(per_example)))
        raise InputError(f"'{scorer.label}' is undefined for the example '{sets[at].id}'; strata need a score for every example")
    rows: list[dict[str, object]] = []
    for k in range(1, largest + 1):
        for s, members in enumerate(strata(per_example, k)):
            values: dict[str, object] = {"num_strata": k, "stratum": s}
            for plan in plans:
                values.update(_values(plan, [sets[i] for i in members], token_scores or {}))
            rows.append(values)
    return rows


def _score_sets(plan: MetricPlan, sets: Sequence[CaptionSet]) -> np.ndarray:
    (scored,) = score_sets([plan.metric], sets)
    return scored.per_example(plan.metric)


def _values(plan: AnyMetricPlan, sets: Sequence[CaptionSet], token_scores: Mapping[str, Sequence[TokenScores]]) -> dict[str, float | None]:
    if isinstance(plan, TokenMetricPlan):
        metric = plan.metric
        metric = metric.of_meta(item.meta for item in sets) if isinstance(metric, ReadsMeta) else metric
        values = metric.evaluate_scores([token_scores[item.id] for item in sets])
        return {f"{plan.name}({name})": value for name, value in values.items()}
    (scored,) = score_sets([plan.metric], sets)
    value, _ = estimate(plan.metric, scored.stats[scored.defined], 0, 0)
    return {plan.label: None if np.isnan(value) else value}


def _token_scores(provenance: Provenance, label: str) -> dict[str, Sequence[TokenScores]]:
    """Return example id -> token scores, from the run's own model on the run's own data."""
    model = provenance.model(label)
    adapter = current().create("adapters", model.adapter, model.params)
    if adapter.fingerprint() != model.fingerprint:
        raise HarnessError(f"model '{label}' has changed since the run ({json.dumps(dict(model.params))})")
    dataset = dict(provenance.spec["dataset"])
    examples = list(current().create("readers", dataset.pop("reader"), dataset))[: provenance.data["examples"]]
    if not isinstance(adapter, Scorer):
        raise HarnessError(f"model '{label}' ({model.adapter}) cannot score references token by token")
    return {example.id: scores for example, scores in zip(examples, adapter.score_references(examples))}


def strata(per_image_scores: Sequence[float] | np.ndarray, k: int) -> list[list[int]]:
    """Return k lists of item indices by ascending score, for scores (N,).

    Stratum s holds the positions [N//k * s, N//k * (s + 1)) of a stable sort. The N mod k items with the highest scores belong to
    no stratum (Tanti et al. 2018); with k > N every stratum is empty.

    Raises
    ------
    InputError
        k is not an integer of at least 1, or a score is NaN.

    Examples
    --------

    >>> strata([0.3, 0.1, 0.2, 0.9, 0.5], 2)
    [[1, 2], [0, 4]]
    """
    scores = np.asarray(per_image_scores, dtype=np.float64)
    if scores.ndim != 1:
        raise InputError(f"strata need one score per item; found an array of shape {scores.shape}")
    if isinstance(k, bool) or int(k) != k or k < 1:
        raise InputError(f"the number of strata is {k!r}; expected an integer of at least 1", value=k)
    if np.isnan(scores).any():
        raise InputError("a score is NaN; strata need a number for every item", f"item {int(np.argmax(np.isnan(scores)))}")
    order, size = np.argsort(scores, kind="stable"), len(scores) // int(k)
    return [order[size * s : size * (s + 1)].tolist() for s in range(int(k))]
