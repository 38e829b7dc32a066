"""Metrics of evaluate with the signatures of caption_kernels_reference.certify; their
programs come from the hub on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import evaluate

_bleu: Any = evaluate.load("bleu")
_rouge: Any = evaluate.load("rouge")
References = Sequence[Sequence[str]]


def bleu(candidates: Sequence[str], references: References) -> list[float]:
    """Return BLEU-1 to BLEU-4 of the corpus."""
    lists = [list(texts) for texts in references]
    options = {
        "predictions": list(candidates),
        "references": lists,
        "tokenizer": str.split,
    }
    return [_bleu.compute(**options, max_order=order)["bleu"] for order in range(1, 5)]


def rouge(candidates: Sequence[str], references: References) -> list[float]:
    """Return ROUGE-L of each example."""
    lists = [list(texts) for texts in references]
    options = {
        "predictions": list(candidates),
        "references": lists,
        "rouge_types": ["rougeL"],
        "use_aggregator": False,
    }
    return list(_rouge.compute(**options)["rougeL"])
