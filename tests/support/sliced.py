"""A task of two systems whose examples have a domain, some of them none, and a nested
field; files for ``harness score`` too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

WORDS = (
    "a dog runs on the grass",
    "a cat sits on a mat",
    "two people ride bikes",
    "a man holds a phone",
    "a red bus on the street",
)
DOMAINS = ("in", "near", "in", "out", "near", "in", "near")
"""Domains of consecutive examples."""
COUNT = 35


def domain(number: int) -> str:
    """Return the domain of an example."""
    return DOMAINS[number % len(DOMAINS)]


def _text(number: int, words: Sequence[str]) -> str:
    return f"{words[number % len(words)]} number {number % 4}"


def write_files(
    folder: Path, *, without: Sequence[int] = (), only: str = ""
) -> dict[str, Path]:
    """Write ``refs.json`` (COCO annotations with a domain), ``rows.jsonl`` (records
    with a nested field), ``A.json`` and ``B.json``.

    ``without`` are examples without a domain, ``only`` is the domain whose examples
    alone are written.
    """
    numbers = [k for k in range(COUNT) if not only or domain(k) == only]
    images = [
        {
            "id": k,
            "file_name": f"{k}.jpg",
            **({} if k in without else {"domain": domain(k)}),
        }
        for k in numbers
    ]

    references = {
        k: [f"{_text(k, WORDS)} today", f"{_text(k, WORDS)} there"] for k in numbers
    }
    annotations = [
        {"image_id": k, "caption": text} for k in numbers for text in references[k]
    ]

    rows = [
        {
            "id": k,
            "place": {"domain": domain(k), "half": k % 2 == 0},
            "captions": texts,
            "unique": f"u{k}",
            "tags": ["x"],
        }
        for k, texts in references.items()
    ]
    candidates = {
        "A": [_text(k, WORDS) for k in numbers],
        "B": [_text(k, WORDS if k % 3 else WORDS[1:]) for k in numbers],
    }

    files = {"refs": folder / "refs.json", "rows": folder / "rows.jsonl"}
    files["refs"].write_text(json.dumps({"images": images, "annotations": annotations}))
    files["rows"].write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, texts in candidates.items():
        files[name] = folder / f"{name}.json"
        files[name].write_text(
            json.dumps(
                [{"image_id": k, "caption": text} for k, text in zip(numbers, texts)]
            )
        )

    return files
