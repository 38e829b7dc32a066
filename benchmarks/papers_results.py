"""Averages of p-values beside the published ones, with standard errors: run studies of
Chan et al. 2022 and store their results.

    python -m benchmarks.papers_results [table1] [tableB1] [tableB2] [figureB1] [orders]
    [tanti2018] [--limit N] [--output FOLDER]

Each study runs at the size below, by the metrics that have a published number. A cell
is one number of a view with published values: the aggregation is that of the view
(``mean p``: arithmetic mean, ...), its standard error that of a bootstrap over
examples, and of harmonic means that of simulated p-values of people against people.
``table1`` also has variants, which are not judged: the mean over references in place of
the best one, other encoders, and BLEU-4 with ties: the sentence score is 0 where an
order has no match. ``orders`` runs Figure B.1 and Table B.2 at three seeds. Files
docs/studies/results/ITEM.json hold the cells and tables of the study pages;
``python -m tools.documentation.result_tables`` writes them into the pages. About five
CPU minutes for all.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks import papers_checks
from benchmarks.captions import data_folder
from benchmarks.papers_rule import (
    AGGREGATIONS,
    RESULTS,
    bootstrap_error,
    exchangeable_moments,
    join_errors,
    same_order,
)
from caption_kernels.batches import ngram
from harness import api
from harness.contracts import CaptionSet
from harness.reporting.views import split_quantity
from harness.run.finished import Run
from harness.run.tasks import execute_tasks
from harness.rundir.records import lookup
from harness.spec.published import PublishedTable
from harness_metrics.tokenisers.text_rows import TextRows

ROOT = Path(__file__).resolve().parents[1]
INDEX = ROOT / "tasks/harness_tasks/studies/published/index.yaml"
NAMES = {
    "mean p": "arithmetic mean",
    "log mean p": "log of the arithmetic mean",
    "mean log p": "mean of logarithms",
    "harmonic p": "harmonic mean",
    "log harmonic p": "log of the harmonic mean",
}
"""Quantity of a view -> aggregation."""
VARIANTS = {
    "pairwise(rouge)": "rouge",
    "pairwise(meteor)": "meteor",
    "bertscore": "pairwise(bert)",
    "pairwise(bert, best)": "pairwise(bert)",
    "pairwise(cosine-glove)": "pairwise(bert)",
}
"""Variant of a metric of Table 1 -> the metric with the published numbers."""
PAIRWISE = (
    "[{bleu: {n: 4}}, rouge, {pairwise: {distance: rouge}}, meteor, {pairwise: "
    "{distance: meteor}}, cider, {pairwise: {distance: bert}}, "
    "{pairwise: {distance: bert, aggregate: best}}, bertscore, {pairwise: {distance: "
    "{bert: {embedding: glove}}}}]"
)
MAUVE = "[meteor, {trm: {distance: meteor}}, mmd, mauve-example]"
STUDIES: dict[str, tuple[str, int, list[str]]] = {
    "table1": ("studies/trm-table1", 500, [f"metrics={PAIRWISE}"]),
    "tableB1": ("studies/human-pvalues", 200, []),
    "tableB2": ("studies/mauve", 100, [f"metrics={MAUVE}"]),
    "figureB1": (
        "studies/embeddings",
        2990,
        [
            "metrics=[{trm: {distance: cider}}, {mmd: {embedding: [minilm, glove, "
            "bow]}}]"
        ],
    ),
}
"""Item -> spec, limit of examples, overrides."""
SKIPPED = {
    "table1": ["sample-single"],
    "tableB1": ["abstract50s-human", "coco-human"],
    "tableB2": ["mauve-coco"],
    "figureB1": ["msrvtt-partial"],
}
"""Item -> tasks of the study without a published number of the same experiment."""
LIMITS = {"msrvtt-single": 250}
"""Task -> limit of examples below that of its study."""
SEEDS = range(3)
VIDEOS = 60
TIED = "BLEU-4, ties"
SYMMETRIC = ("mmd", "frechet")
"""Metrics that do not tell candidates from references."""


def system_of(run: Run, record: Any) -> Any:
    """Return the system of a record."""
    (system,) = (
        s
        for s in run.samples.systems
        if s.model == record.model and s.decoding == record.decoding
    )
    return system


def p_values(run: Run, record: Any) -> np.ndarray:
    """Return the p-values of the examples of a record, without undefined ones."""
    p = run.samples.numbers(f"p:{record.metric}")[system_of(run, record).rows]
    return p[~np.isnan(p)]


def published_cells(run: Run, published_n: int | None) -> Iterator[dict[str, Any]]:
    """Yield the cells of the views with published values, with all aggregations and the
    calibrated p of ours; then those of variants.
    """
    for view in run.provenance.views:
        name, _ = split_quantity(view.metrics[0])
        if name not in NAMES or not isinstance(view.reference, PublishedTable):
            continue

        for row, record in itertools.product(view.reference.rows, run.records):
            if view.x == "metric":
                label = str(lookup(record, str(view.by)))
                column = record.metric
            else:
                label = f"{name}:{record.metric} {lookup(record, str(view.by))}"
                column = str(lookup(record, view.x))

            value = row.values.get(VARIANTS.get(column, column))
            if (
                row.task == run.provenance.task
                and row.label == label
                and isinstance(value, float)
            ):
                cell = cell_of(
                    row.title,
                    record,
                    p_values(run, record),
                    NAMES[name],
                    value,
                    published_n,
                )
                yield variant_of(cell, record.metric) if column in VARIANTS else cell

                if column == "bleu4":
                    tied = tied_bleu_p(system_of(run, record).caption_sets())
                    yield variant_of(
                        cell_of(
                            row.title, record, tied, NAMES[name], value, published_n
                        ),
                        TIED,
                    )


def cell_of(
    row: str,
    record: Any,
    p: np.ndarray,
    aggregation: str,
    published: float,
    published_n: int | None,
) -> dict[str, Any]:
    """Return a cell as stored: the aggregation of the published number, its error and
    expectation, and ours by every aggregation.
    """
    candidates = record.sizes["candidates"][0]
    references = record.sizes["references"][0]
    relabelings = math.comb(candidates + references, references)
    # exchanging the sets gives the same value
    if candidates == references and record.metric.startswith(SYMMETRIC):
        relabelings //= 2
    expected, expected_error = exchangeable_moments(relabelings, len(p), aggregation)
    # A bootstrap cannot draw the rare small p that make the tail of a harmonic mean:
    # its error is that of the simulation.
    error = (
        expected_error if "harmonic" in aggregation else bootstrap_error(p, aggregation)
    )
    return {
        "row": row,
        "metric": record.metric,
        "task": record.task,
        "aggregation": aggregation,
        "published": published,
        "ours": float(AGGREGATIONS[aggregation](p)),
        "error": join_errors(error, len(p), published_n),
        "n": len(p),
        "expected": expected,
        "expected_error": expected_error,
        "calibrated": record.p_value,
        "all": {key: float(function(p)) for key, function in AGGREGATIONS.items()},
    }


def variant_of(cell: dict[str, Any], metric: str) -> dict[str, Any]:
    """Return a cell of another metric than that of the published number,
    which is not judged.
    """
    return {
        key: cell[key]
        for key in ("row", "task", "aggregation", "published", "ours", "error", "n")
    } | {
        "metric": metric,
        "variant": True,
    }


def tied_bleu_p(sets: Sequence[CaptionSet]) -> np.ndarray:
    """Return p-values (n,) of one candidate against m references by sentence BLEU-4
    that is 0 where an order has no match.

    The p of an example is the share of its m + 1 texts whose score against the others
    is at most that of the candidate.
    """
    out: list[float] = []
    for item in sets:
        own = TextRows("ptb")
        rows = own.index.gram_rows(own.add([*item.candidates, *item.references]))
        order = np.array(
            [[k, *(j for j in range(len(rows)) if j != k)] for k in range(len(rows))]
        )
        texts = rows[order[:, :1]]
        against = rows[order[:, 1:]]
        matches = ngram.clip_at_all(own.index, texts, against)
        lengths = ngram.row_lengths(own.index, texts)
        closest = ngram.closest_lengths(lengths, ngram.row_lengths(own.index, against))
        score = ngram.bleu(matches, ngram.count_guesses(lengths), lengths, closest, 4)[
            :, 0
        ]
        score = np.where((matches[:, 0] > 0).all(axis=-1), score, 0.0)
        out.append(float((score <= score[0]).mean()))
    return np.array(out)


def task_runs(
    spec: str,
    skipped: Sequence[str],
    overrides: Sequence[str],
    limit: int,
    **replace: Any,
) -> Iterator[Run]:
    """Yield the runs of the tasks of a study without the skipped ones,
    each at its own limit.
    """
    overrides = ["bootstrap.samples=0", *overrides]
    for index, task in enumerate(
        [plan.spec.task for plan in api.plans(spec, overrides, limit=1, **replace)]
    ):
        if task not in skipped:
            plan = api.plans(
                spec, overrides, limit=min(limit, LIMITS.get(task, limit)), **replace
            )[index]
            yield from execute_tasks([plan])


def measure(item: str, limit: int | None) -> Iterator[dict[str, Any]]:
    """Run the study of an item and yield its cells and tables after each task."""
    spec, usual, overrides = STUDIES[item]
    published_n = yaml.safe_load(INDEX.read_text(encoding="utf-8"))["items"][
        "chan2022"
    ][item].get("published_n")
    cells: list[dict[str, Any]] = []
    command = f"python -m benchmarks.papers_results {item}" + (
        f" --limit {limit}" if limit else ""
    )
    for run in task_runs(spec, SKIPPED.get(item, ()), overrides, limit or usual):
        cells += published_cells(run, published_n)
        yield {
            "command": command,
            "cells": cells,
            "tables": tables_of(item, cells, published_n),
        }


def tables_of(
    item: str, cells: Sequence[dict[str, Any]], published_n: int | None
) -> dict[str, dict[str, Any]]:
    """Return the tables of the study page: ours with its standard error beside the
    published values, and ours by every aggregation.

    The standard error is that of ours, or that of the difference where the paper prints
    its number of examples.
    """
    error = (
        "error"
        if published_n is None
        else f"error of the difference from {published_n} published examples"
    )

    metrics = list(dict.fromkeys(cell["metric"] for cell in cells))
    measured = list(dict.fromkeys(cell["metric"] for cell in cells if "all" in cell))
    rows: dict[tuple[str, str, int], dict[str, dict[str, Any]]] = {}
    for cell in cells:
        rows.setdefault((cell["row"], cell["task"], cell["n"]), {})[cell["metric"]] = (
            cell
        )

    beside: list[list[str]] = []
    every: list[list[str]] = []
    for (row, task, n), found in rows.items():
        head = f"{row}, {n} ({task})"
        beside.append(
            [
                f"{head}: ours ± {error}",
                *(text(found, m, "ours", "error") for m in metrics),
            ]
        )
        beside.append(["published", *(text(found, m, "published") for m in metrics)])

        if any("expected" in cell for cell in found.values()) and "people" in row:
            beside.append(
                [
                    "expected without ties ± error",
                    *(text(found, m, "expected", "expected_error") for m in metrics),
                ]
            )

        for name in AGGREGATIONS:
            every.append(
                [f"{head}: {name}", *(f"{found[m]['all'][name]:.3f}" for m in measured)]
            )
        every.append(
            [
                f"{head}: combined p (calibrated)",
                *(f"{found[m]['calibrated']:.2g}" for m in measured),
            ]
        )

    return {
        item: {"headers": ["", *metrics], "rows": beside},
        f"{item}-aggregations": {"headers": ["", *measured], "rows": every},
    }


def text(
    found: dict[str, dict[str, Any]], metric: str, value: str, error: str = ""
) -> str:
    """Return a number of the cell of a metric, with its error;
    empty where there is none.
    """
    cell = found.get(metric, {})
    return (
        ""
        if value not in cell
        else f"{cell[value]:.3f}" + (f" ± {cell[error]:.3f}" if error else "")
    )


def orders() -> dict[str, Any]:
    """Return averages of p of people against people at several seeds, and the order of
    Figure B.1 that all of them give, if any.
    """
    spec, _, overrides = STUDIES["figureB1"]
    by_seed: list[dict[str, float]] = []
    for seed in SEEDS:
        runs = task_runs(spec, SKIPPED["figureB1"], overrides, VIDEOS, seed=seed)
        by_seed.append(
            {
                cell["metric"]: cell["ours"]
                for run in runs
                for cell in published_cells(run, None)
            }
        )

    metrics = list(by_seed[0])
    rows = [
        [f"seed {seed}", *(f"{values[m]:.2f}" for m in metrics)]
        for seed, values in zip(SEEDS, by_seed)
    ]

    people: list[list[str]] = []
    for seed in SEEDS:
        (run,) = task_runs(
            "studies/mauve", SKIPPED["tableB2"], [f"metrics={MAUVE}"], 100, seed=seed
        )
        p = {record.metric: p_values(run, record) for record in run.records}
        means = (
            f"{np.log(values.mean()):.3f} ± "
            f"{bootstrap_error(values, NAMES['log mean p']):.3f}"
            for values in p.values()
        )
        people.append([f"seed {seed}", *means])

    moments: list[list[str]] = []
    for n in (VIDEOS, 300, 1000, 2990):
        # A statistic that does not change when two sets of equal size are exchanged has
        # half as many values.
        pairs = [
            exchangeable_moments(count, n, "log of the harmonic mean")
            for count in (252, 126)
        ]
        moments.append(
            [str(n), *(f"{mean:.2f} ± {error:.2f}" for mean, error in pairs)]
        )

    return {
        "command": "python -m benchmarks.papers_results orders",
        "order": same_order(by_seed),
        "values": by_seed,
        "tables": {
            "orders": {"headers": ["60 videos", *metrics], "rows": rows},
            "orders-mauve": {
                "headers": ["people, 100 videos, log of the arithmetic mean", *p],
                "rows": people,
            },
            "harmonic-moments": {
                "headers": [
                    "log harmonic p, 5 + 5",
                    "252 values",
                    "126 values (symmetric, as MMD)",
                ],
                "rows": moments,
            },
        },
    }


def tanti() -> dict[str, Any]:
    """Return the cells of Tanti et al. 2018: the worked example, and coefficients on
    the published table of 540 rows.
    """
    items = {
        item["id"]: item
        for item in yaml.safe_load(
            (INDEX.parent / "tanti2018.yaml").read_text(encoding="utf-8")
        )["items"]
    }
    found = papers_checks.published_table(items, data_folder() / "pregen/data.txt.gz")
    example = papers_checks.worked_example_score(items)
    printed = items["figure1"]["dataset_score"]["tier4_mean"]
    numbers = {
        "figure1": (example, printed),
        "figure2": (round(found["r2_of_perplexity"], 3), 0.76),
        "figure4": (round(found["r2_of_best"], 3), 0.94),
    }
    cells = [
        {
            "item": item,
            "row": "worked example" if item == "figure1" else "published table",
            "metric": item,
            "ours": ours,
            "published": published,
            "error": 0.0,
            "n": 2 if item == "figure1" else 540,
        }
        for item, (ours, published) in numbers.items()
    ]
    return {
        "command": "python -m benchmarks.papers_results tanti2018",
        "cells": cells,
        "published_table": found,
        "tables": {},
    }


def write_results(file: Path, content: dict[str, Any]) -> None:
    """Write results as JSON, numbers with six digits."""
    file.parent.mkdir(parents=True, exist_ok=True)
    rounded = json.loads(
        json.dumps(content), parse_float=lambda value: float(f"{float(value):.6g}")
    )
    file.write_text(
        json.dumps(rounded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


OTHERS = {"orders": orders, "tanti2018": tanti}
"""Name of a file -> function without a study of an item."""


def main() -> None:
    """Measure the items and write their files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "items", nargs="*", choices=[*STUDIES, *OTHERS, "all"], default="all"
    )
    parser.add_argument("--limit", type=int, help="examples of each task")
    parser.add_argument(
        "--output", type=Path, default=RESULTS, help="folder of the files"
    )
    options = parser.parse_args()
    # argparse checks a list of defaults as one choice, which none is
    chosen = [*STUDIES, *OTHERS] if "all" in options.items else options.items
    for item in chosen:
        start = time.process_time()
        is_alone = item in OTHERS
        contents = [OTHERS[item]()] if is_alone else measure(item, options.limit)
        for content in contents:
            write_results(options.output / f"{item}.json", content)  # after each task
        print(f"{item}: {time.process_time() - start:.0f} CPU seconds", flush=True)


if __name__ == "__main__":
    main()
