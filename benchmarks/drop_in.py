"""Is caption-kernels a drop-in for the programs that people run? A peer's own
evaluation, from a checkout of yours, with and without a few changed lines.

    python -m benchmarks.drop_in --peer NAME --source FOLDER [--images 300] [--seed 0]

FOLDER is a checkout of the peer, whose code is no part of this repository. In a copy of
it the lines that import the COCO toolkit (or the peer's copy of it) are replaced, and
printed. Then the peer's own entry scores generated captions twice: with the
checkout's lines and Java on the path, and with the changed lines and a ``java`` on the
path that fails. Printed are each metric before and after, their difference, seconds of
the entry, and how often Java was started. SPICE, and what needs weights, is left out.

What the peer imports and what computes no number (loggers, readers of tables) is
replaced by a stand-in in all runs where it is not installed, see ``drop_in_peers``.
Files of the toolkit that a checkout lacks come from the installed pycocoevalcap.

Exit status: 0 for equal digits without Java, 1 else, 2 for a checkout that is none.
Digits are equal when no number differs by more than 1e-12 of its size: the kernels have
a logarithm of their own, which moves CIDEr by a unit or two in the last place.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.captions import ROOT
from benchmarks.drop_in_peers import PEERS, Change, Peer

TOLERANCE = 1e-12
"""Largest relative difference of equal digits."""
SECONDS = 900
"""Wall time after which an evaluation has hung: the toolkit does, where Java fails."""
MOST_LINES = 5
"""Most changed lines of one entry."""
REAL_JAVA = """#!/bin/sh
# A version check gets an answer that aac-metrics accepts: it refuses Java 14 and later.
case "$1" in -version) echo 'openjdk version "11.0.0"' >&2; exit 0;; esac
echo started >> "{log}"
exec "{java}" "$@"
"""
NO_JAVA = """#!/bin/sh
echo started >> "{log}"
echo "java: not on this machine" >&2
exit 1
"""


class NoCheckout(ValueError):
    """The folder is no checkout of the peer; the message is one line."""


@dataclass(frozen=True)
class Outcome:
    """One run of a peer's evaluation."""

    numbers: dict[str, float] = field(default_factory=dict)
    """Metric -> number."""
    seconds: float = 0.0
    """Wall time of the entry, without imports."""
    java: int = 0
    """How often the program ``java`` was started."""
    problem: str = ""
    """Last line of what went wrong, or an empty text."""


def apply_changes(
    folder: Path, changes: Sequence[Change]
) -> list[tuple[str, str, str]]:
    """Change the files of a copy; return (file, old line, new line) of each change.

    Raises
    ------
    NoCheckout
        Where a file is missing, or has no line to change.
    """
    changed = []
    for change in changes:
        path = folder / change.file
        if not path.is_file():
            raise NoCheckout(f"{folder}: no file {change.file}")
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        matches = 0
        for number, line in enumerate(lines):
            if change.pattern.match(line):
                matches += 1
                lines[number] = change.pattern.sub(change.replacement, line)
                changed.append((change.file, line.rstrip(), lines[number].rstrip()))
        if not matches:
            raise NoCheckout(f"{path}: no line like {change.pattern.pattern}")
        path.write_text("".join(lines), encoding="utf-8")
    return changed


