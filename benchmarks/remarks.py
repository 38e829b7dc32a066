"""Remarks on captions (docs/outputs.md) in all real texts of the data folder:
how many, and which, to be read.

    python -m benchmarks.remarks [--texts 20]

Every field of every file is a system: its captions beside the references of their
items, where a file of the folder has them. Printed are the remarks on each field, up to
N of the captions behind each, and the rate per 10,000 texts. Exit status 1 where more
than one text in 10,000 has a remark that names no mark that stands in it, or where the
remarks on whole files are others than :data:`DESERVED`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.captions import data_folder, records_of
from harness.contracts import CaptionSet
from harness.files.generated.caption_marks import caption_marks
from harness.files.generated.remarks import output_remarks

IDS = ("image_id", "video_id", "youtube_id", "id", "index", "file_name")
NAMES = {*IDS, "split", "category", "audio_id", "raw_name", "judges"}
"""Fields without captions."""
NO_CAPTIONS = ("pregen",)
"""Folders with tables of numbers."""
THERE = ("marks", "unknown", "empty")
"""Kinds that name a mark that stands in the text, or say that there is none:
true by themselves.
"""
DESERVED = {
    ("coco_karpathy_test/candidates_magic.jsonl.gz", "candidates.contrastive"): "same",
    ("flickr30k_test/candidates_magic.jsonl.gz", "candidates.contrastive"): "same",
    (
        "coco_karpathy_test/candidates_where_image.jsonl.gz",
        "candidates.human_1",
    ): "copies",
    ("flickr30k_test/candidates_where_image.jsonl.gz", "candidates.human_1"): "copies",
    ("flickr8k/candidates_where_image.jsonl.gz", "candidates.human_1"): "copies",
}
"""File and field -> the remark on the whole that it deserves: one sentence for every
image, the first reference of each.
"""
OF_FILES = ("copies", "same", "repeats", "script")
RATE = 1e-4
"""Largest share of texts with a false remark."""


def main() -> int:
    """Print the remarks and their rates;
    return 1 where they are others than expected.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--texts",
        type=int,
        default=20,
        metavar="N",
        help="captions to print of each kind and field (default: 20)",
    )
    shown = parser.parse_args().texts

    folder = data_folder()
    references = references_by_item(folder)
    counts: Counter[str] = Counter()
    of_files: dict[tuple[str, str], str] = {}
    texts = 0
    for file, field, sets in systems(folder, references):
        texts += sum(len(item.candidates) for item in sets)
        for remark in output_remarks(sets):
            print(f"{file}  {field}  [{remark.kind}]  {remark.text}")
            if remark.kind in OF_FILES:
                of_files[file, field] = remark.kind
            else:
                counts[remark.kind] += remark.count
        print_captions(sets, shown)

    print(f"\n{texts:,} texts")
    for kind, count in counts.most_common():
        print(
            f"{kind:10} {count:6,}  {1e4 * count / texts:7.3f} per "
            f"10,000{'  (stand there)' if kind in THERE else ''}"
        )
    doubtful = sum(count for kind, count in counts.items() if kind not in THERE) / texts
    print(
        "remarks on captions beyond marks that stand there: "
        f"{1e4 * doubtful:.3f} per 10,000 (at most {1e4 * RATE:g})"
    )
    deserved = "those that deserve one"
    if of_files != DESERVED:
        deserved = f"{of_files}, expected {DESERVED}"
    print(f"remarks on files: {deserved}")
    return int(doubtful > RATE or of_files != DESERVED)


def print_captions(sets: list[CaptionSet], shown: int) -> None:
    """Print the captions that have marks, up to a number of each kind."""
    printed: Counter[str] = Counter()
    for item in sets:
        for text in item.candidates:
            for kind, signs in caption_marks(text):
                printed[kind] += 1
                if printed[kind] <= shown:
                    print(f"    {kind} {item.id} {signs}: {text[:160]!r}")


def systems(
    folder: Path, references: dict[str, dict[str, tuple[str, ...]]]
) -> Iterator[tuple[str, str, list[CaptionSet]]]:
    """Yield file, field, and the captions of the field with the references of their
    items; those of references have none.
    """
    for path in sorted(folder.rglob("*.gz")):
        if path.parent.name in NO_CAPTIONS:
            continue
        fields: dict[str, list[CaptionSet]] = defaultdict(list)
        of_folder = references.get(path.parent.name, {})
        for number, record in enumerate(records_of(path)):
            key = identity(record, number)
            for field, texts in captions_by_field(record).items():
                beside = (
                    () if field.startswith("references") else of_folder.get(key, ())
                )
                fields[field].append(CaptionSet(key, tuple(texts), beside))
        for field, sets in fields.items():
            yield str(path.relative_to(folder)), field, sets


def references_by_item(folder: Path) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return folder -> item -> references, of all files with a list of references."""
    found: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for path in sorted(folder.rglob("references*.jsonl.gz")):
        for number, record in enumerate(records_of(path)):
            found[path.parent.name][identity(record, number)] = tuple(
                record["references"]
            )
    return found


def identity(record: Any, number: int) -> str:
    """Return the id of a record, its number without one."""
    return (
        next((str(record[name]) for name in IDS if name in record), str(number))
        if isinstance(record, dict)
        else str(number)
    )


def captions_by_field(value: Any, field: str = "") -> dict[str, list[str]]:
    """Return field -> texts of a record, the fields of objects joined by dots."""
    out: dict[str, list[str]] = {}
    if isinstance(value, str):
        return {field or "line": [value]}
    if isinstance(value, dict):
        parts = [
            (f"{field}.{name}" if field else name, item)
            for name, item in value.items()
            if name not in NAMES
        ]
    else:
        parts = [(field, item) for item in value] if isinstance(value, list) else []
    for name, item in parts:
        for inner, texts in captions_by_field(item, name).items():
            out.setdefault(inner, []).extend(texts)
    return out


if __name__ == "__main__":
    sys.exit(main())
