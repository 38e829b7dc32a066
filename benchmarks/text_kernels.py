"""Speed of the text kernels beside the programs that they replace;
ratios are measured in one run.

    python -m benchmarks.text_kernels [SECTION ...]

Each section is a module of ``benchmarks/sections`` with ``report() -> bool``, which
prints its table and returns True when its goals are met. Exit status 1 when a goal is
missed.
"""

from __future__ import annotations

import sys

from benchmarks.timing import run_sections

SECTIONS = [
    "ngram_speed",
    "meteor_speed",
    "coco_end_to_end",
    "rewards",
    "first_score",
    "embedding_pairs",
]

if __name__ == "__main__":
    sys.exit(run_sections(SECTIONS, sys.argv[1:]))
