"""A small task of files for runs that stop: noisy copies of references by systems of
known quality.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

WORDS = [
    "a",
    "dog",
    "cat",
    "runs",
    "big",
    "small",
    "red",
    "tree",
    "sits",
    "house",
    "car",
    "blue",
    "man",
    "walks",
    "ball",
    "park",
]
KEPT = {"good": 0.8, "twin": 0.8, "bad": 0.4}
"""System -> share of the words of a reference that its captions keep."""


def write_task(folder: Path, count: int = 500) -> dict[str, Any]:
    """Write references, and captions of three systems,
    and return the spec of the task without conditions.
    """
    rng = random.Random(0)
    rows = [[" ".join(rng.choices(WORDS, k=8)) for _ in range(3)] for _ in range(count)]
    # Examples of one video are five takes in a row.
    examples = [
        {"id": f"i{k}", "references": own, "video": f"v{k // 5}"}
        for k, own in enumerate(rows)
    ]
    _write(folder / "data.jsonl", examples)

    for name, share in KEPT.items():
        captions = [
            " ".join(
                w if rng.random() < share else rng.choice(WORDS) for w in own[0].split()
            )
            for own in rows
        ]
        _write(
            folder / f"{name}.jsonl",
            [{"id": f"i{k}", "candidates": [text]} for k, text in enumerate(captions)],
        )

    return {
        "task": "growing",
        "dataset": {"reader": "jsonl", "path": str(folder / "data.jsonl")},
        "models": [
            {"predictions": {"label": name, "path": str(folder / f"{name}.jsonl")}}
            for name in KEPT
        ],
        "metrics": [
            {name: {"tokenizer": "none"}} for name in ("cider", "rouge", "bleu4")
        ],
        "bootstrap": {"samples": 20},
    }


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
