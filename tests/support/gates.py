"""Logs, examples and pairs of scores for tests of the gate."""

from __future__ import annotations

import dataclasses
import json

import numpy as np

from harness.analysis.paired_family import PairedMetric, SystemData
from harness.decisions.gate.margin_tests import GatedExamples
from harness.decisions.gate.result import GateResult, GateRow
from harness.run.sequences import random_order


def write_log(path, *columns, missing=()):
    """Write scores of lm-eval, a column per metric: ``acc``,
    then ``match,1``, ``match,2``, ...
    """
    names = ["acc", *(f"match,{k}" for k in range(1, len(columns)))]
    rows = [
        {"doc_id": k, "doc_hash": f"h{k}", "metrics": names, **dict(zip(names, scores))}
        for k, scores in enumerate(zip(*columns))
        if k not in missing
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def examples(count, clusters=None, are_answers=False) -> GatedExamples:
    return GatedExamples(
        [f"e{k}" for k in range(count)],
        clusters,
        np.zeros(count, dtype=bool),
        None,
        are_answers,
    )


def paired(metric, new, old, higher=True) -> PairedMetric:
    metric.spec = dataclasses.replace(metric.spec, higher_is_better=higher)
    return PairedMetric(
        metric, *(SystemData(side[:, None], side) for side in (new, old))
    )


def in_order(values, names):
    """Return values in the order in which a gate bets on them."""
    return values[random_order(names, 0)]


def only(result: GateResult) -> GateRow:
    (row,) = result.rows
    return row


def answers(right_before, broken, improved, n):
    """Return scores of the baseline and of the new version."""
    old = np.zeros(n)
    old[:right_before] = 1.0
    new = old.copy()
    new[:broken] = 0.0
    new[right_before : right_before + improved] = 1.0
    return old.tolist(), new.tolist()
