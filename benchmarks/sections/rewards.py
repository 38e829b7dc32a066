"""Captions per second on one core: the PTB tokeniser, and CIDEr-D as the reward of a
captioner that is trained on it.

    python -m benchmarks.sections.rewards

A step of training scores 384 captions against the five references of their images, with
a table of document frequencies in memory. pycocoevalcap's scorer does the same work on
tokenised text, with document frequencies of the references that it is given. Each row
is the best of several rounds; times are CPU seconds of one thread.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

os.environ["CAPTION_KERNELS_THREADS"] = "1"

import numpy as np

from benchmarks import captions
from caption_kernels import TextIndex, Tokenizer
from caption_kernels.scorers import CiderD

STEP = 384
ROUNDS = 5
SECONDS = 0.4
GOALS = {"tokeniser": 500_000, "text": 60_000, "token ids": 200_000}


def best_rate(work: Callable[[], object], captions_per_call: int) -> float:
    """Return captions per second of CPU time:
    the best of several rounds of repeated calls.
    """
    rates = []
    for _ in range(ROUNDS):
        calls = 0
        start = time.process_time()
        while (spent := time.process_time() - start) < SECONDS:
            work()
            calls += 1
        rates.append(calls * captions_per_call / spent)
    return max(rates)


def token_rows(texts: list[str], numbers: dict[str, int]) -> np.ndarray:
    """Return token ids (T, L) of tokenised texts, padded with 0, which ends a text."""
    rows = [
        [numbers.setdefault(word, len(numbers) + 1) for word in text.split()]
        for text in texts
    ]
    out = np.zeros((len(rows), max(map(len, rows)) + 1), dtype=np.int64)
    for row, tokens in zip(out, rows):
        row[: len(tokens)] = tokens
    return out


def toolkit_rate(candidates: list[str], references: list[list[str]]) -> float:
    """Return captions per second of pycocoevalcap's CIDEr on tokenised texts."""
    from pycocoevalcap.cider.cider import Cider

    ours = {i: [text] for i, text in enumerate(candidates)}
    theirs = dict(enumerate(references))
    return best_rate(lambda: Cider().compute_score(theirs, ours), len(candidates))


def report() -> bool:
    """Print the table; return True when the goals are met."""
    references = captions.references()
    candidates = captions.one_candidate()
    tokenizer = Tokenizer()
    tokenised = [tokenizer.tokenize(texts) for texts in references]
    step = tokenizer.tokenize(candidates[:STEP])
    step_references = tokenised[:STEP]
    distinct = list(dict.fromkeys(text for texts in references for text in texts))
    numbers: dict[str, int] = {}
    all_ids = [list(token_rows(texts, numbers)) for texts in tokenised]
    by_text = CiderD(references=references)
    by_ids = CiderD(references=all_ids, token_ids=True, end=0)
    prepared = by_ids.index_references(all_ids[:STEP])
    ids = token_rows(step, numbers)
    same = np.array_equal(
        by_text.score(candidates[:STEP], references[:STEP]), by_ids.score(ids, prepared)
    )
    rates = {
        "tokeniser": best_rate(lambda: TextIndex("ptb").add(distinct), len(distinct)),
        "text": best_rate(
            lambda: by_text.score(candidates[:STEP], references[:STEP]), STEP
        ),
        "token ids": best_rate(lambda: by_ids.score(ids, prepared), STEP),
    }
    toolkit = toolkit_rate(step, step_references)
    print(
        f"\nOne core, captions per CPU second (load {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores)"
    )
    names = {
        "tokeniser": f"PTB tokens of {len(distinct):,} distinct captions "
        "as interned ids",
        "text": f"CIDEr-D of {STEP} captions with a table, from text",
        "token ids": f"CIDEr-D of {STEP} captions with a table, from token ids",
    }
    for key, rate in rates.items():
        met = "met" if rate >= GOALS[key] else "MISSED"
        print(f"  {names[key]:<62} {rate:>12,.0f}   goal {GOALS[key]:,}: {met}")
    print(
        f"  {'the same by pycocoevalcap, tokenised, without a table':<62} "
        f"{toolkit:>12,.0f}"
    )
    print(f"  scores from text and from token ids equal: {same}")
    return same and all(rates[key] >= goal for key, goal in GOALS.items())


if __name__ == "__main__":
    sys.exit(0 if report() else 1)
