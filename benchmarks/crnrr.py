"""CR, NRR and CND (n = 1..4) beside BLEU + Self-BLEU by fast-bleu and NLTK, on the same captions in the same run.

    python benchmarks/crnrr.py [--millions M]

50,000 captions of COCO captioners against 50,000 human ones. fast-bleu scores all of them; NLTK a stated number of candidates, its
time extrapolated (it is proportional to their number). Peers that are not installed are left out, and said so. Goal: 100
times faster than each peer. ``--millions M`` counts M million sentences made from a fixed vocabulary instead, on disk where
memory ends, and prints time and peak memory. Exit status 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from harness.plugins.crnrr.counting import NgramCounter, Vocabulary
from harness.plugins.crnrr.ngrams import compare, cr_nrr_cnd_orders
from harness.plugins.diversity.corpus_bleu import corpus_bleu, self_bleu

COUNT, SUBSET = 50_000, 4
SHARED = Path(os.environ.get("HARNESS_SHARED") or Path(__file__).resolve().parent.parent.parent / "shared")


def captions() -> tuple[list[list[str]], list[list[str]]]:
    """(candidates, references), token lists."""

    def lines(name: str) -> Iterator[dict[str, Any]]:
        with gzip.open(SHARED / "data" / name, "rt", encoding="utf-8") as file:
            yield from map(json.loads, file)

    made = [
        text.lower().split()
        for item in lines("coco_karpathy_test/candidates_where_image.jsonl.gz")
        for system, text in item["candidates"].items()
        if system != "human_1"
    ]
    human = [
        text.lower().rstrip(".").split()
        for name in ("coco_karpathy_test", "coco_val2017")
        for item in lines(f"{name}/references.jsonl.gz")
        for text in item["references"]
    ]
    return made[:COUNT], human[:COUNT]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    value = work()
    return time.perf_counter() - start, value


def fast_bleu(q: list[list[str]], p: list[list[str]]) -> float | None:
    """Seconds of BLEU + Self-BLEU by fast-bleu (C++, several threads), all captions."""
    if importlib.util.find_spec("fast_bleu") is None:
        return None
    from fast_bleu import BLEU, SelfBLEU  # pyright: ignore[reportMissingImports]

    weights = {"4": (0.25, 0.25, 0.25, 0.25)}
    return timed(lambda: (BLEU(p, weights).get_score(q), SelfBLEU(q, weights).get_score()))[0]


def nltk(q: list[list[str]], p: list[list[str]]) -> float | None:
    """Seconds of BLEU + Self-BLEU by NLTK, extrapolated from SUBSET candidates."""
    if importlib.util.find_spec("nltk") is None:
        return None
    from nltk.translate.bleu_score import sentence_bleu  # pyright: ignore[reportMissingImports]

    def work() -> None:
        for k in range(SUBSET):
            sentence_bleu(p, q[k])
            sentence_bleu(q[:k] + q[k + 1 :], q[k])

    return timed(work)[0] * len(q) / SUBSET


def peers() -> int:
    q, p = captions()
    print(f"{len(q)} candidates against {len(p)} references, n = 1..4, seconds")
    cr_nrr_cnd_orders(q[:100], p[:100])
    own, results = min((timed(lambda: cr_nrr_cnd_orders(q, p)) for _ in range(3)), key=lambda pair: pair[0])
    linear, values = timed(lambda: (corpus_bleu(q, p), self_bleu(q)))
    print(f"{'CR, NRR, CND':<44}{own:>12.3f}")
    print(f"{'BLEU + Self-BLEU here (linear time)':<44}{linear:>12.3f}{linear / own:>10.1f} x")
    missed = 0
    for name, work in ((f"fast-bleu, {os.cpu_count()} cores", fast_bleu), (f"NLTK, from {SUBSET} candidates", nltk)):
        seconds = work(q, p)
        if seconds is None:
            print(f"{name:<44}{'not installed':>14}")
            continue
        missed += seconds / own < 100
        print(f"{'BLEU + Self-BLEU, ' + name:<44}{seconds:>12.1f}{seconds / own:>10.0f} x   (goal 100 x)")
    for n, result in results.items():
        print(f"n = {n}: CR {result.cr:.6f}  NRR {result.nrr:.6f}  CND {result.cnd:.6f}")
    print(f"BLEU-4 {values[0][-1]:.4f}  Self-BLEU-4 {values[1][-1]:.4f}")
    return missed


def sentences(count: int, seed: int, vocabulary: list[str]) -> Iterator[list[str]]:
    """Sentences of 6 to 16 words with Zipf-like frequencies, made in blocks."""
    rng = np.random.default_rng(seed)
    for start in range(0, count, 50_000):
        size = min(50_000, count - start)
        lengths = rng.integers(6, 17, size)
        words = (len(vocabulary) ** rng.random(int(lengths.sum()))).astype(np.int64) - 1
        ends = np.cumsum(lengths)
        text = [vocabulary[w] for w in words.tolist()]
        yield from (text[end - n : end] for end, n in zip(ends.tolist(), lengths.tolist()))


def large(millions: float) -> int:
    count = int(millions * 1e6)
    vocabulary = [f"w{k}" for k in range(30_000)]
    making = timed(lambda: sum(len(s) for s in sentences(min(count, 1_000_000), 1, vocabulary)))[0] * max(
        1, count / 1e6
    )
    shared = Vocabulary()
    reference = NgramCounter(vocabulary=shared, spill=True).add(sentences(min(count, 100_000), 2, vocabulary))
    seconds, counter = timed(lambda: NgramCounter(vocabulary=shared, spill=True).add(sentences(count, 1, vocabulary)))
    comparing, results = timed(lambda: compare(counter, reference))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{count} sentences, {counter.counts[1].total} words, n = 1..4: counted in {seconds:.0f} s")
    print(f"(of which {making:.0f} s make the sentences), compared in {comparing:.0f} s, peak memory {peak:.1f} GiB")
    for n, result in results.items():
        assert result.sums is not None
        print(f"n = {n}: {result.sums.distinct_q} distinct, NRR {result.nrr:.3e}, CND {result.cnd:.3e}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--millions", type=float, metavar="M")
    arguments = parser.parse_args()
    sys.exit(bool(large(arguments.millions) if arguments.millions else peers()))
