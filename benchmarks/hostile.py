"""Checkpoints, registries and captions that try to run code: none of it may run.

    python -m benchmarks.hostile

At least twenty attacks of each kind. A checkpoint or a registry creates a file when its
code runs; a caption sets a variable of the page. Each attack is tried first where it
works: by ``pickle.loads``, by an import, in a page without escapes. One that does not
work there is not counted. The exit status is 1 when code runs, or when fewer than
twenty attacks of a kind work where they are tried.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.hostile_checkpoints import checkpoints
from benchmarks.hostile_pages import pages
from benchmarks.hostile_registries import attack_by_registries

COUNT = 20


def main() -> int:
    """Try all attacks and print the counts; return the number of problems,
    at most 1 of each kind.
    """
    problems = 0
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        for kind in ("checkpoints", "registries", "pages"):
            (Path(name) / kind).mkdir()
        try:
            working, tried, ran = checkpoints(Path(name, "checkpoints"))
        finally:
            os.chdir(before)
        print(
            f"checkpoints: {working} attacks in {tried} files read by three readers, "
            f"{ran} executed",
            flush=True,
        )
        problems += working < COUNT or ran > 0
        working, tried, ran = attack_by_registries(Path(name, "registries"))
        print(
            f"registries: {working} attacks, {tried} commands, {ran} executed",
            flush=True,
        )
        problems += working < COUNT or ran > 0
        if chromium is None:
            print("pages: not tried, there is no chromium on PATH")
            return problems
        working, tried, ran = pages(Path(name, "pages"), chromium)
        print(
            f"pages: {working} attacks in captions, ids, "
            f"names and titles of {tried} pages, {ran} executed",
            flush=True,
        )
        problems += working < COUNT or ran > 0
    return problems


if __name__ == "__main__":
    sys.exit(main() > 0)
