"""BLEU of sacrebleu with the signature of caption_kernels_reference.certify: texts are
tokenised already, no smoothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sacrebleu.metrics.bleu import BLEU


def bleu(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """Return BLEU-1 to BLEU-4 of the corpus."""
    most = max(map(len, references))
    streams: Any = [
        [texts[k] if k < len(texts) else None for texts in references]
        for k in range(most)
    ]
    metrics = [
        BLEU(tokenize="none", smooth_method="none", max_ngram_order=order, force=True)
        for order in range(1, 5)
    ]
    return [
        metric.corpus_score(list(candidates), streams).score / 100 for metric in metrics
    ]
