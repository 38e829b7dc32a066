"""Data and specs of the soak test: a few examples, so that a command takes tenths of a
second, and every kind of file that a run writes.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

EXAMPLES = 5
SERVED_EXAMPLES = 10
SUBJECTS = (
    "a dog",
    "two cats",
    "the old man",
    "a red bus",
    "some children",
    "a surfer",
)
VERBS = ("runs along", "sits near", "looks at", "stands in front of", "jumps over")
PLACES = ("the beach", "a wooden table", "the street", "a green field", "the house")
DATA = {"reader": "jsonl", "path": "data.jsonl"}
MODEL = {"predictions": {"path": "model.jsonl", "label": "model"}}
COMMON: dict[str, Any] = {"task": "soak", "dataset": DATA, "bootstrap": {"samples": 20}}
CONCURRENCY = 2
"""Requests of the spec ``served`` that are under way at the same time."""
RUN_SPECS = ("small", "large", "served", "judged")
DATA_VERSIONS = (0, 1)


def specs(server: str) -> dict[str, dict[str, Any]]:
    """Return the specs by name; paths are relative to the folder of the data,
    ``server`` is the address of the stub.
    """
    client = {
        "base_url": server,
        "model": "stub",
        "prompt": "say {id}",
        "concurrency": CONCURRENCY,
        "label": "served",
    }
    patience = {"timeout": 5.0, "retries": 4, "first_wait": 0.01, "log_probs": False}

    return {
        "small": {**COMMON, "models": [MODEL, "human"], "metrics": ["rouge", "bleu"]},
        "large": {
            **COMMON,
            "models": [MODEL, "shuffled"],
            "metrics": ["rouge", "cider", "distinct", {"trm": {"distance": "rouge"}}],
            "significance": {"method": "monte-carlo", "draws": 20},
            "views": [{"plot": "table"}],
        },
        "served": {
            **COMMON,
            "dataset": {"reader": "jsonl", "path": "served.jsonl"},
            "models": [{"openai": {**client, **patience}}],
            "decoding": {"strategy": "sample", "candidates": 2},
            "metrics": ["rouge", "distinct"],
        },
        "judged": {
            "task": "soak",
            "judgments": {"form": "captions", "path": "rated.jsonl"},
            "metrics": ["rouge", "bleu"],
            "statistics": ["kendall_b", "pearson"],
        },
    }


def write_project(folder: Path, server: str) -> None:
    """Write the data, and a file ``NAME.yaml`` per spec (JSON is YAML)."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, spec in specs(server).items():
        (folder / f"{name}.yaml").write_text(json.dumps(spec), encoding="utf-8")
    write_data(folder, 0)


def write_data(folder: Path, version: int) -> None:
    """Write references, captions of a model and rated captions; another version has
    other texts for the same examples.
    """
    generator = random.Random(version)
    names = [f"e{i}" for i in range(EXAMPLES)]
    references = {name: _captions(generator, 2) for name in names}

    _write_lines(
        folder / "data.jsonl",
        [{"id": name, "references": references[name]} for name in names],
    )
    _write_lines(
        folder / "model.jsonl",
        [{"id": name, "candidates": _captions(generator, 2)} for name in names],
    )

    served = [
        {"id": f"e{i}", "references": _captions(generator, 2)}
        for i in range(SERVED_EXAMPLES)
    ]
    _write_lines(folder / "served.jsonl", served)

    rated = [
        {
            "id": name,
            "system": f"s{i}",
            "caption": text,
            "human_score": generator.randint(1, 5),
            "references": references[name],
        }
        for name in names
        for i, text in enumerate(_captions(generator, 2))
    ]
    _write_lines(folder / "rated.jsonl", rated)

    for name in ("data", "model", "served", "rated"):
        # the same file again, also by its time
        os.utime(folder / f"{name}.jsonl", (1e9 + version, 1e9 + version))


def _captions(generator: random.Random, count: int) -> list[str]:
    return [
        " ".join(generator.choice(words) for words in (SUBJECTS, VERBS, PLACES))
        for _ in range(count)
    ]


def _write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text(
        "".join(json.dumps(record) + "\n" for record in records), encoding="utf-8"
    )
