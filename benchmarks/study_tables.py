"""Tables of study pages beside those of ``benchmarks.papers_results``:
run the studies and store the tables.

    python -m benchmarks.study_tables [STUDY ...] [--output FOLDER]

Each study runs at the size of its page (``STUDIES``): those of A3DS and of Chan et al.
2022 without trained models are here, others in ``benchmarks.crnrr_tables``,
``scene_tables``, ``pregen_tables`` and ``text_tables``. ``other-pvalues``: people of
three sets and a captioner by every aggregation, with discoveries. ``few-candidates``:
left part of Figure B.1. ``equations``: MMD and the Fréchet distance as printed by Chan
et al. 2022 (A.6, A.7) beside those of the harness. Files
docs/studies/results/STUDY.json hold its tables, with the numbers of the records;
``python -m tools.documentation.result_tables --write`` writes them into the pages.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks import crnrr_tables, pregen_tables, scene_tables, text_tables
from benchmarks.caption_detail import DETAILS, detail_test
from benchmarks.captions import data_folder, read_json_lines
from benchmarks.papers_results import (
    INDEX,
    MAUVE,
    cell_of,
    p_values,
    task_runs,
    text,
    write_results,
)
from benchmarks.papers_rule import (
    AGGREGATIONS,
    RESULTS,
    bootstrap_error,
    log_harmonic_mean,
)
from benchmarks.scene_tables import paired_test
from benchmarks.sensitivity import sensitivity_tables
from harness import api
from harness.run.finished import Run
from harness.rundir.records import lookup
from harness_metrics.embeddings.minilm import MiniLm
from harness_metrics.kernel import frechet, geometry, mmd

Tables = dict[str, dict[str, Any]]
Values = Mapping[tuple[str, str], float]
"""(label of a model, metric) -> value of a run."""
CENTRAL = {
    "meteor": "METEOR ↑",
    "cider": "CIDEr ↑",
    "caption-length": "words",
    "trm(meteor)": "TRM(METEOR) ↓",
    "trm(cider)": "TRM(CIDEr) ↓",
    "trm(bert)": "TRM(MiniLM) ↓",
    "mmd(minilm)": "MMD ↓",
}
GRID = {
    key: CENTRAL[key]
    for key in ("meteor", "cider", "trm(meteor)", "trm(cider)", "mmd(minilm)")
}
POOLS = (1, 3, 6, 10)
CORRECT = tuple(range(11))
POOLED = (
    ((10, 10), (1, 10)),
    ((10, 0), (1, 0)),
    ((1, 10), (1, 0)),
    ((10, 10), (10, 0)),
    ((10, 10), (10, 5)),
)
"""Pairs (k, m) of ``unique-vs-correct`` that differ in the pool or in correctness."""
GROUPS = ("one", "two", "three")
SPEAKERS = ("B", "RP", "SP")
SHARED = {
    "discriminativity(authors-script,{})": ("discriminativity", "Discriminativity"),
    "contrastive-efficiency(authors-script,{})": (
        "efficiency",
        "Contrastive efficiency",
    ),
    "relevance(authors-script,{})": ("relevance", "Relevance"),
    "optimal-discriminativity({})": ("optimal", "Optimal contrastivity"),
    "mentioned-features(authors-script,{})": ("features", "Mentioned features #"),
    "false-features(authors-script)": ("false features", "False features"),
    "false-features": ("false features by the formulas", "False features"),
}
"""Metric of a group of test sets -> row of ours and of the published table."""
MATCHED = {
    "object colour and scale": "object_hue+scale",
    "shape and object colour": "shape+object_hue",
}
"""Published name of the shared features of a set -> ours."""
KERNELS = "[{trm: {distance: cider}}, {mmd: {embedding: [minilm, glove, bow]}}]"
SETS = (
    "two/object_hue+scale",
    "two/shape+object_hue",
    "two/scale+shape",
    "two/random",
    "three/object",
    "three/background",
    "three/random",
)


def values_of(run: Run) -> Values:
    """Return the values of a run by model and metric."""
    return {(record.model, record.metric): record.value for record in run.records}


def central_tables(runs: Sequence[Run]) -> Tables:
    """Return the table of central captions, a block of rows for each task."""
    rows: list[list[str]] = []
    for run in runs:
        values = values_of(run)
        rows.append([f"**{run.provenance.task}**", *[""] * len(CENTRAL)])
        rows += [
            [model, *(f"{values[model, metric]:.3f}" for metric in CENTRAL)]
            for model in dict.fromkeys(m for m, _ in values)
        ]
    tests = [
        [
            f"{run.provenance.task.removeprefix('central-')}: {model} less human",
            *(
                paired_test(run, metric, (model, 1.0), ("human", 1.0))
                for metric in CENTRAL
            ),
        ]
        for run in runs
        for model in ("central by METEOR", "central by CIDEr")
    ]
    details = [
        [
            f"{run.provenance.task.removeprefix('central-')}: {model} less human",
            *(detail_test(run, model, measure) for measure in DETAILS.values()),
        ]
        for run in runs
        for model in ("central by METEOR", "central by CIDEr")
    ]
    return {
        "central": {"headers": ["100 examples", *CENTRAL.values()], "rows": rows},
        "central-detail": {
            "headers": ["100 examples, paired p", *DETAILS],
            "rows": details,
        },
        "central-tests": {
            "headers": ["100 examples, paired p", *CENTRAL.values()],
            "rows": tests,
        },
    }


def grid_tables(runs: Sequence[Run]) -> Tables:
    """Return the table of pools of k captions (rows) with m correct ones of ten
    (columns).
    """
    values = values_of(runs[0])
    rows = [
        [f"{name}, k = {k}", *(f"{values[f'{k}/{m}', metric]:.3f}" for m in CORRECT)]
        for metric, name in GRID.items()
        for k in POOLS
    ]
    tests = [
        [
            f"k = {one[0]}, m = {one[1]} less k = {other[0]}, m = {other[1]}",
            *(
                paired_test(
                    runs[0],
                    metric,
                    (f"{one[0]}/{one[1]}", 1.0),
                    (f"{other[0]}/{other[1]}", 1.0),
                )
                for metric in GRID
            ),
        ]
        for one, other in POOLED
    ]
    return {
        "unique-vs-correct": {
            "headers": ["100 videos", *(f"m = {m}" for m in CORRECT)],
            "rows": rows,
        },
        "unique-vs-correct-tests": {
            "headers": ["100 videos, paired p", *GRID.values()],
            "rows": tests,
        },
    }


def read_published_games() -> tuple[
    dict[str, dict[str, float]], dict[tuple[str, str], float]
]:
    """Return the published numbers of A3DS: by score and column of Table 1, and the
    discriminativity by speaker and set of games.
    """
    text = (INDEX.parent / "a3ds2023.yaml").read_text(encoding="utf-8")
    items = {item["id"]: item["rows"] for item in yaml.safe_load(text)["items"]}
    published = {row["score"]: row for row in items["table1"]}
    published["False features"] = {
        f"all sets-{row['model']}": row["false_features"]
        for row in items["text-3-false-features"]
    }
    of_sets: dict[tuple[str, str], float] = {}
    for row in items["text-3-discriminativity"]:
        value = row["discriminativity"]
        name = f"{row['category']}/{MATCHED.get(row['matched'], row['matched'])}"
        of_sets[row["model"], name] = (
            value["value"] if isinstance(value, dict) else value
        )
    return published, of_sets


def game_tables(runs: Sequence[Run]) -> Tables:
    """Return Table 1 of A3DS beside the published one, discriminativity by test set,
    and the features named redundantly.
    """
    values = values_of(runs[0])
    published, of_sets = read_published_games()

    def beside(speaker: str, metric: str, theirs: float | None) -> str:
        return f"{values[speaker, metric]:.3f}" + (
            f" / {theirs:.3f}" if theirs is not None else ""
        )

    rows = [
        [
            f"{name}, {group}",
            *(
                beside(
                    speaker, metric.format(group), published[row][f"{group}-{speaker}"]
                )
                for speaker in SPEAKERS
            ),
        ]
        for metric, (name, row) in SHARED.items()
        for group in (("all sets",) if row == "False features" else GROUPS)
    ]

    own = {"RP": "listener-accuracy({})", "SP": "listener-accuracy(sp,{})"}
    theirs = published["Listener accuracy"]
    rows += [
        [
            f"own listener, {group}",
            "",
            *(
                beside(speaker, name.format(group), theirs[f"{group}-{speaker}"])
                for speaker, name in own.items()
            ),
        ]
        for group in GROUPS
    ]

    sets = [
        [
            speaker,
            *(
                beside(
                    speaker, f"discriminativity({name})", of_sets.get((speaker, name))
                )
                for name in SETS
            ),
        ]
        for speaker in SPEAKERS
    ]

    features = ("shape", "scale", "object_hue", "wall_hue", "floor_hue", "orientation")
    named = [
        [
            speaker,
            *(
                f"{values[speaker, f'redundant-mention({name})']:.3f}"
                for name in features
            ),
        ]
        for speaker in SPEAKERS
    ]

    order = [
        [speaker, f"{values[speaker, 'adjective-order']:.3f}"] for speaker in SPEAKERS
    ]
    return {
        "a3ds-table1": {"headers": ["ours / published", *SPEAKERS], "rows": rows},
        "a3ds-sets": {
            "headers": ["discriminativity: ours / published", *SETS],
            "rows": sets,
        },
        "a3ds-redundant": {"headers": ["named redundantly", *features], "rows": named},
        "a3ds-order": {"headers": ["size before colour", "share"], "rows": order},
    }


def aggregation_tables(runs: Sequence[Run]) -> Tables:
    """Return averages of p of each task by every aggregation, with errors, the combined
    p and the examples that differ at an FDR of 5 %.
    """
    metrics = list(
        dict.fromkeys(record.metric for run in runs for record in run.records)
    )

    rows: list[list[str]] = []
    for run in runs:
        found = {record.metric: record for record in run.records}
        p = {metric: p_values(run, record) for metric, record in found.items()}
        head = f"{run.provenance.task}, {run.records[0].n}"
        people = "human" in run.provenance.task
        for name in AGGREGATIONS:
            cells = {
                metric: cell_of("", record, p[metric], name, 0.0, None)
                for metric, record in found.items()
            }
            if not people:  # the simulated error of a harmonic mean is that of people
                cells = {
                    metric: cell | {"error": bootstrap_error(p[metric], name)}
                    for metric, cell in cells.items()
                }

            rows.append(
                [
                    f"{head}: {name} ± error",
                    *(text(cells, metric, "ours", "error") for metric in metrics),
                ]
            )
            if people:
                rows.append(
                    [
                        "expected without ties ± error",
                        *(
                            text(cells, metric, "expected", "expected_error")
                            for metric in metrics
                        ),
                    ]
                )

        combined = (
            f"{found[metric].p_value:.2g}" if metric in found else ""
            for metric in metrics
        )
        discoveries = (
            str((found[metric].p or {})["discoveries"]) if metric in found else ""
            for metric in metrics
        )

        rows += [
            [f"{head}: combined p (calibrated)", *combined],
            [f"{head}: examples at an FDR of 5 %", *discoveries],
        ]
    return {"other-pvalues": {"headers": ["", *metrics], "rows": rows}}


def few_candidate_tables(runs: Sequence[Run]) -> Tables:
    """Return log harmonic p of each model by the number of candidates."""
    values = {
        (record.model, record.metric, lookup(record, "decoding.candidates")): float(
            log_harmonic_mean(p_values(runs[0], record))
        )
        for record in runs[0].records
    }
    models, metrics, counts = (
        list(dict.fromkeys(key[k] for key in values)) for k in range(3)
    )
    rows = [
        [
            f"{model}: {metric}",
            *(f"{values[model, metric, count]:.2f}" for count in counts),
        ]
        for model, metric in itertools.product(models, metrics)
    ]
    return {
        "few-candidates": {"headers": ["candidates", *map(str, counts)], "rows": rows}
    }


def equations() -> Tables:
    """Return MMD and the Fréchet distance, as printed and ours, of five captions
    against the same five and five others, 60 videos.
    """
    captions = [
        row["references"][:10]
        for row in read_json_lines(data_folder() / "msrvtt/references_test.jsonl.gz")[
            :60
        ]
    ]

    vectors = (
        MiniLm()
        .encode([text for texts in captions for text in texts])
        .reshape(len(captions), 10, -1)
    )
    rows: list[list[str]] = []

    for name, sets in (
        ("the same five", np.concatenate([vectors[:, :5]] * 2, axis=1)),
        ("five others", vectors),
    ):
        kernel = mmd.mmd_kernel(geometry.gram(sets))
        printed = sum(
            block.sum(axis=(1, 2))
            for block in (kernel[:, :5, :5], kernel[:, 5:, 5:], kernel[:, :5, 5:])
        )

        squared = ((sets[:, :5].mean(axis=1) - sets[:, 5:].mean(axis=1)) ** 2).sum(
            axis=1
        )
        distance = frechet.of_vectors(sets, 5)

        for label, ours, theirs in (
            ("MMD", geometry.two_sample(kernel, 5, "biased"), np.asarray(printed)),
            ("Fréchet", distance, distance - squared + np.sqrt(squared)),
        ):
            rows.append(
                [f"{label}, {name}", f"{ours.mean():.3f}", f"{theirs.mean():.3f}"]
            )
    return {
        "equations": {
            "headers": ["five captions against", "harness", "as printed"],
            "rows": rows,
        }
    }


Runs = list[Run]
STUDIES: dict[str, tuple[Callable[[], Runs], Callable[[Sequence[Run]], Tables]]] = {
    "central": (
        lambda: list(
            api.evaluate_all(
                "studies/central", overrides=["bootstrap.samples=0"], limit=100
            )
        ),
        central_tables,
    ),
    "unique-vs-correct": (
        lambda: list(api.evaluate_all("studies/unique-vs-correct", limit=100)),
        grid_tables,
    ),
    "a3ds": (
        lambda: list(
            api.evaluate_all(
                "a3ds", overrides=["dataset.pairs=100", "bootstrap.samples=0"]
            )
        ),
        game_tables,
    ),
    "other-pvalues": (
        lambda: [
            *task_runs("studies/human-pvalues", [], [], 200),
            *task_runs("studies/mauve", ["mauve-msrvtt"], [f"metrics={MAUVE}"], 100),
        ],
        aggregation_tables,
    ),
    "few-candidates": (
        lambda: list(
            task_runs(
                "studies/embeddings",
                ["embeddings-human"],
                [f"metrics={KERNELS}", "decoding.candidates=[1,3,5,7]"],
                60,
            )
        ),
        few_candidate_tables,
    ),
    "equations": (list, lambda _: equations()),
    "sensitivity": (
        lambda: [
            *task_runs("studies/trm-sensitivity", ["scenes-tvt"], [], 60),
            *task_runs(
                "studies/trm-sensitivity",
                ["coco-samples", "coco-twelve", "msrvtt-partial", "msrvtt-many"],
                [],
                90,
            ),
        ],
        sensitivity_tables,
    ),
    **crnrr_tables.STUDIES,
    **scene_tables.STUDIES,
    **pregen_tables.STUDIES,
    **text_tables.STUDIES,
}
"""Study -> function that runs it, and its tables."""


def main() -> None:
    """Run the studies and write their files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="*", choices=[*STUDIES, "all"], default="all")
    parser.add_argument(
        "--output", type=Path, default=RESULTS, help="folder of the files"
    )
    options = parser.parse_args()
    # argparse checks a list of defaults as one choice, which none is
    chosen = [*STUDIES] if "all" in options.studies else options.studies
    for study in chosen:
        run, tables = STUDIES[study]
        start = time.process_time()
        content = {
            "command": f"python -m benchmarks.study_tables {study}",
            "tables": tables(run()),
        }
        write_results(options.output / f"{study}.json", content)
        print(f"{study}: {time.process_time() - start:.0f} CPU seconds", flush=True)


if __name__ == "__main__":
    main()
