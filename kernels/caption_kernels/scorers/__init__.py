"""Scorers that are fitted once and score many times, such as the reward of a captioner
that is trained on CIDEr-D.
"""

from caption_kernels.scorers.fitted import (
    Bleu,
    Cider,
    CiderD,
    IndexedReferences,
    Scorer,
)

__all__ = ["Bleu", "Cider", "CiderD", "IndexedReferences", "Scorer"]
