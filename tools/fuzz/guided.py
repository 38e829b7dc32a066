"""Coverage-guided inputs: libFuzzer, through atheris, chooses the bytes of files by the
branches that they reach in the readers.

Each target runs in a process of its own
(``python -m tools.fuzz.guided TARGET SECONDS ...``), which instruments the modules that
read files. The corpus begins with inputs of hypothesis and past findings.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

GUIDED = (
    "predictions",
    "readers",
    "tables",
    "token-scores",
    "specs",
    "registries",
    "checkpoints",
    "tokenisers",
)
"""Targets whose inputs are bytes of a file, or texts."""
INSTRUMENTED = (
    "harness.files",
    "harness.spec",
    "harness.registry",
    "harness_models",
    "harness_tasks",
    "harness_metrics.tokenisers",
)
LEAST = 20
"""Seconds of a target, of which some go to loading and instrumenting modules."""
FINDINGS = Path(__file__).resolve().parents[2] / "tests" / "fuzz" / "findings"


def guide(
    names: list[str], seconds: float, workers: int, seed: int, out: Path, scratch: Path
) -> collections.Counter[str]:
    """Run the guided targets one after another, ``workers`` at a time, and return their
    counts; say so where atheris is missing.
    """
    total: collections.Counter[str] = collections.Counter()
    if not names or seconds <= 0:
        return total
    if importlib.util.find_spec("atheris") is None:
        print(
            "atheris is not installed (pip install 'caption-harness[fuzz]'): "
            "hypothesis alone draws the inputs",
            flush=True,
        )
        return total

    # few targets in a short run, others with other seeds
    count = max(1, min(len(names), int(seconds * workers / LEAST)))
    names = [names[(seed + k) % len(names)] for k in range(count)]
    each = max(LEAST, int(seconds * workers / count))
    running: list[subprocess.Popen[bytes]] = []

    for name in names:
        while len(running) >= workers:
            running.pop(0).wait()
        counts = scratch / f"guided-{name}"
        log = scratch / f"guided-{name}.log"
        command = [
            sys.executable,
            "-m",
            "tools.fuzz.guided",
            name,
            str(each),
            "--seed",
            str(seed),
            "--out",
            str(out),
            "--counts",
            str(counts),
        ]

        with log.open("wb") as file:
            running.append(
                subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
            )

    for process in running:
        process.wait()
    for name in names:
        counts = scratch / f"guided-{name}"
        if not counts.exists():
            print(
                f"guided {name}: no input within {each} s "
                f"({(scratch / f'guided-{name}.log').read_text()[-300:]!r})"
            )
            continue

        for line in counts.read_text().splitlines():
            key, _, count = line.rpartition(" ")
            total[key] += int(count)
        for line in (
            (scratch / f"guided-{name}.log").read_text(errors="replace").splitlines()
        ):
            if line.startswith("finding in "):
                print(line, flush=True)

    return total


def main() -> None:
    """Fuzz one target with atheris, in this process."""
    atheris: Any = importlib.import_module("atheris")

    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("seconds", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args()
    with atheris.instrument_imports(include=list(INSTRUMENTED)):
        from tools.fuzz import fuzz_targets  # noqa: F401
    import tempfile

    from tools.fuzz.worker import Current, Worker, draw, prepare_process

    prepare_process()
    counts = args.counts.resolve()
    # libFuzzer ends the process itself, so that the folder is left to the caller, who
    # removes that of the counts.
    with tempfile.TemporaryDirectory(dir=counts.parent) as folder:
        corpus = Path(folder, "corpus")
        corpus.mkdir()
        seeds: list[bytes] = []
        draw(args.target, args.seed, 50, seeds.append)
        seeds += [path.read_bytes() for path in (FINDINGS / args.target).glob("*")]
        for number, data in enumerate(seeds):
            (corpus / str(number)).write_bytes(data)
        os.chdir(folder)
        worker = Worker(
            Path(folder),
            args.out,
            Current(Path(folder, "current")),
            contextlib.nullcontext(),
        )
        with atheris.instrument_imports(include=list(INSTRUMENTED)):
            for data in seeds[:10]:  # imports what the target needs
                worker.attempted(args.target, data)
        worker.warmed.add(args.target)
        state = {"inputs": 0}

        def one(data: bytes) -> None:
            worker.attempted(args.target, data)
            state["inputs"] += 1
            if state["inputs"] % 50 == 0:  # libFuzzer ends the process itself
                counts.write_text(
                    "\n".join(f"{key} {count}" for key, count in worker.seen.items())
                )

        options = [
            f"-max_total_time={args.seconds}",
            f"-seed={args.seed % (1 << 31) or 1}",
            "-max_len=65536",
            "-rss_limit_mb=0",
        ]
        sys.stderr.flush()
        atheris.Setup([sys.argv[0], *options, str(corpus)], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