def run_entry(peer: Peer, copy: Path, inputs: Path, java: str) -> Outcome:
    """Run a peer's entry in a process of its own, with the script ``java`` as the only
    Java on its path.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log, results = folder / "java.log", folder / "results.json"
        program = folder / "java"
        program.write_text(java.format(log=log, java=shutil.which("java")))
        program.chmod(0o755)
        # The copy comes first, so that the peer's own packages are imported.
        packages = copy / peer.packages
        search = [packages, ROOT, ROOT / "kernels", os.environ.get("PYTHONPATH", "")]
        arguments = (peer.name, str(copy), str(inputs), str(results))
        try:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.drop_in_peers", *arguments],
                cwd=copy,
                env={
                    **os.environ,
                    "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
                    "PYTHONPATH": os.pathsep.join(map(str, search)),
                },
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            return Outcome(problem=f"no end within {SECONDS} s")
        starts = len(log.read_text().splitlines()) if log.exists() else 0
        if done.returncode or not results.exists():
            lines = done.stderr.strip().splitlines() or ["no output"]
            return Outcome(java=starts, problem=lines[-1])
        content = json.loads(results.read_text())
    return Outcome(content["numbers"], content["seconds"], starts)


def print_outcomes(before: Outcome, after: Outcome) -> bool:
    """Print the table of both runs; return True for equal digits without Java."""
    names = [*before.numbers, *(after.numbers.keys() - before.numbers.keys())]
    width = max(map(len, names))
    print(f"\n{'metric':<{width}} {'checkout':>20} {'changed':>20}  difference")
    largest = 0.0
    for name in names:
        old = before.numbers.get(name, float("nan"))
        new = after.numbers.get(name, float("nan"))
        largest = max(largest, relative_difference(old, new))
        shown = "equal" if old == new else f"{abs(old - new):.1e}"
        print(f"{name:<{width}} {old:>20.15g} {new:>20.15g}  {shown}")

    print(f"{'seconds':<{width}} {before.seconds:>20.2f} {after.seconds:>20.2f}")
    print(f"{'java started':<{width}} {before.java:>20} {after.java:>20}")
    print(f"largest relative difference: {largest:.1e}")
    return largest <= TOLERANCE and after.java == 0


def relative_difference(old: float, new: float) -> float:
    """Return the difference of two numbers by the size of the first; infinity where
    one of them is not a number.
    """
    if old == new:
        return 0.0
    if math.isnan(old) or math.isnan(new) or old == 0:
        return math.inf
    return abs(old - new) / abs(old)


def compare_peer(peer: Peer, source: Path, images: int, seed: int) -> bool:
    """Run a peer with and without the changes, and print both; return True for equal
    digits without Java.

    Raises
    ------
    NoCheckout
        When ``source`` is no checkout of the peer.
    """
    if not source.is_dir():
        raise NoCheckout(f"{source}: no folder")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = folder / "inputs.json"
        inputs.write_text(json.dumps({"images": images, "seed": seed}))
        copies = [folder / "checkout", folder / "changed"]
        for copy in copies:
            peer.copy(source, copy)

        changed = apply_changes(copies[1], peer.changes)
        print(f"{peer.name}: {peer.entry}; {images} images, seed {seed}")
        for file, old, new in changed:
            print(f"  {file}\n  - {old.strip()}")
            for line in new.splitlines():
                print(f"  + {line.strip()}")
        most = max(
            sum(len(new.splitlines()) for file, _, new in changed if file in files)
            for files in peer.files_of_an_entry()
        )
        print(f"  {most} changed lines for an evaluation, of at most {MOST_LINES}")

        before = run_entry(peer, copies[0], inputs, REAL_JAVA)
        after = run_entry(peer, copies[1], inputs, NO_JAVA)
        for outcome, lines in ((before, "the checkout's"), (after, "the changed")):
            if outcome.problem:
                print(f"  with {lines} lines it fails: {outcome.problem}")
        if before.problem or after.problem:
            return False
        return print_outcomes(before, after) and most <= MOST_LINES


def main() -> int:
    """Compare one peer; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", required=True, choices=list(PEERS))
    parser.add_argument("--source", required=True, type=Path, help="the checkout")
    parser.add_argument("--images", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.images < 2:
        parser.error("--images: CIDEr needs two images or more")
    if shutil.which("java") is None:
        parser.error("the peers need Java for the run without changes; none is there")
    try:
        equal = compare_peer(PEERS[args.peer], args.source, args.images, args.seed)
    except NoCheckout as error:
        parser.error(str(error))
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
