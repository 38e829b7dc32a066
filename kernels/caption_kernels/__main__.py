"""The COCO toolkit's table of a file of results:

    python -m caption_kernels score results.json annotations.json

Both files have the toolkit's form. The table is printed on standard output, progress
and what is left out on standard error. Exit status 2 for files that cannot be scored.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from caption_kernels.coco.toolkit import COCOEvalCap

CAPTIONS = '[{"image_id": 1, "caption": "a dog runs"}, ...]'
ANNOTATIONS = f'{{"images": [...], "annotations": {CAPTIONS}}}'


class UnusableFile(ValueError):
    """A file that cannot be scored; the message is one line."""


class CaptionFile:
    """Captions by image: the members of ``pycocotools.coco.COCO`` that are used.

    Parameters
    ----------
    rows : sequence of mappings
        Each with ``image_id`` and ``caption``.
    """

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        by_image: dict[Any, list[dict[str, Any]]] = {}
        for row in rows:
            by_image.setdefault(row["image_id"], []).append(row)
        self.imgToAnns: Mapping[Any, list[dict[str, Any]]] = by_image

    def getImgIds(self) -> list[Any]:
        """Return the ids of all images that have captions."""
        return list(self.imgToAnns)


def read_json(path: Path) -> Any:
    """Return the content of a file; raise :class:`UnusableFile` where it has none."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise UnusableFile(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UnusableFile(f"{path}: not JSON: {error}") from error


def check_rows(path: Path, rows: Any, expected: str) -> CaptionFile:
    """Return the captions of a file; raise :class:`UnusableFile` for other content."""
    if not isinstance(rows, list) or not rows:
        raise UnusableFile(f"{path}: no list of captions; expected {expected}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or "image_id" not in row:
            raise UnusableFile(f"{path}: caption {number} has no image_id: {row!r:.80}")
        if not isinstance(row["image_id"], int | str):
            raise UnusableFile(
                f"{path}: caption {number}: image_id is {row['image_id']!r:.80}; "
                "expected a number or a text"
            )
        if not isinstance(row.get("caption"), str):
            raise UnusableFile(
                f"{path}: caption {number} of image {row['image_id']}: "
                f"expected a text, found {row.get('caption')!r:.80}"
            )
    return CaptionFile(rows)


def read_results(path: Path) -> CaptionFile:
    """Return the candidates of a file of results, one of each image."""
    results = check_rows(path, read_json(path), CAPTIONS)
    counts = Counter({image: len(rows) for image, rows in results.imgToAnns.items()})
    image, most = counts.most_common(1)[0]
    if most > 1:
        raise UnusableFile(
            f"{path}: image {image} has {most} captions; the toolkit scores one (sets "
            "of captions: harness score)"
        )
    return results


def read_annotations(path: Path) -> CaptionFile:
    """Return the references of a file of annotations."""
    content = read_json(path)
    rows = content.get("annotations") if isinstance(content, dict) else None
    return check_rows(path, rows, ANNOTATIONS)


def score_files(results: Path, annotations: Path) -> dict[str, float]:
    """Return metric -> number of the images that have results.

    Raises
    ------
    UnusableFile
        For files that are not of the toolkit's form, and where an image has a
        candidate but no reference.
    """
    candidates = read_results(results)
    references = read_annotations(annotations)
    images = candidates.getImgIds()
    unknown = [image for image in images if image not in references.imgToAnns]
    if unknown:
        raise UnusableFile(
            f"{results}: {len(unknown)} of {len(images)} images have no reference in "
            f"{annotations}, the first is {unknown[0]!r}; are the files swapped, or of "
            "different splits?"
        )

    left_out = len(references.imgToAnns) - len(images)
    if left_out:
        print(
            f"{len(images)} images have results; of those of {annotations}, {left_out} "
            "without one are not scored",
            file=sys.stderr,
        )
    evaluation = COCOEvalCap(references, candidates)
    evaluation.params["image_id"] = images
    with redirect_stdout(sys.stderr):
        evaluation.evaluate()
    return evaluation.eval


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m caption_kernels", description="Captions in COCO's digits."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    score = commands.add_parser("score", help="print the COCO toolkit's table")
    score.add_argument("results", type=Path, help=f"candidates: {CAPTIONS}")
    score.add_argument("annotations", type=Path, help=f"references: {ANNOTATIONS}")
    args = parser.parse_args(arguments)

    try:
        numbers = score_files(args.results, args.annotations)
    except UnusableFile as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for name, value in numbers.items():
        print(f"{name}: {value:0.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
