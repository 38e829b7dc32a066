"""Differences between the text kernels and the reference programs: PTB tokeniser,
BLEU, ROUGE-L, CIDEr, METEOR.

    python -m benchmarks.parity [SECTION ...]

Each section is a module of ``benchmarks/sections`` with ``report() -> bool``, which
prints its table and returns True when all differences are within the tolerance that it
states. Exit status 1 when one is not.
"""

from __future__ import annotations

import sys

from benchmarks.timing import run_sections

SECTIONS = ["ptb_parity", "ngram_parity", "meteor_parity"]

if __name__ == "__main__":
    sys.exit(run_sections(SECTIONS, sys.argv[1:]))
