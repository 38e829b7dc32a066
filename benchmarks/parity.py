"""Differences between the text kernels and the programs whose numbers they give.

    python benchmarks/parity.py [SECTION ...]

Each section is a script of its own under ``benchmarks/sections`` with ``report(shared) -> bool`` (prints its table; True when all
differences are within the tolerance it states). Exit status 1 when one is not.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "sections"))

import coco_data

SECTIONS = ["ptb_parity", "ngram_parity", "meteor_parity"]

if __name__ == "__main__":
    sys.exit(coco_data.run_sections(SECTIONS, sys.argv[1:]))
