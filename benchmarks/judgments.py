"""Agreement of the classic metrics with people beside published values,
and the time of a million judged pairs.

    python -m benchmarks.judgments [--pairs 1000000] [--distinct] [--tasks NAME ...]
    [--no-timing]

Each judgment set that is under HARNESS_DATA (or ``data`` in HARNESS_SHARED, by default
``../shared``) is run as shipped, with BLEU-1, BLEU-4, ROUGE-L, METEOR and CIDEr;
measured and published values are printed times 100, with the difference to the
published value or to the nearest end of a published range. Goals: Composite, its three
image sets together, within 0.3; Pascal-50S within 0.8; Flickr8k-Expert within 0.7 (its
single votes are not in the file, and are reconstructed from the mean). Sets that are
not there are named.

The timing makes pairs of captions of one image by several captioners of COCO (invented
captions where there is no real data), with invented preferences, writes them as one
file, and times ``harness run`` on it from reading to results: a million pairs, five
metrics, 1000 bootstrap samples, tests between metrics; captions that occur in several
pairs are scored once, with ``--distinct`` no caption occurs twice. Goal: at most 300 s
on two cores. Exit status 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import peak_memory
from harness import api
from harness.judgments.plan import JudgmentPlan
from harness.run.finished import Run

ROOT = Path(__file__).resolve().parent.parent
METRICS = ["bleu1", "bleu4", "rouge", "meteor", "cider"]
GOALS = {"composite": 0.3, "pascal50s": 0.8, "flickr8k-expert": 0.7}
"""Task -> largest difference to the published value, times 100."""
GOAL_SECONDS = 300.0
REFERENCES = "coco_karpathy_test/references.jsonl.gz"
CAPTIONERS = (
    "coco_karpathy_test/candidates_where_image.jsonl.gz",
    "coco_karpathy_test/candidates_magic.jsonl.gz",
)


def data_folder() -> Path:
    """Return the folder of real data, which may be missing."""
    shared = Path(os.environ.get("HARNESS_SHARED") or ROOT.parent / "shared")
    return Path(os.environ.get("HARNESS_DATA") or shared / "data")


def agreement(tasks: list[str]) -> list[str]:
    """Print measured and published values of every judgment set that is there, and
    return the goals that are missed.
    """
    missed: list[str] = []
    plans = [
        plan
        for plan in api.plans("judgments/all", metrics=METRICS)
        if isinstance(plan, JudgmentPlan)
    ]
    for plan in plans:
        name = plan.spec.task.rpartition("/")[2]
        if tasks and name not in tasks:
            continue
        if plan.missing:
            print(f"{name}: not there ({', '.join(plan.missing)})")
            if name in GOALS:
                print(
                    f"  goal not measured: within {GOALS[name]} of the published values"
                )
            continue
        run = api.evaluate(plan.spec.task, metrics=METRICS)
        missed += _print_set(name, run)
    return missed


def _print_set(name: str, run: Run) -> list[str]:
    missed: list[str] = []
    published_any = False
    data: Any = run.manifest["data"]
    print(f"\n{name}: {data['examples']} items, {run.records[0].n} judgments")

    print(
        "  "
        f"{'statistic':<22}{'metric':<9}{'measured':>9}{'95 % interval':>17}"
        f"{'published':>13}{'difference':>12}{'cluster':>9}"
    )

    for record in run.records:
        details = record.details or {}
        ends = details.get("published")
        ends = (
            None
            if ends is None
            else [100 * end for end in (ends if isinstance(ends, list) else [ends])]
        )

        value = 100 * record.value
        difference = "" if ends is None else _difference(value, ends)
        published = "" if ends is None else "-".join(f"{end:.1f}" for end in ends)
        low, high = record.ci95 or (float("nan"), float("nan"))
        interval = f"{100 * low:.1f} .. {100 * high:.1f}"
        statistic = (
            f"{record.statistic} {record.group if record.group != 'all' else ''}"
        )
        cluster = details.get("cluster") or ""

        print(
            "  "
            f"{statistic:<22}{record.metric:<9}{value:>9.2f}{interval:>17}"
            f"{published:>13}{difference:>12}{cluster:>9}"
        )

        if ends is not None:
            published_any = True
            if name in GOALS and abs(float(difference)) > GOALS[name]:
                missed.append(
                    f"{name} {record.metric}: {difference} from the published value, "
                    f"goal {GOALS[name]}"
                )

    if not published_any:
        print("  no published values in the task")
    return missed


def _difference(value: float, ends: list[float]) -> str:
    """Return the difference to the nearest end of a range, 0 within it."""
    nearest = min(max(value, min(ends)), max(ends))
    return f"{value - nearest:+.2f}"


def timing(pairs: int, distinct: bool) -> list[str]:
    """Print the time of a run on judged pairs,
    and return the goal when it is missed.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        references = Path(folder) / "references.jsonl"

        captions = _real_captions() or _invented_captions()
        written = _write_pairs(path, references, captions, pairs, distinct)
        task = {
            "task": "pairs",
            "judgments": {
                "form": "pairs",
                "path": str(path),
                "references": {"path": str(references)},
                "columns": {"item": "image_id"},
            },
            "statistics": ["accuracy"],
            "metrics": METRICS,
        }

        started = time.perf_counter()
        used = time.process_time()
        run = api.evaluate(task, output=Path(folder) / "run")
        seconds = time.perf_counter() - started
        cpu = time.process_time() - used

    memory = peak_memory()
    scoring = sum({record.metric: record.seconds for record in run.records}.values())
    captions_scored = (run.records[0].details or {}).get("captions")
    print(
        f"\n{written:,} judged pairs of {captions_scored:,} distinct captions, "
        f"{len(METRICS)} metrics: {seconds:.0f} s"
    )
    print(
        f"  {os.cpu_count()} cores, {scoring:.0f} s of it scoring, "
        f"{cpu:.0f} s of processor time, {memory:.1f} GiB at most"
    )
    print(f"  goal: {GOAL_SECONDS:.0f} s for a million pairs")

    for record in run.records:
        speed = (captions_scored or 0) / max(record.seconds, 1e-9)
        print(
            f"  {record.metric:<9}{100 * record.value:>7.2f}  {record.seconds:>7.1f} "
            f"s  {speed:>9,.0f} captions/s"
        )

    late = seconds > GOAL_SECONDS * max(1.0, written / 1e6)
    return [f"{written:,} pairs took {seconds:.0f} s"] if late else []


