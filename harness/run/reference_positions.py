"""A note where the first references of a data set are no random subset: their lengths or their agreement depend on the position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.contracts import Example
from harness.stats.position_effect import position_p_value

LEVEL = 0.001
"""Largest p-value of a test that is noted."""
MAX_EXAMPLES = 500
"""Number of examples that are tested, evenly spaced in the data set."""
MAX_POSITIONS = 20
"""Number of references of an example that are tested, from the first."""
MAX_WORDS = 50
"""Number of words of a reference that are compared, from the first."""


def position_note(examples: Sequence[Example], sizes: Sequence[int | None]) -> str:
    """Return a note where references depend on their position and fewer than all count; empty otherwise.

    Length in words and ROUGE-L against the other references are tested, with values permuted within examples.

    Parameters
    ----------
    examples : sequence of Example
        Examples of the run.
    sizes : sequence of int or None
        Numbers of references that are used, from the first; None: all.
    """
    size = min((count for count in sizes if count is not None), default=None)
    sample = (examples[i] for i in range(0, len(examples), -(-len(examples) // MAX_EXAMPLES)))
    words = [[text.lower().split()[:MAX_WORDS] for text in item.references[:MAX_POSITIONS]] for item in sample]
    words = [texts for texts in words if len(texts) > 1]
    if size is None or not any(len(texts) > size for texts in words):
        return ""
    rows = {"length": [[float(len(text)) for text in texts] for texts in words], "ROUGE-L": [*map(rouge_l, words)]}
    p_values = {name: position_p_value(_padded(values)) for name, values in rows.items()}
    effects = [f"{name} p = {p:.3f}" for name, p in p_values.items() if p <= LEVEL]
    if not effects:
        return ""
    return (
        f"references depend on their position ({', '.join(effects)}; {len(words)} examples): the first {size} are no random subset, "
        f"so people differ from people; references: {size} draws them at random"
    )


def rouge_l(texts: Sequence[Sequence[str]]) -> list[float]:
    """Return ROUGE-L of each text against the others, in [0, 1]; precision and recall are maxima over the others.

    >>> [round(score, 2) for score in rouge_l(["a dog runs".split(), "a dog".split(), "the cat".split()])]
    [0.83, 0.77, 0.0]
    """
    ids: dict[str, int] = {}
    lengths = np.array([len(text) for text in texts])
    padded = np.full((len(texts), max(1, lengths.max(initial=0))), -1)
    for row, text in zip(padded, texts):
        row[: len(text)] = [ids.setdefault(word, len(ids)) for word in text]
    common = _common_subsequences(padded)
    np.fill_diagonal(common, 0)
    precision = common.max(axis=1) / np.maximum(1, lengths)
    recall = (common / np.maximum(1, lengths)).max(axis=1)
    weight = 1.2**2
    scores = (1 + weight) * precision * recall / np.maximum(recall + weight * precision, 1e-300)
    return scores.tolist()


def _common_subsequences(padded: np.ndarray) -> np.ndarray:
    """Return the length of the longest common subsequence of each pair of rows of word ids, -1 for none, shape (texts, texts)."""
    count, width = padded.shape
    lengths = np.zeros((count, count, width + 1), dtype=np.int64)
    for words in padded.T:
        equal = (words[:, None, None] == padded[None]) & (words[:, None, None] >= 0)
        extended = np.maximum(lengths[:, :, 1:], lengths[:, :, :-1] + equal)
        lengths[:, :, 1:] = np.maximum.accumulate(extended, axis=2)
    return lengths[:, :, -1]


def _padded(rows: Sequence[Sequence[float]]) -> np.ndarray:
    values = np.full((len(rows), max(map(len, rows))), np.nan)
    for target, row in zip(values, rows):
        target[: len(row)] = row
    return values
