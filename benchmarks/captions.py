"""Captions that the benchmarks read: COCO and MSR-VTT captions of the data folder,
and the shipped sample.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from harness.contracts import CaptionSet

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""
GOLDEN = ROOT / "tests" / "golden"
"""Folder of the golden values."""
REFERENCES = "coco_karpathy_test/references.jsonl.gz"
CAPTIONERS = "coco_karpathy_test/candidates_where_image.jsonl.gz"
SAMPLED = "coco_diversity/candidates_10_per_image.jsonl.gz"
VIDEOS = "msrvtt/references_test.jsonl.gz"
ROWS = "BENCHMARK_ROWS"
"""Variable of the environment: how many rows of a file of captions are read, all where
it is not set.
"""
T = TypeVar("T")


def take_few(rows: Iterable[T]) -> Iterator[T]:
    """Yield the rows, or as many of the first as :data:`ROWS` says."""
    count = os.environ.get(ROWS)
    return itertools.islice(rows, int(count) if count else None)


def find_data_folder() -> Path | None:
    """Return the folder of real captions: ``HARNESS_DATA``, else ``data`` in
    ``HARNESS_SHARED`` or ``../shared``; None without one.
    """
    shared = Path(os.environ.get("HARNESS_SHARED") or ROOT.parent / "shared")
    folder = Path(os.environ.get("HARNESS_DATA") or shared / "data")
    return folder if (folder / "coco_karpathy_test").is_dir() else None


def data_folder() -> Path:
    """Return the folder of real captions; end the script when there is none."""
    folder = find_data_folder()
    if folder is None:
        raise SystemExit(
            "no real captions: set HARNESS_DATA to the folder that contains "
            "coco_karpathy_test"
        )
    return folder


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a gzipped JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in take_few(lines)]


def references() -> list[list[str]]:
    """Return the references of the 5000 images, five each."""
    return [
        row["references"][:5] for row in read_json_lines(data_folder() / REFERENCES)
    ]


def one_candidate(system: str = "merge_3") -> list[str]:
    """Return the caption of one captioner for each of the 5000 images."""
    return [
        row["candidates"][system] for row in read_json_lines(data_folder() / CAPTIONERS)
    ]


def sampled_candidates() -> list[list[str]]:
    """Return ten sampled captions for each of the 5000 images."""
    return [row["candidates"] for row in read_json_lines(data_folder() / SAMPLED)]


def captioner_captions() -> list[list[str]]:
    """Return the captions of all captioners, one list per image;
    human captions are left out.
    """
    rows = read_json_lines(data_folder() / CAPTIONERS)
    return [
        [text for name, text in row["candidates"].items() if name != "human_1"]
        for row in rows
    ]


def captioner_sets(limit: int | None = None) -> list[CaptionSet]:
    """Return sets of ten captioners' captions and five references, of the first
    ``limit`` images (None: all).
    """
    by_image = {
        row["image_id"]: row["references"]
        for row in read_json_lines(data_folder() / REFERENCES)
    }
    images = [row["image_id"] for row in read_json_lines(data_folder() / CAPTIONERS)]
    return [
        CaptionSet(str(image), tuple(texts[:10]), tuple(by_image[image][:5]))
        for image, texts in zip(images[:limit], captioner_captions())
    ]


def sampled_sets() -> list[CaptionSet]:
    """Return sets of ten sampled captions and five references, as plain words,
    of the 5000 images.
    """
    return [
        CaptionSet(
            str(k), tuple(map(plain_words, candidates)), tuple(map(plain_words, texts))
        )
        for k, (candidates, texts) in enumerate(zip(sampled_candidates(), references()))
    ]


def shipped_sets(limit: int | None = None) -> list[CaptionSet]:
    """Return sets of the shipped sample: five captions of a scene and five of the next
    one against the scene's other five.
    """
    import harness_tasks

    data = json.loads(
        (Path(harness_tasks.__path__[0]) / "sample/captions.json").read_text(
            encoding="utf-8"
        )
    )
    captions: dict[int, list[str]] = {}
    for row in data["annotations"]:
        captions.setdefault(row["image_id"], []).append(row["caption"])
    scenes = list(captions.values())
    sets = [
        CaptionSet(
            str(k),
            (*scenes[k][:5], *scenes[(k + 1) % len(scenes)][:5]),
            tuple(scenes[k][5:10]),
        )
        for k in range(len(scenes))
    ]
    return sets[:limit]


def plain_words(text: str) -> str:
    """Return lower-case words of letters, digits and apostrophes: tokens for
    comparisons without the PTB tokeniser.

    >>> plain_words("A dog's ball.")
    "a dog's ball"
    """
    return " ".join(re.sub(r"[^a-z0-9']", " ", text.lower()).split())


def strings(value: Any) -> Iterator[str]:
    """Yield all strings of a record, at any depth.

    >>> list(strings({"a": ["x", {"b": "y"}], "c": 1}))
    ['x', 'y']
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def records_of(path: Path) -> Iterator[Any]:
    """Yield the records of a gzipped file: JSON values of ``.jsonl.gz``,
    lines of any other file.
    """
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in take_few(lines):
            yield (
                json.loads(line)
                if path.name.endswith(".jsonl.gz")
                else line.rstrip("\n")
            )
