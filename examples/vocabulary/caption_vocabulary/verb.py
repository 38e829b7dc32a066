"""Count the words of the systems of a run.

harness vocabulary runs/coco
harness vocabulary runs/coco --json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from caption_vocabulary.counts import Vocabulary
from harness.results import Run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness vocabulary``."""
    parser.add_argument("run", metavar="RUN", help="run directory")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Print the words of the systems."""
    result = vocabulary(args.run)
    print(json.dumps(result.to_dict(), indent=1) if args.json else result)
    return 0


def vocabulary(run: str | Path | Run) -> Vocabulary:
    """Return the words of the systems of a run; ``harness.vocabulary`` is this function
    where the package is installed.

    Parameters
    ----------
    run : str, Path or Run
        Run directory, or a run.
    """
    return Vocabulary.of(run if isinstance(run, Run) else Run.open(run))
