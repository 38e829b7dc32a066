"""The COCO captions that the text benchmarks read, from the folder of shared data."""

from __future__ import annotations

import gzip
import importlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


def shared_folder() -> Path:
    """``HARNESS_SHARED``, or ``../shared`` beside the repository; ends the script where there is none."""
    path = Path(os.environ.get("HARNESS_SHARED") or Path(__file__).resolve().parents[2].parent / "shared")
    if not (path / "data").is_dir():
        raise SystemExit(f"no data at {path}: set HARNESS_SHARED")
    return path


def run_sections(sections: Sequence[str], only: Sequence[str]) -> int:
    """Run the sections (or those named in ``only``); 0 when all of them report that they are met, 1 otherwise."""
    shared = shared_folder()
    unknown = sorted(set(only) - set(sections))
    if unknown:
        raise SystemExit(f"no section {', '.join(unknown)}; sections are {', '.join(sections)}")
    met = [importlib.import_module(name).report(shared) for name in sections if not only or name in only]
    return 0 if all(met) else 1


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def references(shared: Path) -> list[list[str]]:
    """5000 lists of five references, COCO Karpathy test split."""
    return [row["references"][:5] for row in read(shared / "data/coco_karpathy_test/references.jsonl.gz")]


def one_candidate(shared: Path, system: str = "merge_3") -> list[str]:
    """One captioner's caption of each of the 5000 images."""
    rows = read(shared / "data/coco_karpathy_test/candidates_where_image.jsonl.gz")
    return [row["candidates"][system] for row in rows]


def ten_candidates(shared: Path) -> list[list[str]]:
    """5000 lists of ten sampled captions."""
    return [row["candidates"] for row in read(shared / "data/coco_diversity/candidates_10_per_image.jsonl.gz")]


def plain_words(text: str) -> str:
    """Lower case, letters, digits and apostrophes: tokens for comparisons that leave the PTB step out on both sides."""
    return " ".join(re.sub(r"[^a-z0-9']", " ", text.lower()).split())


def strings(value: Any) -> Iterator[str]:
    """All strings of a record, at any depth."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(item)
