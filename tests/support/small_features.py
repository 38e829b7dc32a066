"""Caption sets with a distance and an embedding that count what they are asked."""

from __future__ import annotations

import numpy as np

from harness.contracts import CaptionSet, TextDistance

SETS = [
    CaptionSet("x", ("a", "aa"), ("bbb", "a")),
    CaptionSet("y", ("a", "bbb"), ("cccc", "aa")),
]


class Chars(TextDistance):
    name = "chars"

    def __init__(self, bad=None):
        self.calls = 0
        self.bad = bad

    def pairwise(self, texts):
        self.calls += 1
        lengths = np.array([len(t) for t in texts], dtype=float)
        matrix = np.abs(lengths[:, None] - lengths)
        if self.bad:
            matrix[self.bad[0]] = self.bad[1]
        return matrix


class Letters:
    """Two numbers per text; remembers what it was asked."""

    name = "letters"

    def __init__(self, wrong=None):
        self.asked = []
        self.fitted = 0
        self.wrong = wrong

    def signature(self):
        return "letters"

    def fit(self, references):
        self.fitted += 1

    def encode(self, texts):
        self.asked.append(list(texts))
        if self.wrong in ("few", "many"):
            return np.zeros((len(texts) + (1 if self.wrong == "many" else -1), 2))
        if self.wrong == "empty":
            return np.zeros((len(texts), 0))
        if self.wrong in ("shape", "deep"):
            return np.zeros((len(texts), 2, 2) if self.wrong == "deep" else len(texts))
        if self.wrong == "nan":
            return np.array(
                [[0.0, np.nan] if text == "bbb" else [1.0, 2.0] for text in texts]
            )
        return np.array([[len(t), t.count("a")] for t in texts], dtype=np.float64)
