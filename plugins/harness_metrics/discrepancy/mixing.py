"""Sentences of a corpus mixed with noise:
Q = (1 - epsilon) corpus + epsilon uniform random words.

The curve of these mixtures shows how much a pair of quality and diversity measures
prefers copies of the references to other real text. Source: Li et al. (ICML 2020),
section 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

import numpy as np

Word = TypeVar("Word")
Length = int | Literal["same"]
"""Number of words of a noise sentence, or the length of a random sentence of the
corpus.
"""


def draw(
    sentences: Sequence[Sequence[Word]],
    vocabulary: Sequence[Word],
    epsilon: float,
    length: Length,
    rng: np.random.Generator,
) -> Sequence[Word]:
    """Return one sentence of the mixture.

    Parameters
    ----------
    sentences : sequence of sequences
        Corpus; one of its sentences is returned with probability 1 - epsilon.
    vocabulary : sequence
        Words of the noise, each with the same probability.
    epsilon : float
        Share of noise, in [0, 1].
    length : int or "same"
        Number of words of a noise sentence; ``same`` takes the length of another random
        sentence.
    rng : numpy.random.Generator
        Source of the draws.
    """
    is_noise = rng.random() < epsilon
    if not is_noise:
        return sentences[int(rng.integers(len(sentences)))]

    size = length
    if size == "same":
        size = len(sentences[int(rng.integers(len(sentences)))])
    word_numbers: list[int] = rng.integers(len(vocabulary), size=size).tolist()
    return [vocabulary[number] for number in word_numbers]
