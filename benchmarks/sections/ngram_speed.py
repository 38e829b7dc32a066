"""CIDEr-D, BLEU and ROUGE-L for all pairs of 5000 x 15 captions: pairs per second
beside pycocoevalcap, and a lower bound.

    python -m benchmarks.sections.ngram_speed

The toolkit computes document frequencies once and then scores 5000 pairs per call,
which is its fastest use; some of the 225 positions are timed and the rates compared.
The harness is timed from tokenised text to matrices (interning and counting included)
and for the matrices alone. The lower bound is one scipy sparse product of the prepared
tf-idf rows, without clipping and length penalty.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from benchmarks import captions
from benchmarks.sections import toolkit_pairs
from benchmarks.sections.ngram_parity import SLOTS
from benchmarks.timing import timed
from harness.contracts import CaptionSet, Distance
from harness.run.features import FeatureCache
from harness.stats import permutation
from harness_metrics.ngram import bleu, cider, rouge

GOAL_TOOLKIT = 50
GOAL_BOUND = 5


def sparse_rows(scores: cider.CiderScores, rows: np.ndarray) -> sp.csr_matrix:
    """Return normalised tf-idf rows (texts, columns); a column is an (image, n-gram),
    so that one product gives all blocks.
    """
    index = scores.texts.index
    idf = np.full(index.n_grams, scores.unseen)
    idf[: len(scores.idf)] = scores.idf
    owners = []
    grams = []
    weights = []
    for text, row in enumerate(rows.ravel().tolist()):
        for ids, counts in index.entries(row):
            weight = counts * idf[ids]
            norm = np.sqrt((weight**2).sum())
            owners.append(np.full(len(ids), text))
            grams.append(ids)
            weights.append(weight / (norm or 1.0))
    owner = np.concatenate(owners)
    _, column = np.unique(
        (owner // rows.shape[1] << 32) | np.concatenate(grams), return_inverse=True
    )
    return sp.csr_matrix((np.concatenate(weights), (owner, column)))


def from_text(distance: Distance, sets: Sequence[CaptionSet]) -> np.ndarray:
    """Return the matrices (B, N, N) of a distance with new features."""
    features = FeatureCache([item.references for item in sets])
    return distance.matrices(features.batch(sets), features)


def toolkit_rates(
    texts: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
) -> dict[str, float]:
    """Return the pairs per second of the scorers of pycocoevalcap at two positions."""
    slots = [
        ([item[i] for item in texts], [item[j] for item in texts]) for i, j in SLOTS[:2]
    ]
    toolkit = toolkit_pairs.ToolkitCider(references)
    work = {
        "cider": lambda: [toolkit.pairs(h, r) for h, r in slots],
        "bleu": lambda: [
            toolkit_pairs.bleu_items(h, [[x] for x in r]) for h, r in slots
        ],
        "rouge": lambda: [
            toolkit_pairs.rouge_items(h, [[x] for x in r]) for h, r in slots
        ],
    }
    return {
        name: len(slots) * len(texts) / timed(call)[0] for name, call in work.items()
    }


def report() -> bool:
    """Print the table; return True when both goals are met."""
    sets = captions.sampled_sets()
    pairs = len(sets) * 15 * 15
    kinds = {
        "cider": cider.CiderDistance,
        "bleu": bleu.BleuDistance,
        "rouge": rouge.RougeDistance,
    }

    for kind in kinds.values():
        from_text(kind(tokenizer="none"), sets[:40])
    rates = toolkit_rates(
        [[*item.candidates, *item.references] for item in sets],
        [item.references for item in sets],
    )

    print(
        f"\nAll pairs of {len(sets)} x 15 captions ({pairs:,} pairs), "
        "tokenised text to matrices"
    )
    print(
        f"  {'distance':<10} {'toolkit pairs/s':>16} {'harness pairs/s':>16} "
        f"{'ratio':>8} {'seconds':>8}"
    )

    ratios = {}
    for name, kind in kinds.items():
        seconds, _ = timed(lambda kind=kind: from_text(kind(tokenizer="none"), sets), 2)
        ratios[name] = pairs / seconds / rates[name]
        print(
            f"  {name:<10} {rates[name]:>16,.0f} {pairs / seconds:>16,.0f} "
            f"{ratios[name]:>7.0f}x {seconds:>8.2f}"
        )

    bound = sparse_bound(sets)
    nulls(sets)
    good = ratios["cider"] >= GOAL_TOOLKIT and bound <= GOAL_BOUND
    print(
        f"  goals: cider at least {GOAL_TOOLKIT}x, at most {GOAL_BOUND}x the bound: "
        f"{'met' if good else 'MISSED'}"
    )
    return good


def sparse_bound(sets: Sequence[CaptionSet]) -> float:
    """Return the time of the CIDEr-D matrices divided by that of the sparse product,
    both from prepared rows.
    """
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)
    scores = cider.Cider(tokenizer="none").fit(features.references, features)
    rows = scores.rows(batch, features)
    scores.pairs(rows[:1], rows[:1])
    ours, _ = timed(lambda: scores.pairs(rows, rows), 3)
    matrix = sparse_rows(scores, rows)
    transposed = matrix.T.tocsr()
    bound, product = timed(lambda: matrix @ transposed, 3)
    plain = (
        cider.Cider(tokenizer="none", variant="plain")
        .fit(features.references, features)
        .pairs(rows, rows)
    )
    difference = abs(product.sum() / 4 * 10 - plain.sum()) / plain.sum()
    print(
        f"  cider, matrices only: {ours:.3f} s; sparse product: {bound:.3f} s; "
        f"ratio {ours / bound:.2f}"
    )
    print(f"  (the product sums to the plain CIDEr matrices within {difference:.1e})")
    return ours / bound


def nulls(sets: Sequence[CaptionSet], examples: int = 512) -> None:
    """Print the relabelings per second of the item metrics."""
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets[:examples])
    labels = permutation.relabelings(10, 5)
    for metric in (
        bleu.Bleu(tokenizer="none"),
        rouge.Rouge(tokenizer="none"),
        cider.Cider(tokenizer="none"),
    ):
        state = metric.fit(features.references, features)
        metric.null(features.batch(sets[:2]), features, state, labels[:4])
        seconds, _ = timed(lambda m=metric, s=state: m.null(batch, features, s, labels))
        rate = examples * len(labels) / seconds
        print(
            f"  null of {metric.spec.name:<6} {examples} x {len(labels)} "
            f"relabelings: {seconds:6.2f} s, {rate:12,.0f}/s"
        )


if __name__ == "__main__":
    sys.exit(0 if report() else 1)
