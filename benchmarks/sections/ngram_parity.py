"""BLEU, ROUGE-L and CIDEr against the golden values and against pycocoevalcap:
largest differences.

    python -m benchmarks.sections.ngram_parity

The tolerance is 1e-12.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks import captions
from benchmarks.sections import toolkit_pairs
from harness.api import caption_sets
from harness.contracts import Metric
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness_metrics.ngram import bleu, cider, rouge

TOLERANCE = 1e-12
SLOTS = ((0, 11), (3, 7), (12, 2), (9, 9))
"""Positions (hypothesis, reference) among the 15 texts of an image; the toolkit scores
their 5000 pairs as well.
"""


def harness_scores(
    metric: Metric,
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
) -> tuple[float, np.ndarray]:
    """Return the corpus value and the values of the examples (B,)."""
    sets = caption_sets(candidates, references)
    features = FeatureCache([item.references for item in sets])
    scored = scoring.score(metric, scoring.batches(sets, features), features, None, 0)
    return metric.reduce(scored.stats), metric.per_example(scored.stats)


def line(name: str, items: int, difference: float) -> bool:
    """Print one row; return True when the difference is within the tolerance."""
    print(
        f"  {name:<44} {items:>9,} {difference:>12.2e}  "
        f"{'ok' if difference <= TOLERANCE else 'DIFFERS'}"
    )
    return difference <= TOLERANCE


def metrics() -> Iterator[tuple[str, Metric]]:
    """Yield the metrics without a tokeniser."""
    for n in (1, 2, 3, 4):
        yield f"bleu{n}", bleu.Bleu(n=n, tokenizer="none")
    yield "rouge", rouge.Rouge(tokenizer="none")
    yield "cider", cider.Cider(tokenizer="none")


def golden() -> bool:
    """Compare with the golden values, items and corpus."""
    folder = captions.GOLDEN / "coco"
    items = captions.read_json_lines(folder / "coco_metrics_golden.jsonl.gz")
    corpus = json.loads(
        (folder / "coco_metrics_golden_corpus.json").read_text(encoding="utf-8")
    )["corpus"]
    names = {"rouge": "ROUGE_L", "cider": "CIDEr"}
    good = True
    for name, metric in metrics():
        value, rows = harness_scores(
            metric, [[i["hyp_tok"]] for i in items], [i["refs_tok"] for i in items]
        )
        if name in names:
            expected = [i[names[name]] for i in items]
            total = corpus[names[name]]
        else:
            order = int(name.removeprefix("bleu")) - 1
            expected = [i["Bleu"][order] for i in items]
            total = corpus["Bleu"][order]
        good &= line(
            f"golden {name}, items and corpus",
            len(items),
            max(np.abs(rows - expected).max(), abs(value - total)),
        )
    return good


def real() -> bool:
    """Compare with pycocoevalcap on real captions, items and corpus."""
    candidates = [captions.plain_words(text) for text in captions.one_candidate()]
    references = [
        [captions.plain_words(t) for t in texts] for texts in captions.references()
    ]
    bleu_corpus, bleu_rows = toolkit_pairs.bleu_items(candidates, references)
    toolkit = {f"bleu{n}": (bleu_corpus[n - 1], bleu_rows[n - 1]) for n in (1, 2, 3, 4)}
    toolkit["rouge"] = toolkit_pairs.rouge_items(candidates, references)
    toolkit["cider"] = toolkit_pairs.cider_items(candidates, references)
    good = True
    for name, metric in metrics():
        value, rows = harness_scores(
            metric, [[text] for text in candidates], references
        )
        total, expected = toolkit[name]
        difference = max(np.abs(rows - expected).max(), abs(value - total))
        good &= line(f"pycocoevalcap {name}, items and corpus", len(rows), difference)
    return good


def all_pairs() -> bool:
    """Compare single pairs of CIDEr with pycocoevalcap."""
    sets = captions.sampled_sets()
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)
    texts = batch.texts
    state = cider.Cider(tokenizer="none").fit(features.references, features)
    matrices = state.matrices(batch, features)
    toolkit = toolkit_pairs.ToolkitCider(features.references)
    worst = 0.0
    for i, j in SLOTS:
        expected = toolkit.pairs(
            [item[i] for item in texts], [item[j] for item in texts]
        )
        worst = max(worst, float(np.abs(matrices[:, i, j] - expected).max()))
    return line("pycocoevalcap cider, single pairs", len(SLOTS) * len(sets), worst)


def report() -> bool:
    """Print the table; return True when every difference is within the tolerance."""
    print(
        f"\nBLEU, ROUGE-L, CIDEr: largest absolute difference (tolerance {TOLERANCE:g})"
    )
    print(f"  {'compared with':<44} {'items':>9} {'difference':>12}")
    return all([golden(), real(), all_pairs()])


if __name__ == "__main__":
    sys.exit(0 if report() else 1)
