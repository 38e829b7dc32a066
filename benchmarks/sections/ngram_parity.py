"""BLEU, ROUGE-L and CIDEr against the golden values and against pycocoevalcap run here: largest differences.

python benchmarks/sections/ngram_parity.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import coco_data
import toolkit_pairs

from harness.api import caption_sets
from harness.plugins.ngram import bleu, cider, rouge
from harness.run import score as scoring
from harness.run.features import FeatureCache

TOLERANCE = 1e-12
SLOTS = ((0, 11), (3, 7), (12, 2), (9, 9))
"""Places (hypothesis, reference) in the 15 texts of an image whose 5000 pairs the toolkit scores too."""


def harness_scores(metric, candidates, references):
    """(corpus value, per-example values), texts as they are."""
    sets = caption_sets(candidates, references)
    features = FeatureCache([item.references for item in sets])
    scored = scoring.score(metric, scoring.batches(sets, features), features, None, 0)
    return metric.reduce(scored.stats), metric.per_example(scored.stats)


def line(name: str, items: int, difference: float) -> bool:
    print(f"  {name:<44} {items:>9,} {difference:>12.2e}  {'ok' if difference <= TOLERANCE else 'DIFFERS'}")
    return difference <= TOLERANCE


def metrics():
    for n in (1, 2, 3, 4):
        yield f"bleu{n}", bleu.Bleu(n=n, tokenizer="none")
    yield "rouge", rouge.Rouge(tokenizer="none")
    yield "cider", cider.Cider(tokenizer="none")


def golden(shared: Path) -> bool:
    items = coco_data.read(shared / "golden/coco/coco_metrics_golden.jsonl.gz")
    corpus = json.loads((shared / "golden/coco/coco_metrics_golden_corpus.json").read_text(encoding="utf-8"))["corpus"]
    known = {"rouge": "ROUGE_L", "cider": "CIDEr"}
    good = True
    for name, metric in metrics():
        value, rows = harness_scores(metric, [[i["hyp_tok"]] for i in items], [i["refs_tok"] for i in items])
        if name in known:
            expected, total = [i[known[name]] for i in items], corpus[known[name]]
        else:
            order = int(name.removeprefix("bleu")) - 1
            expected, total = [i["Bleu"][order] for i in items], corpus["Bleu"][order]
        good &= line(
            f"golden {name}, items and corpus", len(items), max(np.abs(rows - expected).max(), abs(value - total))
        )
    return good


def real(shared: Path) -> bool:
    candidates = [coco_data.plain_words(text) for text in coco_data.one_candidate(shared)]
    references = [[coco_data.plain_words(t) for t in texts] for texts in coco_data.references(shared)]
    bleu_corpus, bleu_rows = toolkit_pairs.bleu_items(candidates, references)
    known = {f"bleu{n}": (bleu_corpus[n - 1], bleu_rows[n - 1]) for n in (1, 2, 3, 4)}
    known["rouge"] = toolkit_pairs.rouge_items(candidates, references)
    known["cider"] = toolkit_pairs.cider_items(candidates, references)
    good = True
    for name, metric in metrics():
        value, rows = harness_scores(metric, [[text] for text in candidates], references)
        total, expected = known[name]
        difference = max(np.abs(rows - expected).max(), abs(value - total))
        good &= line(f"pycocoevalcap {name}, items and corpus", len(rows), difference)
    return good


def all_pairs(shared: Path) -> bool:
    sets = caption_sets(
        [[coco_data.plain_words(t) for t in texts] for texts in coco_data.ten_candidates(shared)],
        [[coco_data.plain_words(t) for t in texts] for texts in coco_data.references(shared)],
    )
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)
    texts = batch.texts
    state = cider.Cider(tokenizer="none").fit(features.references, features)
    matrices = state.matrices(batch, features)
    toolkit = toolkit_pairs.ToolkitCider(features.references)
    worst = 0.0
    for i, j in SLOTS:
        known = toolkit.pairs([item[i] for item in texts], [item[j] for item in texts])
        worst = max(worst, float(np.abs(matrices[:, i, j] - known).max()))
    return line("pycocoevalcap cider, single pairs", len(SLOTS) * len(sets), worst)


def report(shared: Path) -> bool:
    """Print the table; True when every difference is within the tolerance."""
    print(f"\nBLEU, ROUGE-L, CIDEr: largest absolute difference (tolerance {TOLERANCE:g})")
    print(f"  {'compared with':<44} {'items':>9} {'difference':>12}")
    return all([golden(shared), real(shared), all_pairs(shared)])


if __name__ == "__main__":
    sys.exit(0 if report(coco_data.shared_folder()) else 1)
