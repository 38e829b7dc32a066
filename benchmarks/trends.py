"""Items of the papers that differ for lack of size, each at three sizes, and the
command that stores them.

    python -m benchmarks.trends [rnnlm] [epochs] [news] [tvt] [--output FOLDER]

``rnnlm``: the language model of Figure 3 of Li et al. 2020, trained on a quarter, a
half and all of the sentences of studies/crnrr-temperature, with the references,
temperatures and epochs of the study, and the tables of that study. ``epochs``: the same
tables after the 30 epochs of the paper, and the held-out perplexity by epoch. ``news``:
the news half of studies/crnrr-table2 with 1,250, 2,500 and 5,000 sentences on each
side, and the power law of the last doubling continued to the published size. ``tvt``:
the model of Chan et al. 2022 by three widths and by three numbers of scenes, on the
test scenes of studies/trained-here, which no training here has seen. Models are trained
on first use and cached. Writes docs/studies/results/trends.json, of which the items
that are not named keep their tables.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.crnrr_tables import (
    digits,
    temperature_tables,
    trend_headers,
    trend_rows,
)
from benchmarks.papers_results import INDEX, task_runs, write_results
from benchmarks.papers_rule import RESULTS
from harness import api
from harness.files.user_path import cache_folder
from harness.run.tasks import execute_tasks
from harness.rundir.records import lookup

Table = dict[str, Any]
CORPORA = {"crnrr-temperature-coco": 5000, "crnrr-temperature-news": 2500}
"""Task of studies/crnrr-temperature -> candidates and references."""
SIZES = (1250, 2500, 5000)
"""Sentences of the news on each side."""
EPOCHS = (1, 3, 6, 10, 15, 20, 30)
"""Epochs whose held-out perplexity is in the table; the last one is that of the paper.
"""
WIDTHS = (64, 128, 256)
SCENES = (150, 300, 600)
TVT = {
    "cider": "CIDEr",
    "meteor": "METEOR",
    "trm(cider)": "TRM(CIDEr)",
    "trm(meteor)": "TRM(METEOR)",
    "false-features": "wrong features",
}


def language_models() -> dict[str, Table]:
    """Return CND at t = 1, temperature of the least CND and held-out perplexity by
    number of sentences, and all metrics of the whole.
    """
    rows: list[list[str]] = []
    tables: dict[str, Table] = {}
    for task, limit in CORPORA.items():
        corpus = task.removeprefix("crnrr-temperature-")
        others = [other for other in CORPORA if other != task]
        total = len(language_model(task).corpus.lines())

        for share, size in (
            ("a quarter", total // 4),
            ("a half", total // 2),
            ("all", total),
        ):
            overrides = (
                [
                    "metrics=[{cnd: {n: [1, 2, 3]}}]",
                    f"models.0.rnnlm.train.corpus.limit={size}",
                ]
                if share != "all"
                else []
            )

            (run,) = task_runs("studies/crnrr-temperature", others, overrides, limit)
            settings = training_settings(task, overrides)
            values = {
                (r.metric, lookup(r, "decoding.temperature")): r.value
                for r in run.records
                if r.model == "RNNLM"
            }

            temperatures = sorted({temperature for _, temperature in values})
            least = [
                min(temperatures, key=lambda t: values[f"cnd{n}", t]) for n in (1, 2, 3)
            ]

            rows.append(
                [
                    f"{corpus}, {share}: {settings['sentences']:,}",
                    f"{settings['vocabulary']:,}",
                    digits(settings["curve"][-1]["perplexity"]),
                    *(digits(values[f"cnd{n}", 1.0]) for n in (1, 2, 3)),
                    ", ".join(map(str, least)),
                ]
            )

            if share == "all":
                tables |= temperature_tables([run])
        rows.append(
            [
                f"{corpus}, real text",
                "",
                "",
                tables[task]["rows"][0][-1],
                tables[task]["rows"][1][-1],
                tables[task]["rows"][2][-1],
                "",
            ]
        )

    headers = [
        "sentences",
        "words",
        "held-out perplexity",
        *(f"CND-{n} at t = 1" for n in (1, 2, 3)),
        "t of the least CND-1, 2, 3",
    ]
    return {"trend-rnnlm": {"headers": headers, "rows": rows}} | tables


def long_trainings() -> dict[str, Table]:
    """Return all metrics by temperature after the epochs of the paper,
    and the held-out perplexity by epoch.
    """
    overrides = [f"models.0.rnnlm.train.epochs={EPOCHS[-1]}"]
    rows: list[list[str]] = []
    tables: dict[str, Table] = {}
    for task, limit in CORPORA.items():
        (run,) = task_runs(
            "studies/crnrr-temperature",
            [other for other in CORPORA if other != task],
            overrides,
            limit,
        )
        tables[f"{task}-epochs"] = temperature_tables([run])[task]
        curve = {
            row["epoch"]: row["perplexity"]
            for row in training_settings(task, overrides)["curve"]
        }
        least = min(curve, key=lambda epoch: curve[epoch])
        rows.append(
            [
                task.removeprefix("crnrr-temperature-"),
                *(digits(curve[n]) for n in EPOCHS),
                f"{digits(curve[least])}, epoch {least}",
            ]
        )
    return {
        "crnrr-epochs": {
            "headers": ["held-out perplexity after", *map(str, EPOCHS), "least"],
            "rows": rows,
        }
    } | tables


def language_model(task: str, overrides: Sequence[str] = ()) -> Any:
    """Return the adapter of the language model of a task,
    which is not trained for it.
    """
    plans: list[Any] = api.plans("studies/crnrr-temperature", overrides, limit=1)
    (adapter,) = (plan.models[0].adapter for plan in plans if plan.spec.task == task)
    return adapter


def training_settings(task: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Return the settings and the curve of the trained model of a task,
    from the cache.
    """
    adapter = language_model(task, overrides)
    return json.loads(
        (
            cache_folder("rnnlm")
            / adapter.recipe.key(adapter.corpus.fingerprint())
            / "config.json"
        ).read_text(encoding="utf-8")
    )


