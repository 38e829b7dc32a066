"""The published baseline of A3DS: 1,000 captions of the authors' speaker, and simulated
speakers with blurred features.

    python -m benchmarks.a3ds_speaker [--pairs 100] [--output FOLDER]

First the captions of the authors' pre-trained speaker
(a3ds/speaker_predictions_unpaired below HARNESS_DATA; their targets are not recorded),
as a task with the adapter ``predictions``: the target of a caption is a scene that it
describes, features that it leaves open drawn at random, so that only what a caption
names is measured, not whether it is right. The speaker writes ``unk`` for a part of the
scales (the paper calls the dip of the baseline on scale a tokenisation glitch) and
*dark green* for the hue *green*.

Then simulated speakers: captions of the grammar, fluent and right on hues and shape,
with a wrong orientation (one to three steps away) and a wrong scale (one step) with
given probabilities, and ``unk`` in place of some scales. Blurs are searched on a grid
for the published number of features and false features of B alone; the other rows of
Table 1 are predictions, given as a range over all blurs that fit. That these errors are
of each caption is contradicted by the authors' captions
(``benchmarks.a3ds_structure``); ``benchmarks.a3ds_blurred`` trains such speakers.
Writes docs/studies/results/a3ds-speaker.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import harness
from benchmarks.captions import data_folder, read_json_lines
from benchmarks.papers_results import write_results
from benchmarks.papers_rule import RESULTS
from harness_metrics.pragmatic.parser import read
from harness_metrics.pragmatic.scores import evaluate
from harness_tasks.a3ds import grammar, scene, testsets

PREDICTIONS = "a3ds/speaker_predictions_unpaired.jsonl.gz"
SCALE = 3
ORIENTATION = 5
SCENE = (0, 1, 2, 4)
"""Factors that tell the scenes of the authors' captions apart: floor, wall, object hue
and shape.
"""
PAIRS = 100
PUBLISHED = {
    "binary_contrastiveness": (0.999, 0.997, 0.984),
    "contrastive_efficiency": (0.198, 0.203, 0.251),
    "relevance": (0.150, 0.162, 0.149),
    "optimal": (0.014, 0.039, 0.148),
    "num_mentioned_features": (5.880, 5.871, 5.876),
}
"""Row of Table 1 for B -> one, two and three shared features."""
FALSE = 0.720
ORIENTATIONS = (0.65, 0.75, 0.85)
SCALES = (0.25, 0.35, 0.45)
UNKNOWN = (0.0, 0.05, 0.10)
"""Grid: probability of a wrong orientation, of a wrong scale, of ``unk``."""
FEATURES_FIT = 0.1
FALSE_FIT = 0.05
"""Largest distance of the mean number of features and of false features from the
published ones of a blur that fits; a speaker without errors has 5.83 features by the
script.
"""


def groups_of(texts: Sequence[str]) -> np.ndarray:
    """Return the number of the scene of each caption, shape (captions,): captions with
    one floor, wall, object hue and shape.
    """
    masks = read(texts).masks[:, SCENE]
    return np.unique(masks, axis=0, return_inverse=True)[1].reshape(-1)


def authors_games(
    rows: Sequence[dict[str, Any]], seed: int = 0
) -> list[dict[str, Any]]:
    """Return games whose targets are scenes that the captions describe;
    open features are drawn.
    """
    rng = np.random.default_rng(seed)
    readings = read([row["prediction"] for row in rows])
    distractors = rng.integers(0, scene.N_SCENES, len(rows))
    games: list[dict[str, Any]] = []
    scenes = groups_of([row["prediction"] for row in rows]).tolist()
    # 'dark green' is no phrase of the released grammar
    green = [scene.PHRASES[0].index("green")]
    for row, masks, distractor, group in zip(
        rows, readings.masks.tolist(), distractors.tolist(), scenes
    ):
        options = [
            [k for k in range(size) if not mask or mask >> k & 1] or green
            for mask, size in zip(masks, scene.SIZES)
        ]
        target = scene.scene_id([int(rng.choice(values)) for values in options])
        game = {
            "target_id": target,
            "distractor_id": (distractor + (distractor == target)) % scene.N_SCENES,
            "category": "authors",
            "scene": group,
        }
        games.append(
            {"id": str(row["index"]), "references": grammar.captions(target), **game}
        )
    return games


def authors_speaker(folder: Path) -> list[dict[str, Any]]:
    """Return the records of the authors' captions, and the shares of captions that name
    each feature, as rows of a table.
    """
    source = data_folder() / PREDICTIONS
    rows = read_json_lines(source)

    games = folder / "games.jsonl"
    games.write_text(
        "".join(json.dumps(game) + "\n" for game in authors_games(rows)),
        encoding="utf-8",
    )

    records = harness.evaluate(
        {
            "task": "a3ds-authors-speaker",
            "dataset": {"reader": "jsonl", "path": str(games)},
            "models": [
                {
                    "predictions": {
                        "label": "B",
                        "path": str(source),
                        "columns": {"id": "index", "candidates": "prediction"},
                    }
                }
            ],
            "metrics": [
                "mentioned-features",
                {"mentioned-features": {"mode": "authors-script"}},
            ],
            # captions of one scene are not independent
            "cluster": "scene",
            "bootstrap": {"samples": 1000},
        }
    ).records

    texts = [row["prediction"] for row in rows]
    readings = read(texts)
    named = [
        float((readings.masks[:, k] > 0).mean()) for k in range(len(scene.FACTORS))
    ]

    out = [
        {"quantity": f"share that names {name}", "value": share, "n": len(rows)}
        for name, share in zip(scene.FACTORS, named)
    ]

    unknown = np.array(["unk" in text.lower().split() for text in texts])
    out += [
        {"quantity": "share with unk", "value": float(unknown.mean()), "n": len(rows)},
        {
            "quantity": "share with a contradiction",
            "value": float((readings.contradictions > 0).mean()),
            "n": len(rows),
        },
    ]

    return out + [
        {
            "quantity": record.metric,
            "value": record.value,
            "ci95": list(record.ci95 or ()),
            "n": record.n,
        }
        for record in records
    ]


def misread_scene(
    target: int, rng: np.random.Generator, orientation: float, scale: float
) -> int:
    """Return a scene with a wrong orientation (one to three steps away) and a wrong
    scale (one step) with the given probabilities.
    """
    values = scene.indices([target])[0].tolist()
    for factor, share, steps in (
        (ORIENTATION, orientation, (-3, -2, -1, 1, 2, 3)),
        (SCALE, scale, (-1, 1)),
    ):
        if rng.random() < share:
            near = [
                values[factor] + step
                for step in steps
                if 0 <= values[factor] + step < scene.SIZES[factor]
            ]
            values[factor] = int(rng.choice(near))
    return scene.scene_id(values)


def blurred_caption(
    target: int,
    rng: np.random.Generator,
    orientation: float,
    scale: float,
    unknown: float,
) -> str:
    """Return a caption of the grammar for a scene whose orientation and scale are
    misread with the given probabilities.
    """
    misread = misread_scene(target, rng, orientation, scale)
    texts = grammar.captions(misread)
    text = texts[int(rng.integers(len(texts)))]
    return (
        text.replace(scene.phrases(misread)["scale"], "unk")
        if rng.random() < unknown
        else text
    )


def scores(
    blur: tuple[float, float, float], pairs: int, seed: int = 0
) -> dict[str, list[float]]:
    """Return Table 1 of a blurred speaker by the authors' script: name -> one, two,
    three shared features, each the mean of its sets.
    """
    rng = np.random.default_rng(seed)
    by_group: dict[str, list[dict[str, float]]] = {
        group: [] for group in testsets.GROUPS
    }
    for name in testsets.SETS:
        games = testsets.pairs(name, pairs, seed=1).tolist()
        rows = [
            {
                "prediction": blurred_caption(t, rng, *blur),
                "target_id": t,
                "distractor_id": d,
            }
            for t, d in games
        ]
        columns = evaluate(rows, "authors-script").columns
        values = {
            key: float(np.nanmean(np.asarray(columns[key], float)))
            for key in (*PUBLISHED, "num_false")
            if key != "optimal"
        }
        values["optimal"] = float(
            (np.asarray(columns["num_discriminative"]) == 1).mean()
        )
        by_group[name.split("/")[0]].append(values)
    return {
        key: [float(np.mean([v[key] for v in by_group[g]])) for g in testsets.GROUPS]
        for key in (*PUBLISHED, "num_false")
    }


def fits(found: dict[str, list[float]]) -> bool:
    """Return True where the number of features and of false features is near the
    published ones of B.
    """
    features = abs(
        np.mean(found["num_mentioned_features"])
        - np.mean(PUBLISHED["num_mentioned_features"])
    )
    return bool(
        features <= FEATURES_FIT
        and abs(np.mean(found["num_false"]) - FALSE) <= FALSE_FIT
    )


def simulations(pairs: int) -> dict[str, Any]:
    """Return the blurs that fit with their scores,
    and the table of predictions beside the published row.
    """
    perfect = scores((0.0, 0.0, 0.0), pairs)
    fitting = [
        {"orientation": blur[0], "scale": blur[1], "unk": blur[2], "scores": found}
        for blur in itertools.product(ORIENTATIONS, SCALES, UNKNOWN)
        if fits(found := scores(blur, pairs))
    ]
    rows: list[list[str]] = []
    for key in (*PUBLISHED, "num_false"):
        for k, group in enumerate(testsets.GROUPS):
            values = [item["scores"][key][k] for item in fitting]
            published = PUBLISHED[key][k] if key in PUBLISHED else FALSE
            between = f"{min(values):.3f} to {max(values):.3f}" if values else ""
            rows.append(
                [
                    f"{key.removeprefix('num_').replace('_', ' ')}, {group}",
                    f"{published:.3f}",
                    between,
                    f"{perfect[key][k]:.3f}",
                ]
            )
    heads = [
        "rules of the script",
        "published B",
        f"{len(fitting)} blurs that fit",
        "speaker without errors",
    ]
    return {"blurs": fitting, "table": {"headers": heads, "rows": rows}}


def main() -> None:
    """Measure and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--pairs", type=int, default=PAIRS, help="pairs of each of the thirteen sets"
    )
    parser.add_argument(
        "--output", type=Path, default=RESULTS, help="folder of the file"
    )
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        authors = authors_speaker(Path(name))
    simulated = simulations(options.pairs)

    rows = [
        [
            item["quantity"],
            f"{item['value']:.3f}",
            " to ".join(f"{x:.3f}" for x in item.get("ci95", ())),
        ]
        for item in authors
    ]
    tables = {
        "a3ds-authors": {
            "headers": [
                "1,000 captions of the authors' speaker",
                "value",
                "95 % interval",
            ],
            "rows": rows,
        },
        "a3ds-blurred": simulated["table"],
    }

    command = "python -m benchmarks.a3ds_speaker" + (
        f" --pairs {options.pairs}" if options.pairs != PAIRS else ""
    )
    content = {
        "command": command,
        "authors": authors,
        "blurs": simulated["blurs"],
        "tables": tables,
    }
    write_results(options.output / "a3ds-speaker.json", content)


if __name__ == "__main__":
    main()