def _real_captions() -> list[tuple[list[str], list[str]]] | None:
    """Return references and the captions of all captioners of the COCO test images;
    None without the data.
    """
    data = data_folder()
    if not all((data / name).is_file() for name in (REFERENCES, *CAPTIONERS)):
        return None
    captions: dict[Any, list[str]] = {}
    for name in CAPTIONERS:
        for row in _records(data / name):
            captions.setdefault(row["image_id"], []).extend(
                text for text in row["candidates"].values() if text
            )
    return [
        (row["references"][:5], captions[row["image_id"]])
        for row in _records(data / REFERENCES)
    ]


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _invented_captions(
    images: int = 5000, systems: int = 21
) -> list[tuple[list[str], list[str]]]:
    rng = np.random.default_rng(0)
    words = np.array([f"w{k}" for k in range(3000)])
    shares = 1 / np.arange(1, len(words) + 1)
    shares /= shares.sum()

    def sentence() -> str:
        return " ".join(rng.choice(words, size=int(rng.integers(6, 14)), p=shares))

    return [
        ([sentence() for _ in range(5)], [sentence() for _ in range(systems)])
        for _ in range(images)
    ]


def _write_pairs(
    path: Path,
    references: Path,
    captions: list[tuple[list[str], list[str]]],
    count: int,
    distinct: bool,
) -> int:
    """Write at most ``count`` pairs with invented preferences and return their
    number.
    """
    rng = np.random.default_rng(1)
    written = 0
    per_image = -(-count // len(captions))
    with (
        path.open("w", encoding="utf-8") as file,
        references.open("w", encoding="utf-8") as table,
    ):
        for image, (texts, candidates) in enumerate(captions):
            table.write(json.dumps({"image_id": image, "references": texts}) + "\n")
            for first, second in list(combinations(candidates, 2))[
                : min(per_image, count - written)
            ]:
                if distinct:
                    first = f"{first} {written}"
                    second = f"{second} and {written}"
                votes = int(rng.integers(0, 2)) * 2 - 1
                file.write(
                    json.dumps(
                        {
                            "image_id": image,
                            "caption_a": first,
                            "caption_b": second,
                            "votes": votes,
                        }
                    )
                    + "\n"
                )
                written += 1
    return written


def main() -> int:
    """Run the parts; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--pairs",
        type=int,
        default=1_000_000,
        help="number of judged pairs of the timing",
    )
    parser.add_argument(
        "--distinct", action="store_true", help="no caption occurs in two pairs"
    )
    parser.add_argument(
        "--tasks",
        nargs="*",
        default=[],
        metavar="NAME",
        help="judgment sets; default: all",
    )
    parser.add_argument("--no-timing", action="store_true", help="leave out the timing")
    args = parser.parse_args()
    os.environ.setdefault("HARNESS_DATA", str(data_folder()))
    missed = agreement(args.tasks)
    if not args.no_timing:
        missed += timing(args.pairs, args.distinct)
    for line in missed:
        print(f"missed: {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