def news() -> dict[str, Table]:
    """Return QDisc and Self-Ratio of the news by the number of sentences,
    continued to the published number.
    """
    tasks = [str(plan.spec.task) for plan in api.plans("studies/crnrr-table2", limit=1)]
    others = [task for task in tasks if task != "crnrr-table2-news"]
    found: list[dict[str, Any]] = []
    for size in SIZES:
        (run,) = task_runs(
            "studies/crnrr-table2",
            others,
            [f"dataset.limit={size}", f"models.0.lines.limit={size}"],
            size,
        )
        found.append({record.metric: record.value for record in run.records})
    rows = [
        row
        for measure in ("qdisc", "self-ratio")
        for row in trend_rows(found, SIZES, "WMT", measure)
    ]
    return {"trend-news": {"headers": trend_headers(SIZES), "rows": rows}}


def captioners() -> dict[str, Table]:
    """Return metrics of TVT by width and by number of scenes,
    on the test scenes of studies/trained-here.

    Raises SystemExit where a training has seen a test scene.
    """
    recipe = yaml.safe_load(
        (INDEX.parents[1] / "recipes/tvt.yaml").read_text(encoding="utf-8")
    )
    models: dict[str, dict[str, Any]] = {}
    for width, scenes in [
        *((width, recipe["scenes"]) for width in WIDTHS),
        *((recipe["model"]["width"], count) for count in SCENES),
    ]:
        model = recipe["model"] | {"width": width, "inner": 2 * width}
        models[f"width {width}, {scenes} scenes"] = recipe | {
            "scenes": scenes,
            "model": model,
        }
    trained = [
        {"trained": {"label": label, "model": "tvt", "recipe": each}}
        for label, each in models.items()
    ]
    plan: Any = api.plans(
        "studies/trained-here", ["bootstrap.samples=0"], models=trained
    )[0]
    shown = {int(example.meta["target_id"]) for example in plan.reader}
    seen = {
        int(scene) for model in plan.models for scene, _ in model.adapter.recipe.pairs()
    }
    if shown & seen:
        raise SystemExit(f"{len(shown & seen)} test scenes are in a training")
    (run,) = execute_tasks([plan])
    values = {(record.model, record.metric): record.value for record in run.records}
    rows = [
        [label, *(f"{values[label, metric]:.3f}" for metric in TVT)] for label in models
    ]
    return {"trend-tvt": {"headers": ["", *TVT.values()], "rows": rows}}


TRENDS = {
    "rnnlm": language_models,
    "epochs": long_trainings,
    "news": news,
    "tvt": captioners,
}


def main() -> None:
    """Measure trends and write their tables into the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trends", nargs="*", choices=[*TRENDS, "all"], default="all")
    parser.add_argument(
        "--output", type=Path, default=RESULTS, help="folder of the file"
    )
    options = parser.parse_args()
    # argparse checks a list of defaults as one choice, which none is
    chosen = [*TRENDS] if "all" in options.trends else options.trends
    file = options.output / "trends.json"
    tables: dict[str, Table] = (
        json.loads(file.read_text(encoding="utf-8"))["tables"] if file.is_file() else {}
    )
    for trend in chosen:
        start = time.process_time()
        tables |= TRENDS[trend]()
        write_results(
            file, {"command": "python -m benchmarks.trends", "tables": tables}
        )
        print(f"{trend}: {time.process_time() - start:.0f} CPU seconds", flush=True)


if __name__ == "__main__":
    main()
