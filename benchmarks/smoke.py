"""Every benchmark with tiny input: each runs to its end and prints its figures.

    python -m benchmarks.smoke [NAME ...]

Options of a benchmark make it small; where it reads captions or tries attacks, the
variable BENCHMARK_ROWS lets it take the first few alone. Goals of speed are not judged.
A benchmark that needs what is not there is named with what it needs. Exit status 1 when
one ends with a traceback or prints nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.captions import ROOT, ROWS, find_data_folder
from benchmarks.parity import SECTIONS as PARITY_SECTIONS
from benchmarks.text_kernels import SECTIONS as SPEED_SECTIONS

SECONDS = 900
"""Wall time after which a benchmark with tiny input has hung."""
OUTPUT = "OUTPUT"
"""Argument that stands for a folder of its own."""
DATA = "real captions"
VOTES = "tanti_where_image"
JAVA = "Java"
CHROMIUM = "chromium"
WASM = "make wasm"
"""Needs of benchmarks beside the package."""


@dataclass(frozen=True)
class Smoke:
    """One benchmark with tiny input."""

    arguments: str = ""
    """Options that make it small, separated by blanks."""
    needs: tuple[str, ...] = ()
    """Its needs beside the package."""
    left_out: str = ""
    """The reason for which it is not run at all."""
    rows: int = 40
    """Value of BENCHMARK_ROWS."""


BENCHMARKS = {
    "a3ds": Smoke("--pairs 1 --alpha 0"),
    "a3ds_blurred": Smoke(left_out="trains agents for half an hour"),
    "a3ds_speaker": Smoke(f"--pairs 2 --output {OUTPUT}", (DATA,), rows=2000),
    "accelerator": Smoke("--device cpu --small"),
    "a3ds_structure": Smoke(f"--pairs 1 --output {OUTPUT}", (DATA,), rows=2000),
    "agreement_coverage": Smoke("--runs 4 --statistics kendall_c --items 5"),
    "clipcap_files": Smoke("--small --images 1"),
    "combination": Smoke("--runs 20 --examples 20"),
    "compare": Smoke("--examples 20 --draws 50 --runs 10"),
    "conditional_frontier": Smoke(f"--limit 6 --output {OUTPUT}", (DATA, VOTES)),
    "corpus_comparisons": Smoke("--systems 5 --pairs 3", (DATA,)),
    "coverage": Smoke("--sizes 10 --replications 4 --metrics rouge --processes 1"),
    "decide": Smoke(
        f"--runs 4 --length 60 --metrics meteor --limit 20 --cache {OUTPUT}/sums.npz",
        (DATA,),
        rows=400,
    ),
    "decoding": Smoke("--small --images 1 --repeats 1"),
    "dense": Smoke("--videos 20"),
    "dense_protocols": Smoke("--videos 8"),
    "event_tests": Smoke("--draws 2"),
    "difference_power": Smoke("--pilots 1 --runs 4", (DATA,), rows=400),
    "drop_in": Smoke(left_out="needs a checkout of a peer"),
    "encoder_choices": Smoke(
        "--captions 40 --images 4 --rounds 1 --pairs 10000 --device cpu"
    ),
    "endurance": Smoke(left_out="needs minutes of kills and restarts"),
    "estimate": Smoke("--repetitions 4 --metrics rouge", (DATA,), rows=4000),
    "hostile": Smoke(rows=1),
    "judgments": Smoke("--pairs 200 --tasks none"),
    "lexicon_check": Smoke("--repetitions 1"),
    "metric_speed": Smoke("--captions 50 --metrics rouge"),
    "metric_tests": Smoke("--runs 4 --statistics kendall_b --designs 10x2 --effects 0"),
    "modern": Smoke("--examples 4 --only vendi"),
    "paired_coverage": Smoke("--sizes 10 --seconds 0.1 --metrics distinct", (DATA,)),
    "papers": Smoke(),
    "papers_results": Smoke(f"orders --limit 2 --output {OUTPUT}", (DATA,)),
    "parity": Smoke("ptb_parity ngram_parity", (DATA, JAVA)),
    "people": Smoke(f"--repetitions 2 --examples 4 --output {OUTPUT}", (DATA,)),
    "power": Smoke("--pilots 1 --effects 0.5 --metric rouge"),
    "pregen_choice": Smoke(left_out="reads the run of a study"),
    "pregen_speed": Smoke(f"--images 2 --width 8 --output {OUTPUT}", (DATA,)),
    "precision": Smoke("--captions 40 --device cpu"),
    "programs": Smoke("--items 500"),
    "promises": Smoke("intervals-shares"),
    "reading": Smoke("--lines 1000", (DATA,)),
    "remarks": Smoke("--texts 1", (DATA,)),
    "report": Smoke("--examples 10 --models 2 --candidates 2", (CHROMIUM,)),
    "reward": Smoke(needs=(DATA,), rows=624),
    "same": Smoke(left_out="trains a language model for half an hour"),
    "scale": Smoke("--examples 50 --only growth", (DATA,)),
    "score_page": Smoke("--repeats 1", (CHROMIUM, WASM)),
    "sensitivity": Smoke(left_out="reads the runs of a study"),
    "soda_differences": Smoke(left_out="reads stored numbers of SODA's program"),
    "startup": Smoke("--repeats 2"),
    "study_tables": Smoke(f"equations --output {OUTPUT}", (DATA,)),
    "summed": Smoke("--runs 2 --null 10 --examples 4", (DATA,)),
    "table2": Smoke(f"--limit 3 --output {OUTPUT}"),
    "text_kernels": Smoke(needs=(DATA, JAVA)),
    "train_on_divergence": Smoke(),
    "where_image": Smoke(f"--output {OUTPUT}", (DATA, VOTES), rows=5000),
    "trends": Smoke(left_out="trains language models on whole corpora"),
    "sections.certify_peers": Smoke(left_out="installs its peers from a package index"),
    "sections.meteor_parity": Smoke("50", (DATA, JAVA)),
    "sections.judge_requests": Smoke("--items 10 --latency 0.01"),
}
"""Module below benchmarks -> how it is made small."""
IN_OTHERS = {*PARITY_SECTIONS, *SPEED_SECTIONS} - {"meteor_parity"}
"""Sections that run as parts of ``parity`` and ``text_kernels``."""


def find_reason(name: str) -> str:
    """Return the reason for which a benchmark is not run here, or an empty text."""
    smoke = BENCHMARKS[name]
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    data = find_data_folder()
    present = {
        DATA: data is not None,
        VOTES: data is not None and (data / VOTES).is_dir(),
        JAVA: shutil.which("java") is not None,
        CHROMIUM: browser is not None,
        WASM: (ROOT / "kernels/js/caption_kernels.wasm").is_file(),
    }
    missing = [need for need in smoke.needs if not present[need]]
    return smoke.left_out or (f"needs {', '.join(missing)}" if missing else "")


def run_small(name: str, folder: Path) -> str:
    """Run a benchmark with tiny input, its files below ``folder``; return what went
    wrong, or an empty text.
    """
    smoke = BENCHMARKS[name]
    arguments = [text.replace(OUTPUT, str(folder)) for text in smoke.arguments.split()]
    environment = {**os.environ, ROWS: str(smoke.rows)}
    if data := find_data_folder():
        environment["HARNESS_DATA"] = str(data)  # tasks read no other variable
    try:
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{name}", *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"runs for more than {SECONDS} s"

    # Status 1 is a missed goal, which tiny input may miss.
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        return f"exit status {done.returncode}: {done.stderr[-2000:]}"
    written = done.stdout.strip() or any(folder.iterdir())
    return "" if written else f"prints and writes nothing: {done.stderr[-2000:]}"


def main() -> int:
    """Run the benchmarks; return 1 when one fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="benchmarks (default: all)"
    )
    args = parser.parse_args()
    if unknown := set(args.names) - BENCHMARKS.keys():
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")

    failed = 0
    for name in args.names or BENCHMARKS:
        if reason := find_reason(name):
            print(f"{name:24} left out: {reason}", flush=True)
            continue
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            problem = run_small(name, Path(folder))
        seconds = time.perf_counter() - started
        failed += bool(problem)
        print(f"{name:24} {seconds:5.0f} s  {problem or 'runs'}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
