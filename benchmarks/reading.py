"""Speed of reading: CPU seconds for COCO results, COCO annotations and a million JSON Lines, beside parsing their JSON alone.

    python -m benchmarks.reading [--against CHECKOUT] [--lines 1000000]

``--against`` measures a checkout of another version in turns with this one, and exits with 1 above 1.1 times its seconds. Each reading
is a process of its own; the least of five is printed.
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

WORDS = ["a", "man", "dog", "cat", "rides", "sits", "on", "the", "red", "table", "with", "bike", "near", "small", "group", "people"]
LIMIT = 1.1
"""Largest ratio to the other version."""
READ = """
import sys, time
from harness.registry import current
role, path = sys.argv[1:]
start = time.process_time()
if role == "references":
    count = sum(1 for _ in current().create("readers", "auto", {"path": path}))
else:
    count = len(current().create("adapters", "predictions", {"path": path}).captions_by_id())
print(time.process_time() - start)
"""
PARSE = """
import json, sys, time
start = time.process_time()
with open(sys.argv[2], encoding="utf-8") as file:
    text = file.read()
    [json.loads(line) for line in text.splitlines()] if sys.argv[2].endswith("l") else json.loads(text)
print(time.process_time() - start)
"""
REPEATS = 5


def write_files(folder: Path, lines: int) -> dict[str, tuple[str, Path]]:
    """Write the files of captions and return name -> (role, path)."""
    generator = random.Random(0)

    def caption() -> str:
        return " ".join(generator.choices(WORDS, k=10))

    results = [{"image_id": 7 * k, "caption": caption()} for k in range(5000)]
    images = [{"id": 7 * k, "file_name": f"{k:012d}.jpg"} for k in range(5000)]
    annotations = [{"id": k, "image_id": 7 * (k % 5000), "caption": caption()} for k in range(25_000)]
    (folder / "results.json").write_text(json.dumps(results))
    (folder / "annotations.json").write_text(json.dumps({"images": images, "annotations": annotations}))
    with (folder / "lines.jsonl").open("w") as file:
        file.writelines(json.dumps({"image_id": k, "caption": caption()}) + "\n" for k in range(lines))
    return {
        "COCO results, 5,000": ("candidates", folder / "results.json"),
        "COCO annotations, 5,000 x 5": ("references", folder / "annotations.json"),
        f"JSON Lines, {lines:,}, candidates": ("candidates", folder / "lines.jsonl"),
        f"JSON Lines, {lines:,}, references": ("references", folder / "lines.jsonl"),
    }


def measure(program: str, role: str, path: Path, root: Path) -> float:
    """Return the CPU seconds that a program prints, with the sources of a checkout."""
    paths = [root, *(root / name for name in ("plugins", "adapters", "tasks", "kernels"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", program, role, str(path)]
    return float(subprocess.run(command, cwd=path.parent, env=environment, capture_output=True, text=True, check=True).stdout)


def main() -> int:
    """Print the table; return 1 where a reading is slower than that of the other version."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another version, measured in turns with this one")
    parser.add_argument("--lines", type=int, default=1_000_000, help="number of JSON Lines")
    args = parser.parse_args()
    here = Path(__file__).resolve().parent.parent
    met = True
    with tempfile.TemporaryDirectory() as folder:
        for name, (role, path) in write_files(Path(folder), args.lines).items():
            ours, others, parsing = [], [], []
            for _ in range(REPEATS):
                ours.append(measure(READ, role, path, here))
                parsing.append(measure(PARSE, role, path, here))
                if args.against:
                    others.append(measure(READ, role, path, args.against.resolve()))
            line = f"{name:38} {min(ours):7.2f} s, {min(ours) / min(parsing):5.1f} times parsing"
            if others:
                ratio = min(ours) / min(others)
                met = met and ratio <= LIMIT
                line += f", {ratio:.2f} times the other version (at most {LIMIT})"
            print(line, flush=True)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
