"""The values of the figures of the concepts page,
computed by the harness from the shipped sample.

Each function computes one figure of a paper; :mod:`tools.documentation.drawing` draws
them. None needs an extra or data beyond the sample, so that they show the pattern of a
paper, not its numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import harness

SAMPLE = {
    "reader": "coco",
    "path": str(
        Path(__file__).parents[2]
        / "tasks"
        / "harness_tasks"
        / "sample"
        / "captions.json"
    ),
}
Values = dict[str, Any]


def run(models: list[Values], metrics: list[Any], **keys: Any) -> list[Values]:
    """Return the result records of a run on the sample."""
    spec = {
        "task": "figures",
        "dataset": SAMPLE,
        "models": models,
        "metrics": metrics,
        "bootstrap": {"samples": 0},
        **keys,
    }
    return harness.evaluate(spec).results


def preferences() -> Values:
    """Return metric -> {model: value}: the bland caption against people (Chan et al.
    2022, Figure 1 and Table 1).
    """
    models = [
        {"human": {"label": "people", "held_out": 5}},
        {
            "central": {
                "label": "central caption x 5",
                "distance": "cider",
                "n": 5,
                "held_out": True,
            }
        },
        {"shuffled": {"label": "another scene", "n": 5}},
    ]
    records = run(
        models,
        ["meteor", "cider", {"trm": {"distance": ["meteor", "cider"]}}],
        references=5,
    )
    return _by_metric(records)


def sensitivity() -> Values:
    """Return metric -> (numbers of candidates, log p):
    captions of another scene (Chan et al. 2022, Figure 3).
    """
    sizes = [1, 2, 3, 4, 5]
    metrics: list[Any] = ["meteor", "cider", {"trm": {"distance": ["meteor", "cider"]}}]
    shuffled = [{"shuffled": {"n": 5}}]
    keys: Values = {
        "references": 5,
        "decoding": {"candidates": sizes},
        "significance": "exact",
    }
    records = run(shuffled, metrics, **keys)
    out: Values = {}
    for record in records:
        size = record["decoding"].get("candidates", record["sizes"]["candidates"][0])
        out.setdefault(record["metric"], {})[size] = (
            record["p"]["log_harmonic_mean"] if record.get("p") else float("nan")
        )
    return {
        metric: ([*values], [values[size] for size in values])
        for metric, values in out.items()
    }


def diversity_and_correctness(metric: str) -> tuple[list[int], np.ndarray]:
    """Return the numbers of unique captions, and the values (correct, unique) of a
    metric (Chan et al. 2022, B.2 and B.3).
    """
    steps = [0, 1, 2, 3, 4, 5]
    models = [
        {
            "mixture": {
                "label": f"{unique}/{correct}",
                "unique": unique,
                "correct": correct,
                "n": 5,
                "held_out": 5,
            }
        }
        for unique in steps[1:]
        for correct in steps[: unique + 1]
    ]
    values = np.full((len(steps), len(steps) - 1), np.nan)
    named = {"trm": {"distance": "meteor"}} if metric.startswith("trm") else metric
    for record in run(models, [named], references=5):
        unique, correct = map(int, record["model"].split("/"))
        values[correct, unique - 1] = record["value"]
    return steps[1:], values


def noise() -> Values:
    """Return model -> (CR, NRR) and (BLEU, NSBLEU):
    noisy copies of the references (Li et al. 2020, Figure 2).
    """
    half = {"of": SAMPLE, "shuffle": 1, "limit": 310}
    models: list[Values] = [{"lines": {"label": "real text", **half, "offset": 310}}]
    models += [
        {
            "epsilon-mixture": {
                "label": f"noise {epsilon:g}",
                "epsilon": epsilon,
                "length": "same",
            }
        }
        for epsilon in (0.0, 0.1, 0.2, 0.4, 0.6)
    ]

    metrics = [
        {"cr": {"n": 2}},
        {"nrr": {"n": 2}},
        {"corpus-bleu": {"n": 2}},
        {"self-bleu": {"n": 2, "negative": True}},
    ]

    spec = {
        "dataset": {"reader": "lines", **half},
        "models": models,
        "metrics": metrics,
        "task": "noise",
    }

    out: Values = {}
    for record in harness.evaluate({**spec, "bootstrap": {"samples": 0}}).results:
        out.setdefault(str(record["model"]), {})[str(record["metric"])] = record[
            "value"
        ]
    return out


def null_p_values() -> np.ndarray:
    """Return the exact p-values of TRM for people against people,
    one per example (the calibration of a test).
    """
    run_of_people = harness.evaluate(
        {
            "task": "null",
            "dataset": SAMPLE,
            "models": [{"human": {"held_out": 5}}],
            "references": 5,
            "significance": "exact",
            "metrics": [{"trm": {"distance": "meteor"}}],
            "bootstrap": {"samples": 0},
        }
    )
    (system,) = run_of_people.samples.systems
    return np.sort(np.asarray(system.p_values("trm(meteor)"), dtype=np.float64))


def _by_metric(records: list[Values]) -> Values:
    out: Values = {}
    for record in records:
        out.setdefault(record["metric"], {})[record["model"]] = record["value"]
    return out
