"""Metrics of torchmetrics with the signatures of caption_kernels_reference.certify."""

from __future__ import annotations

from collections.abc import Sequence

from torchmetrics.functional.text import bleu_score, rouge_score

References = Sequence[Sequence[str]]


def bleu(candidates: Sequence[str], references: References) -> list[float]:
    """Return BLEU-1 to BLEU-4 of the corpus."""
    return [
        float(bleu_score(candidates, references, n_gram=order)) for order in range(1, 5)
    ]


def rouge(candidates: Sequence[str], references: References) -> list[float]:
    """Return ROUGE-L of each example: its own tokeniser, F-measure, best reference."""
    pairs = zip(candidates, references, strict=True)
    return [
        float(
            rouge_score([text], [list(texts)], rouge_keys="rougeL")["rougeL_fmeasure"]
        )
        for text, texts in pairs
    ]
