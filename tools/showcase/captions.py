"""Captions of twelve systems for the COCO test split of Karpathy,
which a checkout contains.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

from tools.showcase.screen import ROOT

COCO = "coco_karpathy_test"
SYSTEMS = [
    f"{name}_{number}"
    for name in ("init", "pre", "par", "merge")
    for number in (1, 2, 3)
]
"""Twelve captioners of mtanti/where-image2: four architectures, three runs each."""


def data_folder() -> Path:
    """Return ``data`` of the folder ``HARNESS_SHARED`` where that has COCO's captions,
    else the one of the repository.
    """
    shared = Path(os.environ.get("HARNESS_SHARED") or ROOT.parent / "shared") / "data"
    return (
        shared
        if (shared / COCO / "candidates_where_image.jsonl.gz").is_file()
        else ROOT / "tests" / "golden" / "data"
    )


def write_files(folder: Path, systems: list[str]) -> None:
    """Write ``references.json`` and ``SYSTEM.json`` for each system,
    lists of records with an image id each.
    """
    source = ROOT / "tests" / "golden" / "data" / COCO
    rows = _read(source / "candidates_where_image.jsonl.gz")
    for system in systems:
        captions = [
            {"image_id": row["image_id"], "caption": row["candidates"][system]}
            for row in rows
        ]
        (folder / f"{system}.json").write_text(json.dumps(captions), encoding="utf-8")
    references = [
        {"image_id": row["image_id"], "references": row["references"]}
        for row in _read(source / "references.jsonl.gz")
    ]
    (folder / "references.json").write_text(json.dumps(references), encoding="utf-8")


def _read(file: Path) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
