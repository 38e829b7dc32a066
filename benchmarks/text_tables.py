"""Text without images: runs and the tables of docs/studies/text-tasks.md, for
:mod:`benchmarks.study_tables`.

``text-tasks``: simplification, translation into German and French, dialogue and
summarisation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.captions import data_folder, read_json_lines
from benchmarks.papers_results import p_values
from benchmarks.papers_rule import AGGREGATIONS
from harness import api
from harness.run.finished import Run

Table = dict[str, Any]
LIMIT = 40
TARGETS = ("de", "fr")


def text_runs() -> list[Run]:
    """Run the tasks on the first examples."""
    runs = api.evaluate_all("simplification", limit=LIMIT)
    for target in TARGETS:
        os.environ["TARGET"] = target
        runs += api.evaluate_all("translation", limit=LIMIT)
    return [
        *runs,
        *api.evaluate_all("dialogue", limit=LIMIT),
        *api.evaluate_all("summarization"),
    ]


def text_tables(runs: Sequence[Run]) -> dict[str, Table]:
    """Return the metrics of each task with combined p and harmonic mean of p, and the
    copied references of the translations.
    """
    tables = {run.provenance.task: task_table(run) for run in runs}
    rows: list[list[str]] = []
    for target in TARGETS:
        pairs = read_json_lines(
            data_folder() / f"wmt14_extra_refs/en-{target}.jsonl.gz"
        )
        copies = sum(row["original_reference"] in row["references"] for row in pairs)
        rows.append([f"en-{target}", f"{copies} of {len(pairs)}"])
    return tables | {
        "translation-copies": {
            "headers": ["", "reference of the test set among the ten others"],
            "rows": rows,
        }
    }


def task_table(run: Run) -> Table:
    """Return the values of a run by model and metric, with combined p and harmonic mean
    of p where there are p-values.
    """
    cells: dict[tuple[str, str], str] = {}
    for record in run.records:
        text = f"{record.value:.3f}"
        if record.p_value is not None:
            text += (
                f" ({record.p_value:.2g}; "
                f"{AGGREGATIONS['harmonic mean'](p_values(run, record)):.2g})"
            )
        cells[record.model, record.metric] = text
    models, metrics = (list(dict.fromkeys(key[k] for key in cells)) for k in range(2))
    head = (
        f"{max(record.n for record in run.records)} examples: value (combined p; "
        "harmonic mean of p)"
    )
    return {
        "headers": [head, *metrics],
        "rows": [
            [model, *(cells.get((model, metric), "") for metric in metrics)]
            for model in models
        ],
    }


STUDIES: dict[
    str, tuple[Callable[[], list[Run]], Callable[[Sequence[Run]], dict[str, Table]]]
] = {"text-tasks": (text_runs, text_tables)}
"""Study -> function that runs it, and its tables."""
