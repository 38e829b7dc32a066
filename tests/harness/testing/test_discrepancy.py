"""Maximum mean discrepancy of an embedding and of a distance."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet, TextDistance
from harness.run.features import FeatureCache
from harness.testing.discrepancy import Discrepancy


class Lengths:
    """Embedding of a text by its number of characters."""

    name = "lengths"

    def signature(self):
        return "lengths"

    def fit(self, references):
        pass

    def encode(self, texts):
        return np.array([[len(text)] for text in texts], dtype=np.float32)


class ByLength(TextDistance):
    """Difference of the numbers of characters."""

    name = "by-length"

    def pairwise(self, texts):
        lengths = np.array([len(text) for text in texts], dtype=float)
        return abs(lengths[:, None] - lengths)


def discrepancy(component, candidates, references):
    features = FeatureCache([references])
    batch = features.batch([CaptionSet("x", candidates, references)])
    return Discrepancy(component).scores(batch, features, None)[0]


@pytest.mark.parametrize("component", [Lengths(), ByLength()])
def test_it_is_the_sum_over_pairs_of_texts(component):
    candidates = ("a", "aaa")
    references = ("aa", "aaaaa", "aaaaaaaa")
    lengths = [len(text) for text in (*candidates, *references)]
    distances = [abs(a - b) for k, a in enumerate(lengths) for b in lengths[k + 1 :]]
    width = np.median(distances) / 2

    def mean(left, right):
        kernels = [
            np.exp(-0.5 * ((len(a) - len(b)) / width) ** 2) for a in left for b in right
        ]
        return np.mean(kernels)

    expected = (
        mean(candidates, candidates)
        + mean(references, references)
        - 2 * mean(candidates, references)
    )
    assert discrepancy(component, candidates, references) == pytest.approx(expected)


def test_equal_texts_have_no_discrepancy():
    assert discrepancy(Lengths(), ("a", "b"), ("c", "d")) == 0


def test_it_is_named_for_its_component():
    metric = Discrepancy(Lengths())
    assert metric.spec.name == "discrepancy(lengths)"
    assert metric.signature() == "discrepancy|lengths"
