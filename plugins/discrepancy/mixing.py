"""Sentences of an empirical distribution mixed with noise: Q = (1 - epsilon) empirical + epsilon * uniform random words.

Source: Li et al. (ICML 2020), section 6: the curve that shows what a pair of quality and diversity measures can be led to prefer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

import numpy as np

Word = TypeVar("Word")
Length = int | Literal["same"]


def draw(
    sentences: Sequence[Sequence[Word]],
    vocabulary: Sequence[Word],
    epsilon: float,
    length: Length,
    rng: np.random.Generator,
) -> Sequence[Word]:
    """One sentence: with probability 1 - epsilon one of ``sentences``, else ``length`` words, each uniform over ``vocabulary``.

    ``length`` ``same``: as many words as a sentence drawn for the purpose has.
    """
    noisy = rng.random() < epsilon
    if not noisy:
        return sentences[int(rng.integers(len(sentences)))]
    size = len(sentences[int(rng.integers(len(sentences)))]) if length == "same" else length
    return [vocabulary[i] for i in rng.integers(len(vocabulary), size=size).tolist()]
