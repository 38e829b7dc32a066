"""Speed of CR, NRR and CND (n = 1..4) beside BLEU + Self-BLEU of fast-bleu and NLTK, on
the same captions in the same run.

    python -m benchmarks.crnrr

50,000 captions of COCO captioners against 50,000 human captions. fast-bleu scores all
of them; NLTK scores a few candidates, and its time is extrapolated (it is proportional
to their number). A peer that is not installed is reported as such. Goal: 100 times
faster than each peer. Exit status 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys

from benchmarks.captions import captioner_captions, human_captions
from benchmarks.timing import timed
from harness_metrics.crnrr.ngrams import CrNrr
from tests.support.ngram_values import corpus_bleu, cr_nrr_cnd, self_bleu

COUNT = 50_000
SUBSET = 4
GOAL = 100
Tokens = list[list[str]]


def captions() -> tuple[Tokens, Tokens]:
    """Return candidates and references as token lists."""
    candidates = [
        text.lower().split() for texts in captioner_captions() for text in texts
    ]
    references = [text.lower().rstrip(".").split() for text in human_captions()]
    return candidates[:COUNT], references[:COUNT]


def fast_bleu(candidates: Tokens, references: Tokens) -> float | None:
    """Return the seconds of BLEU + Self-BLEU by fast-bleu (C++, several threads) for
    all captions; None without the package.
    """
    if importlib.util.find_spec("fast_bleu") is None:
        return None
    from fast_bleu import BLEU, SelfBLEU  # pyright: ignore[reportMissingImports]

    weights = {"4": (0.25, 0.25, 0.25, 0.25)}

    def work() -> None:
        BLEU(references, weights).get_score(candidates)
        SelfBLEU(candidates, weights).get_score()

    return timed(work)[0]


def nltk(candidates: Tokens, references: Tokens) -> float | None:
    """Return the seconds of BLEU + Self-BLEU by NLTK, extrapolated from SUBSET
    candidates; None without the package.
    """
    if importlib.util.find_spec("nltk") is None:
        return None
    from nltk.translate.bleu_score import sentence_bleu  # pyright: ignore[reportMissingImports]

    def work() -> None:
        for k in range(SUBSET):
            sentence_bleu(references, candidates[k])
            sentence_bleu(candidates[:k] + candidates[k + 1 :], candidates[k])

    return timed(work)[0] * len(candidates) / SUBSET


def compare_with_peers() -> int:
    """Print the table of peers; return the number of missed goals."""
    candidates, references = captions()
    print(
        f"{len(candidates)} candidates against {len(references)} references, "
        "n = 1..4, seconds"
    )

    def work_orders(size: int) -> dict[int, CrNrr]:
        return {
            n: cr_nrr_cnd(candidates[:size], references[:size], n) for n in (1, 2, 3, 4)
        }

    work_orders(100)
    ours, results = timed(lambda: work_orders(COUNT), 3)
    linear, values = timed(
        lambda: (corpus_bleu(candidates, references), self_bleu(candidates))
    )
    print(f"{'CR, NRR, CND':<44}{ours:>12.3f}")
    print(
        f"{'BLEU + Self-BLEU of the harness':<44}{linear:>12.3f}{linear / ours:>10.1f} "
        "x"
    )
    missed = 0
    for name, work in (
        (f"fast-bleu, {os.cpu_count()} cores", fast_bleu),
        (f"NLTK, from {SUBSET} candidates", nltk),
    ):
        seconds = work(candidates, references)
        if seconds is None:
            print(f"{name:<44}{'not installed':>14}")
            continue
        missed += seconds / ours < GOAL
        print(
            f"{'BLEU + Self-BLEU, ' + name:<44}{seconds:>12.1f}{seconds / ours:>10.0f} "
            f"x   (goal {GOAL} x)"
        )
    for n, result in results.items():
        print(
            f"n = {n}: CR {result.cr:.6f}  NRR {result.nrr:.6f}  CND {result.cnd:.6f}"
        )
    print(f"BLEU-4 {values[0][-1]:.4f}  Self-BLEU-4 {values[1][-1]:.4f}")
    return missed


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    sys.exit(bool(compare_with_peers()))
