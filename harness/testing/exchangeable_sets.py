"""Sets of texts for which the labels of candidates and references are exchangeable."""

from __future__ import annotations

import numpy as np

from harness.contracts import CaptionSet
from harness.stats import permutation
from harness.testing.sample_captions import SCENES

DISJOINT_TEXTS = (
    "amber basalt",
    "cobalt drizzle",
    "ember falcon",
    "granite harbor",
    "indigo jasmine",
    "lantern marble",
    "nectar opal",
    "pewter quartz",
)
"""Texts without a common token, also with the words of the source."""
SIDE = 4
"""Candidates, and references, of the sets of the checks."""
WORDS = 2000
"""Words of the source."""
LENGTH = 8
"""Words of a text."""


def small_sets(count: int, seed: int = 0) -> list[CaptionSet]:
    """Return ``count`` sets of 4 candidates and 4 references,
    all drawn from one source.

    A text has 8 words, independent draws by Zipf's law from 2,000: those of the kit's
    captions, which metrics of objects and facts know, are the most frequent ones.
    """
    words = source_words()

    # Zipf's law: the k-th word has a share in proportion to 1/k
    share = np.cumsum(1.0 / np.arange(1, len(words) + 1))
    draws = np.random.default_rng(seed).random((count, 2 * SIDE, LENGTH))
    numbers = np.searchsorted(share / share[-1], draws)

    texts = [
        tuple(" ".join(words[k] for k in text) for text in example)
        for example in numbers.tolist()
    ]
    return [
        CaptionSet(f"set-{k}", example[:SIDE], example[SIDE:])
        for k, example in enumerate(texts)
    ]


def source_words() -> list[str]:
    """Return the words of the source, in the order of their frequency."""
    captions = (
        text.lower().replace(".", " ").replace(",", " ")
        for scene in SCENES
        for text in scene
    )
    words = dict.fromkeys(word for text in captions for word in text.split())
    return [*words, *(f"word{k}" for k in range(WORDS - len(words)))]


def relabeled_sets() -> list[CaptionSet]:
    """Return the sets of :data:`DISJOINT_TEXTS` under all relabelings of 4 candidates
    and 4 references.
    """
    sets = []
    for labels in permutation.relabelings(SIDE, SIDE):
        texts = np.array(DISJOINT_TEXTS)
        candidates = tuple(texts[labels].tolist())
        references = tuple(texts[~labels].tolist())
        sets.append(CaptionSet("disjoint", candidates, references))
    return sets
