"""Metrics of aac-metrics with the signatures of caption_kernels_reference.certify."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from unittest.mock import MagicMock

try:
    import torchaudio  # noqa: F401
except (ImportError, OSError):
    # a build for another torch; the metrics of texts do not need it
    for name in ("torchaudio", "torchaudio.functional", "torchaudio.transforms"):
        sys.modules[name] = MagicMock(__spec__=ModuleSpec(name, None), __version__="0")

from aac_metrics.functional import bleu as aac_bleu
from aac_metrics.functional import cider_d, rouge_l

References = Sequence[Sequence[str]]


def bleu(candidates: Sequence[str], references: References) -> list[float]:
    """Return BLEU-1 to BLEU-4 of the corpus."""
    lists = [list(texts) for texts in references]
    return [
        float(aac_bleu(list(candidates), lists, n=order)[0][f"bleu_{order}"])
        for order in range(1, 5)
    ]


def rouge(candidates: Sequence[str], references: References) -> list[float]:
    """Return ROUGE-L of each example."""
    return rouge_l(list(candidates), [list(texts) for texts in references])[1][
        "rouge_l"
    ].tolist()


def ciderd(candidates: Sequence[str], references: References) -> list[float]:
    """Return CIDEr-D of each example."""
    return cider_d(list(candidates), [list(texts) for texts in references])[1][
        "cider_d"
    ].tolist()
