"""Cost of large runs: time and memory by the number of examples, executors,
kills, resume.

    python -m benchmarks.scale [--examples 1000000] [--only
    growth,sets,digits,ray,kills,resume] [--work FOLDER] python -m benchmarks.scale
    --examples 1000000 --distinct

A million examples take about an hour on two cores; the default, 20,000, prints the same
figures in some minutes.

Data are captions of the COCO test images (the shipped sample without them), drawn with
replacement by a seed; with ``--distinct`` chains of their word pairs, without
repetition. Every run is a process of its own, whose peak memory is read from the
operating system. Times are of one session: compare them by ratios alone.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import captions

SMALL = 2_000
"""Examples of the sections that compare digits."""
PLAIN = ["bleu", "rouge", "cider", "meteor"]
SECTIONS = ("growth", "sets", "digits", "ray", "kills", "resume")


_LAUNCHER = """
import json, os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
seconds = usage.ru_utime + usage.ru_stime
print(json.dumps([os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss]))
"""
"""Runs a command from a small process: the peak memory of a process includes that of
its parent at the fork.
"""


@dataclass(frozen=True)
class Measured:
    """Cost of one process."""

    seconds: float
    cpu_seconds: float
    peak_gib: float


def source() -> tuple[list[list[str]], list[str]]:
    """Return references and one candidate of real images, or of the shipped sample."""
    if captions.find_data_folder() is not None:
        return captions.references(), captions.one_candidate()
    sample = json.loads(
        (
            captions.ROOT / "tasks" / "harness_tasks" / "sample" / "captions.json"
        ).read_text()
    )
    texts: dict[int, list[str]] = {image["id"]: [] for image in sample["images"]}
    for annotation in sample["annotations"]:
        texts[annotation["image_id"]].append(annotation["caption"])
    return [item[:5] for item in texts.values()], [item[-1] for item in texts.values()]


def distinct_captions(seed: int = 0) -> Iterator[str]:
    """Yield captions that all differ: chains of word pairs of the references, so that
    n-grams of three and more words grow without end.
    """
    successors: dict[str, list[str]] = {}
    for text in itertools.chain.from_iterable(source()[0]):
        words = ["", *text.lower().rstrip(" .").split(), ""]
        for word, successor in itertools.pairwise(words):
            successors.setdefault(word, []).append(successor)
    draw = random.Random(seed).random
    seen = set[int]()
    while True:
        words = list[str]()
        word = ""
        while len(words) < 30 and (
            word := successors[word][int(draw() * len(successors[word]))]
        ):
            words.append(word)
        text = " ".join(words)
        if len(words) > 4 and hash(text) not in seen:
            seen.add(hash(text))
            yield text


def write_distinct(folder: Path, examples: int) -> int:
    """Write 1 + 5 distinct captions of each example as JSON Lines;
    return the bytes of the captions.
    """
    texts = distinct_captions()
    size = 0
    with (
        open(folder / "references.jsonl", "w") as refs,
        open(folder / "predictions.jsonl", "w") as preds,
    ):
        for number in range(examples):
            candidate, *references = itertools.islice(texts, 6)
            refs.write(json.dumps({"id": str(number), "references": references}) + "\n")
            preds.write(
                json.dumps({"id": str(number), "candidates": [candidate]}) + "\n"
            )
            size += len(candidate) + sum(map(len, references))
    return size


def write_data(folder: Path, examples: int, candidates: int, seed: int = 0) -> int:
    """Write references and predictions of drawn examples as JSON Lines;
    return the bytes of their captions.
    """
    references, single = source()
    rng = np.random.default_rng(seed)
    images = rng.integers(len(references), size=(examples, 1 + candidates))
    size = 0
    with (
        open(folder / "references.jsonl", "w") as refs,
        open(folder / "predictions.jsonl", "w") as preds,
    ):
        for number, (image, *others) in enumerate(images.tolist()):
            texts = [
                single[image],
                *(references[k][number % 5] for k in others[: candidates - 1]),
            ]
            refs.write(
                json.dumps({"id": str(number), "references": references[image]}) + "\n"
            )
            preds.write(json.dumps({"id": str(number), "candidates": texts}) + "\n")
            size += sum(map(len, texts)) + sum(map(len, references[image]))
    return size


def write_spec(folder: Path, metrics: Sequence[object], **more: Any) -> Path:
    """Write the spec of a run over the data in ``folder``."""
    spec = {
        "task": "scale",
        "dataset": {"reader": "jsonl", "path": str(folder / "references.jsonl")},
        "models": [
            {
                "predictions": {
                    "path": str(folder / "predictions.jsonl"),
                    "label": "drawn",
                }
            }
        ],
        "metrics": list(metrics),
        **more,
    }
    path = folder / "spec.yaml"
    path.write_text(json.dumps(spec))
    return path


def run(*arguments: str, check: bool = True) -> Measured:
    """Run ``harness`` with arguments and return its cost."""
    started = time.perf_counter()
    command = [
        sys.executable,
        "-S",
        "-c",
        _LAUNCHER,
        sys.executable,
        "-m",
        "harness",
        *arguments,
    ]
    process = subprocess.run(
        command, cwd=captions.ROOT, capture_output=True, text=True, check=True
    )
    code, cpu_seconds, kib = json.loads(process.stdout)
    if check and code != 0:
        raise SystemExit(
            f"harness {' '.join(arguments)} ended with {code}: {process.stderr[-2000:]}"
        )
    return Measured(time.perf_counter() - started, cpu_seconds, kib / 2**20)


def identical(first: Path, second: Path) -> bool:
    """Return True when two runs have the same digits."""
    command = [
        sys.executable,
        "-m",
        "harness",
        "compare",
        str(first),
        str(second),
        "--identical",
    ]
    return (
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0
    )


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def growth(work: Path, examples: int, distinct: bool = False) -> Iterator[str]:
    """BLEU, ROUGE-L, CIDEr and METEOR with intervals on 1 + 5 captions,
    by the number of examples.
    """
    yield (
        f"1 + 5 {'distinct ' if distinct else ''}captions, BLEU-4, ROUGE-L, CIDEr, "
        "METEOR with intervals"
    )
    if distinct and captions.find_data_folder() is None:
        yield (
            "  chains of the shipped sample have few distinct n-grams, "
            "and memory is too low: set HARNESS_DATA to real captions"
        )

    costs: dict[int, Measured] = {}
    sizes = sorted({max(SMALL, examples // 100), max(SMALL, examples // 10), examples})

    for size in sizes:
        folder = work / f"growth{size}"
        folder.mkdir()
        bytes_of_captions = (
            write_distinct(folder, size) if distinct else write_data(folder, size, 1)
        )
        cost = costs[size] = run(
            "run", str(write_spec(folder, PLAIN)), "--output", str(folder / "run")
        )

        disk = folder_bytes(folder / "run") / bytes_of_captions
        yield (
            f"  {size:>9,} examples  {cost.seconds:8.1f} s  "
            f"{1e3 * cost.seconds / size:6.3f} ms an example  "
            f"{cost.cpu_seconds:8.1f} CPU s  peak {cost.peak_gib:5.2f} GiB (goal "
            f"{1 if distinct else 2})  "
            f"disk {disk:4.2f} x the captions (goal 2)"
        )

        if size != examples:
            shutil.rmtree(folder)

    if len(sizes) > 1:
        ratio = (costs[sizes[-1]].seconds / sizes[-1]) / (
            costs[sizes[-2]].seconds / sizes[-2]
        )
        yield (
            f"  cost per example at {sizes[-1]:,} against {sizes[-2]:,}: "
            f"{ratio:.2f} x (goal 1.15)"
        )


def sets(work: Path, examples: int) -> Iterator[str]:
    """TRM(CIDEr) with exact p-values and MMD on given vectors, on 5 + 5 captions,
    by the number of examples.
    """
    yield "5 + 5 captions, TRM(CIDEr) with exact p-values, MMD on given word vectors"
    costs: dict[int, Measured] = {}
    sizes = sorted({max(SMALL, examples // 10), examples})
    for size in sizes:
        folder = work / f"sets{size}"
        folder.mkdir()
        write_data(folder, size, 5)
        write_vectors(folder / "words.vec")
        metrics = [
            {"trm": {"distance": "cider"}},
            {"mmd": {"embedding": {"fasttext": {"path": str(folder / "words.vec")}}}},
        ]
        spec = write_spec(folder, metrics, significance={"method": "exact"})
        cost = costs[size] = run("run", str(spec), "--output", str(folder / "run"))
        yield (
            f"  {size:>9,} examples  {cost.seconds:8.1f} s  "
            f"{1e3 * cost.seconds / size:6.3f} ms an example  "
            f"peak {cost.peak_gib:5.2f} GiB (goal 2)"
        )
        shutil.rmtree(folder)
    if len(sizes) > 1:
        ratio = (costs[sizes[-1]].seconds / sizes[-1]) / (
            costs[sizes[0]].seconds / sizes[0]
        )
        yield f"  cost per example at {sizes[-1]:,} against {sizes[0]:,}: {ratio:.2f} x"


def write_vectors(path: Path, dimensions: int = 50) -> None:
    """Write random vectors of all words of the captions in the text format of
    fastText.
    """
    references, single = source()
    words = sorted(
        {
            word
            for text in [*single, *(t for item in references for t in item)]
            for word in text.lower().split()
        }
    )
    vectors = np.random.default_rng(0).normal(size=(len(words), dimensions)).round(4)
    with open(path, "w") as file:
        file.write(f"{len(words)} {dimensions}\n")
        for word, vector in zip(words, vectors.tolist()):
            file.write(f"{word} {' '.join(map(str, vector))}\n")


def digits(work: Path, examples: int) -> Iterator[str]:
    """Equality of runs in any number of shards, by any executor,
    and of merged parts.
    """
    yield (
        f"digits of {SMALL:,} examples, 5 + 5 captions, "
        "five metrics with exact p-values"
    )

    folder = work / "digits"
    folder.mkdir()
    write_data(folder, SMALL, 5)
    metrics = [*PLAIN, {"trm": {"distance": "cider"}}]
    spec = str(write_spec(folder, metrics, significance={"method": "exact"}))
    run("run", spec, "--output", str(folder / "one"))

    for shards in (2, 4, 7):
        out = folder / f"shards{shards}"
        run("run", spec, "--shard-size", str(-(-SMALL // shards)), "--output", str(out))
        yield (
            f"  {shards} shards             "
            f"{'the same' if identical(folder / 'one', out) else 'OTHER'} digits"
        )

    for name in ("process", "ray") if has_ray() else ("process",):
        out = folder / name
        run(
            "run",
            spec,
            "--executor",
            name,
            "--workers",
            "2",
            "--output",
            str(out),
        )
        yield (
            f"  {name:<20} "
            f"{'the same' if identical(folder / 'one', out) else 'OTHER'} digits"
        )

    parts = [folder / f"part{k}" for k in range(1, 4)]
    for k, part in enumerate(parts, 1):
        run("run", spec, "--shard", f"{k}/3", "--output", str(part))
    run("merge", *map(str, reversed(parts)), "--output", str(folder / "merged"))
    yield (
        "  3 merged parts       "
        f"{'the same' if identical(folder / 'one', folder / 'merged') else 'OTHER'} "
        "digits"
    )

    if has_ray():
        with two_nodes() as address:
            run(
                "run",
                spec,
                "--executor",
                "ray",
                "--workers",
                "2",
                "--address",
                address,
                "--output",
                str(folder / "nodes"),
            )
        yield (
            "  Ray, two nodes       "
            f"{'the same' if identical(folder / 'one', folder / 'nodes') else 'OTHER'} "
            "digits"
        )


def has_ray() -> bool:
    """Return True where Ray is installed."""
    import importlib.util

    return importlib.util.find_spec("ray") is not None


class two_nodes:
    """A Ray cluster of two nodes on this machine, one core each."""

    def __enter__(self) -> str:
        from ray.cluster_utils import Cluster

        self.cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 1, "include_dashboard": False},
        )
        self.cluster.add_node(num_cpus=1)
        return str(self.cluster.address)

    def __exit__(self, *_: object) -> None:
        self.cluster.shutdown()


def ray(work: Path, examples: int) -> Iterator[str]:
    """Ray against worker processes and against one process, on the same cores."""
    if not has_ray():
        yield "Ray is not installed"
        return
    size = max(SMALL, examples // 10)
    folder = work / "ray"
    folder.mkdir()
    write_data(folder, size, 1)
    spec = str(write_spec(folder, PLAIN))
    yield f"{size:,} examples, 1 + 5 captions, two cores"
    cost: dict[str, Measured] = {}
    for name in ("local", "process", "ray"):
        more = [] if name == "local" else ["--workers", "2"]
        cost[name] = run(
            "run", spec, "--executor", name, *more, "--output", str(folder / name)
        )
        yield (
            f"  {name:<8} {cost[name].seconds:8.1f} s  driver's peak "
            f"{cost[name].peak_gib:5.2f} GiB"
        )
    yield (
        f"  Ray against local: {cost['ray'].seconds / cost['local'].seconds:.2f} x "
        "(goal 1.3)"
    )


def kills(work: Path, examples: int, count: int = 20) -> Iterator[str]:
    """Workers of a Ray run killed by SIGKILL while they score."""
    if not has_ray():
        yield "Ray is not installed"
        return

    folder = work / "kills"
    folder.mkdir()
    size = max(10 * SMALL, examples // 20)
    write_data(folder, size, 5)
    spec = str(write_spec(folder, [*PLAIN, {"trm": {"distance": "cider"}}]))
    run("run", spec, "--output", str(folder / "quiet"))

    command = [
        sys.executable,
        "-m",
        "harness",
        "run",
        spec,
        "--executor",
        "ray",
        "--workers",
        "2",
        "--shard-size",
        "250",
    ]

    process = subprocess.Popen(
        [*command, "--output", str(folder / "killed")], stdout=subprocess.DEVNULL
    )
    killed = 0
    rng = np.random.default_rng(0)

    while process.poll() is None and killed < count:
        time.sleep(float(rng.uniform(0.2, 1.0)))
        workers = ray_tasks()
        if workers:
            os.kill(workers[int(rng.integers(len(workers)))], signal.SIGKILL)
            killed += 1

    code = process.wait()
    same = code == 0 and identical(folder / "quiet", folder / "killed")
    yield (
        f"{killed} workers killed in a Ray run of {size:,} examples: "
        f"exit code {code}, {'the same' if same else 'OTHER'} digits"
    )


def ray_tasks() -> list[int]:
    """Return the process ids of Ray workers that score."""
    out: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                title = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if title.startswith(b"ray::_score"):
                out.append(int(entry.name))
    return out


def resume(work: Path, examples: int) -> Iterator[str]:
    """A finished run given again, and its samples as a data frame."""
    folder = work / f"growth{examples}"
    if not (folder / "run" / "results.json").is_file():
        folder.mkdir(exist_ok=True)
        write_data(folder, examples, 1)
        run("run", str(write_spec(folder, PLAIN)), "--output", str(folder / "run"))
    cost = run("run", str(folder / "spec.yaml"), "--output", str(folder / "run"))
    yield (
        f"a finished run of {examples:,} examples given again: "
        f"{cost.seconds:.1f} s (goal 10)"
    )
    code = (
        "import harness; "
        f"print(len(harness.Run.open({str(folder / 'run')!r}).samples_frame()))"
    )
    started = time.perf_counter()
    rows = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    yield (
        f"its {int(rows):,} samples as a data frame: "
        f"{time.perf_counter() - started:.1f} s (goal 20)"
    )


def main() -> int:
    """Print the figures of all sections, or of those given."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=20_000, metavar="N")
    parser.add_argument(
        "--only", default="", metavar="SECTION,...", help=f"of {', '.join(SECTIONS)}"
    )
    parser.add_argument(
        "--distinct",
        action="store_true",
        help="growth of memory on captions that all differ, and nothing else",
    )
    parser.add_argument(
        "--work",
        metavar="FOLDER",
        help="folder of the data and runs (default: a temporary one)",
    )
    args = parser.parse_args()

    names = args.only.split(",") if args.only else list(SECTIONS)
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        parser.error(
            f"no section {', '.join(unknown)}; sections are {', '.join(SECTIONS)}"
        )

    if args.work:
        Path(args.work).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=args.work) as folder:
        if args.distinct:
            for line in growth(Path(folder), args.examples, distinct=True):
                print(line, flush=True)
            return 0

        for name in names:
            for line in globals()[name](Path(folder), args.examples):
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
