"""ROUGE-L of rouge-score with the signature of caption_kernels_reference.certify: its
own tokeniser, F-measure, best reference.
"""

from __future__ import annotations

from collections.abc import Sequence

from rouge_score.rouge_scorer import RougeScorer


def rouge(
    candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> list[float]:
    """Return ROUGE-L of each example."""
    scorer = RougeScorer(["rougeL"])
    return [
        scorer.score_multi(list(texts), text)["rougeL"].fmeasure
        for text, texts in zip(candidates, references)
    ]
