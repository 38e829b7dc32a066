"""Specs of the soak test and their data: small, with every kind of file that a run writes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

SUBJECTS = ("a dog", "two cats", "the old man", "a red bus", "some children", "a surfer")
VERBS = ("runs along", "sits near", "looks at", "stands in front of", "jumps over")
PLACES = ("the beach", "a wooden table", "the street", "a green field", "the house")


def captions(generator: random.Random, count: int) -> list[str]:
    """Return ``count`` captions of random parts."""
    return [" ".join(generator.choice(part) for part in (SUBJECTS, VERBS, PLACES)) for _ in range(count)]


def write_data(folder: Path, *, seed: int, examples: int = 9) -> None:
    """Write references, captions of a model, token scores and rated captions; other seeds give other texts."""
    generator = random.Random(seed)
    names = [f"e{i}" for i in range(examples)]
    references = {name: captions(generator, 3) for name in names}
    _lines(folder / "data.jsonl", [{"id": name, "references": references[name]} for name in names])
    _lines(folder / "model.jsonl", [{"id": name, "candidates": captions(generator, 3)} for name in names])
    tokens = []
    for name in names:
        for index in range(3):
            size = generator.randint(2, 6)
            chances = [round(generator.uniform(0.05, 1), 4) for _ in range(size)]
            ranks = [generator.randint(0, 9) for _ in range(size)]
            tokens.append({"id": name, "reference": index, "probabilities": chances, "ranks": ranks})
    _lines(folder / "tokens.jsonl", tokens)
    rated = [
        {
            "id": name,
            "system": f"s{i}",
            "caption": text,
            "human_score": generator.randint(1, 5),
            "references": references[name],
        }
        for name in names
        for i, text in enumerate(captions(generator, 3))
    ]
    _lines(folder / "rated.jsonl", rated)


def _lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


DATA = {"reader": "jsonl", "path": "data.jsonl"}
MODEL = {"predictions": {"path": "model.jsonl", "label": "model"}}
SPECS: dict[str, dict[str, Any]] = {
    "classic": {
        "task": "classic",
        "dataset": DATA,
        "models": ["human", "shuffled", MODEL],
        "metrics": ["bleu", "rouge", "cider", "distinct", {"trm": {"distance": "rouge"}}],
        "significance": "exact",
        "bootstrap": {"samples": 200},
    },
    "grid": {
        "task": "grid",
        "dataset": DATA,
        "models": [MODEL, "shuffled"],
        "decoding": {"candidates": [1, 2, 3]},
        "references": [1, 3],
        "metrics": ["rouge", "vocabulary", {"mmd": {"embedding": "bow"}}],
        "bootstrap": {"samples": 200},
        "views": [{"plot": "line", "x": "decoding.candidates", "y": "rouge", "by": "model"}],
    },
    "monte-carlo": {
        "task": "monte-carlo",
        "dataset": DATA,
        "models": ["human", MODEL],
        "metrics": [
            {"energy": {"embedding": "bow"}},
            {"trm": {"distance": "bleu"}},
            "self-bleu",
            {"best": {"metric": "rouge"}},
        ],
        "significance": {"method": "monte-carlo", "draws": 500},
        "sizes": "equal",
        "bootstrap": {"samples": 200},
    },
    "tokens": {
        "task": "tokens",
        "dataset": DATA,
        "models": [
            {
                "token-scores": {
                    "path": "tokens.jsonl",
                    "captions": {"predictions": {"path": "model.jsonl"}},
                    "label": "model",
                }
            }
        ],
        "metrics": ["pregen", "rouge"],
        "bootstrap": {"samples": 200},
    },
    "judged": {
        "task": "judged",
        "judgments": {"form": "captions", "path": "rated.jsonl"},
        "metrics": ["rouge", "cider", "bleu"],
        "statistics": ["kendall_b", "pearson", "accuracy"],
    },
    "variants": {
        "task": "variants",
        "dataset": DATA,
        "models": [MODEL],
        "metrics": ["rouge", "chrf"],
        "bootstrap": {"samples": 200},
        "variants": [{"name": "few", "limit": 4}, {"name": "all"}],
    },
}
"""Specs by name; paths are relative to the folder of the data."""


def write_project(folder: Path, *, seed: int = 1) -> None:
    """Write the data and a file ``NAME.yaml`` per spec (JSON is YAML)."""
    folder.mkdir(parents=True, exist_ok=True)
    write_data(folder, seed=seed)
    for name, spec in SPECS.items():
        (folder / f"{name}.yaml").write_text(json.dumps(spec), encoding="utf-8")
