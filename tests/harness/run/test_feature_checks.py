"""What embeddings and distances return is checked."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.run.features import FeatureCache
from tests.support.small_features import SETS, Chars, Letters


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("shape", r"returned shape \(4,\) for 4 texts"),
        ("empty", r"returned shape \(4, 0\) for 4 texts"),
        ("few", r"returned shape \(3, 2\) for 4 texts"),
        ("many", r"returned shape \(5, 2\) for 4 texts"),
        ("deep", r"returned shape \(4, 2, 2\) for 4 texts"),
        ("nan", "not finite for the text 'bbb'"),
    ],
)
def test_a_bad_embedding_is_named(wrong, message):
    features = FeatureCache()
    batch = features.batch(SETS)
    with pytest.raises(HarnessError, match=message):
        features.vectors(Letters(wrong), batch.text_ids)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (((0, 1), np.nan), r"is not finite .* for the pair 'a', 'aa' of example 'x'"),
        (
            ((1, 0), -0.5),
            r"is negative .*-0\.5.* for the pair 'aa', 'a' of example 'x'",
        ),
        (
            ((2, 2), 0.1),
            r"of a text to itself is not 0 .*0\.1.* for the pair 'bbb', 'bbb'",
        ),
    ],
)
def test_a_bad_distance_is_named_with_its_pair(bad, message):
    features = FeatureCache()
    with pytest.raises(HarnessError, match=message):
        features.distances(Chars(bad), features.batch(SETS))


def test_the_first_of_several_bad_distances_is_named():
    class Bad(Chars):
        def pairwise(self, texts):
            return -super().pairwise(texts)

    features = FeatureCache()
    with pytest.raises(
        HarnessError,
        match="'chars' is negative .*-1.0.* for the pair 'a', 'aa' of example 'x'",
    ):
        features.distances(Bad(), features.batch(SETS))
    with pytest.raises(
        HarnessError,
        match="'chars' is negative .*-2.0.* for the pair 'a', 'bbb' of example 'y'",
    ):
        features.distances(Bad(), features.batch(SETS[1:]))


@pytest.mark.parametrize("shape", [(2, 4, 3), (2, 4, 5), (1, 4, 4), (3, 4, 4), (2, 4)])
def test_distances_of_another_shape_are_refused(shape):
    class Bad(Chars):
        def matrices(self, batch, features):
            return np.zeros(shape)

    features = FeatureCache()
    message = f"distance 'chars' returned shape {shape}; expected (2, 4, 4)"
    with pytest.raises(HarnessError) as caught:
        features.distances(Bad(), features.batch(SETS))
    assert str(caught.value) == message
