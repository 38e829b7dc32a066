"""Speed of reading: CPU seconds for COCO results, COCO annotations and a million JSON
Lines, beside parsing their JSON alone.

*Loading* is the import of the reader or adapter, with compiled modules; *reading* is
all that is done with the file.

    python -m benchmarks.reading [--against CHECKOUT] [--lines 1000000]

``--against`` measures a checkout of another version in turns with this one, and exits
with 1 above 1.1 times its seconds. Each reading is a process of its own; the least of
five is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

WORDS = [
    "a",
    "man",
    "dog",
    "cat",
    "rides",
    "sits",
    "on",
    "the",
    "red",
    "table",
    "with",
    "bike",
    "near",
    "small",
    "group",
    "people",
]
LIMIT = 1.1
"""Largest ratio to the other version."""
READ = """
import sys, time
from harness.registry import current
role, path = sys.argv[1:]
start = time.process_time()
is_reader = role == "references"
kind, name = ("readers", "auto") if is_reader else ("adapters", "predictions")
current().load(kind, name)
loaded = time.process_time()
source = current().create(kind, name, {"path": path})
count = sum(1 for _ in source) if is_reader else len(source.captions_by_id())
print(loaded - start, time.process_time() - loaded)
"""
PARSE = """
import json, sys, time
start = time.process_time()
with open(sys.argv[2], encoding="utf-8") as file:
    text = file.read()
    if sys.argv[2].endswith("l"):
        [json.loads(line) for line in text.splitlines()]
    else:
        json.loads(text)
print(0, time.process_time() - start)
"""
REPEATS = 5


def write_files(folder: Path, lines: int) -> dict[str, tuple[str, Path]]:
    """Write the files of captions and return name -> (role, path)."""
    generator = random.Random(0)

    def caption() -> str:
        return " ".join(generator.choices(WORDS, k=10))

    results = [{"image_id": 7 * k, "caption": caption()} for k in range(5000)]
    images = [{"id": 7 * k, "file_name": f"{k:012d}.jpg"} for k in range(5000)]
    annotations = [
        {"id": k, "image_id": 7 * (k % 5000), "caption": caption()}
        for k in range(25_000)
    ]
    (folder / "results.json").write_text(json.dumps(results))
    (folder / "annotations.json").write_text(
        json.dumps({"images": images, "annotations": annotations})
    )
    with (folder / "lines.jsonl").open("w") as file:
        file.writelines(
            json.dumps({"image_id": k, "caption": caption()}) + "\n"
            for k in range(lines)
        )
    return {
        "COCO results, 5,000": ("candidates", folder / "results.json"),
        "COCO annotations, 5,000 x 5": ("references", folder / "annotations.json"),
        f"JSON Lines, {lines:,}, candidates": ("candidates", folder / "lines.jsonl"),
        f"JSON Lines, {lines:,}, references": ("references", folder / "lines.jsonl"),
    }


def measure(
    program: str, role: str, path: Path, root: Path, cache: Path
) -> tuple[float, float]:
    """Return the CPU seconds of loading and of reading that a program prints, with the
    sources of a checkout, compiled in ``cache``.
    """
    paths = [
        root,
        *(root / name for name in ("plugins", "adapters", "tasks", "kernels")),
    ]
    environment = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONDONTWRITEBYTECODE"
    }
    environment |= {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONPYCACHEPREFIX": str(cache),
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-c", program, role, str(path)]
    loading, reading = subprocess.run(
        command,
        cwd=path.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return float(loading), float(reading)


def main() -> int:
    """Print the table; return 1 where a reading is slower than that of the other
    version.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="CHECKOUT",
        help="another version, measured in turns with this one",
    )
    parser.add_argument(
        "--lines", type=int, default=1_000_000, help="number of JSON Lines"
    )
    args = parser.parse_args()
    here = Path(__file__).resolve().parent.parent
    versions = [here, *([args.against.resolve()] if args.against else [])]
    met = True
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "compiled"
        for name, (role, path) in write_files(Path(folder), args.lines).items():
            seconds: list[list[tuple[float, float]]] = [[] for _ in versions]
            parsing: list[float] = []
            for version in versions:
                measure(READ, role, path, version, cache)  # compiles the modules
            for _ in range(REPEATS):
                parsing.append(measure(PARSE, role, path, here, cache)[1])
                for version, found in zip(versions, seconds):
                    found.append(measure(READ, role, path, version, cache))

            loading = [min(load for load, _ in found) for found in seconds]
            reading = [min(read for _, read in found) for found in seconds]
            line = (
                f"{name:38} loading {loading[0]:.3f} s, reading {reading[0]:7.3f} s, "
                f"{reading[0] / min(parsing):5.1f} times parsing"
            )
            if args.against:
                ratio = reading[0] / reading[1]
                met = met and ratio <= LIMIT
                line += (
                    f"; {loading[0] / loading[1]:.2f} and {ratio:.2f} times the "
                    f"other version (reading: at most {LIMIT})"
                )
            print(line, flush=True)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
