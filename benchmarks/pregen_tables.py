"""Study of Tanti et al. 2018 with models trained here, and the tables of
docs/studies/pregen.md, for :mod:`benchmarks.study_tables`.

``pregen``: studies/pregen-captioner with exhaustive and with short captions. Models are
trained on first use and cached.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.pregen_choice import choices
from harness import api
from harness.decisions.correlate.column_table import from_records
from harness.decisions.correlate.correlate import choose, study
from harness.decisions.correlate.study import Study
from harness.run.finished import Run

Table = dict[str, Any]
BEST = "pregen(mean_max_normcount_prefix0)"
PERPLEXITY = "pregen(geomean_join_pplx_none)"
"""Best function of the paper, and its baseline."""
POSTGEN = {
    "cider": "CIDEr",
    "meteor": "METEOR",
    "wmd(similarity)": "WMD, similarity",
    "false-features": "wrong features",
}
STAGES = (1, 4, 8)


def pregen_runs() -> list[Run]:
    """Run the study with both kinds of captions."""
    runs: list[Run] = []
    for kind in ("exhaustive", "short"):
        os.environ["CAPTIONS"] = kind
        runs += api.evaluate_all("studies/pregen-captioner")
    return runs


def correlations(runs: Sequence[Run], first_stage: int = 1) -> Study:
    """Return the correlations of the pre-gen functions with the metrics of captions,
    over systems from a stage on.
    """
    systems: dict[tuple[str, str], dict[str, Any]] = {}
    for run in runs:
        for record in run.records:
            if int(record.model.split()[1]) >= first_stage:
                systems.setdefault(
                    (record.task, record.model), {"model": record.model}
                )[record.metric] = record.value
    table = from_records("studies/pregen-captioner", systems.values())
    return study(table, choose(table, "pregen"), [*POSTGEN])


def r2_rows(head: str, found: Study) -> list[list[str]]:
    """Return R² of the best function of the paper,
    of perplexity and of the best of all, with their ranks.
    """
    rows: list[list[str]] = []
    ranked = {metric: found.best(metric) for metric in POSTGEN}
    for label, name in (
        ("best of the paper", BEST),
        ("perplexity", PERPLEXITY),
        ("best of all", ""),
    ):
        cells: list[str] = []
        for metric, order in ranked.items():
            record = found.record(name or order[0], metric)
            value = f"{record['r2']:.3f}, Spearman {record['spearman']:.2f}"
            cells.append(
                f"{value}, {order.index(name) + 1} of {len(order)}"
                if name
                else f"{value}: {order[0][7:-1]}"
            )
        rows.append([f"{head}: {label}", *cells])
    return rows


def pregen_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return R² of pre-gen functions with metrics of captions, values by stage of
    training, and the choice of an architecture.
    """
    exhaustive, short = runs
    rows = [
        *r2_rows("exhaustive", correlations([exhaustive])),
        *r2_rows("short", correlations([short])),
        *r2_rows("exhaustive, from stage 4", correlations([exhaustive], 4)),
        *r2_rows("short, from stage 4", correlations([short], 4)),
        *r2_rows("both", correlations(runs)),
    ]

    values = {
        (record.model, record.metric): record.value for record in exhaustive.records
    }
    shown = (BEST, PERPLEXITY, "cider", "meteor")

    by_stage = [
        [
            f"{name} {stage}",
            *(f"{values[f'{name} {stage}', metric]:.3f}" for metric in shown),
        ]
        for name in ("init", "pre", "par", "merge")
        for stage in STAGES
    ]

    return {
        "pregen-r2": {"headers": ["R² over systems", *POSTGEN.values()], "rows": rows},
        "pregen-stages": {
            "headers": [
                "exhaustive, stage",
                "best of the paper",
                "perplexity",
                "CIDEr",
                "METEOR",
            ],
            "rows": by_stage,
        },
        "pregen-choice": {
            "headers": [
                "chosen by",
                "mean CIDEr of the chosen one",
                "share of the best",
                "stages with the best",
            ],
            "rows": choices(exhaustive),
        },
    }


STUDIES: dict[
    str, tuple[Callable[[], list[Run]], Callable[[Sequence[Run]], dict[str, Table]]]
] = {"pregen": (pregen_runs, pregen_tables)}
"""Study -> function that runs it, and its tables."""
