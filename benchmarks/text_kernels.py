"""Speed of the text kernels beside the programs they replace; ratios are taken in one run.

    python benchmarks/text_kernels.py [SECTION ...]

Each section is a script of its own under ``benchmarks/sections`` with ``report(shared) -> bool`` (prints its table; True when its
goals are met). Exit status 1 when a goal is missed.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "sections"))

import coco_data

SECTIONS = ["ngram_speed", "meteor_speed", "coco_end_to_end", "embedding_pairs"]

if __name__ == "__main__":
    sys.exit(coco_data.run_sections(SECTIONS, sys.argv[1:]))
