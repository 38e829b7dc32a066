"""BLEU with one added to the counts above order 1, sentence by sentence."""

from caption_kernels_reference import math
from caption_kernels_reference.bleu import ORDERS, BleuCounts


def smoothed_bleu(counts: BleuCounts, n: int = ORDERS) -> float:
    """Return BLEU-n with one added to matches and guesses above order 1, in [0, 1];
    exactly 1 for equal texts.
    """
    if counts.length == 0:
        return float(counts.reference_length == 0)
    product = counts.matches[0] / counts.length
    for k in range(1, n):
        product *= (counts.matches[k] + 1) / (counts.guesses[k] + 1)
    shorter = counts.length < counts.reference_length
    brevity = (
        float(math.exp(1 - counts.reference_length / counts.length)) if shorter else 1.0
    )
    return float(math.power(product, 1 / n)) * brevity
