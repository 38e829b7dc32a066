"""Image features of scenes for the captioner."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness_models.captioner.image_features import image_features
from harness_tasks.a3ds.scene import SIZES, indices

SCENES = (5, 123_456, 479_999)


def test_factor_features():
    one_hot = image_features("factors").features(SCENES)
    assert one_hot.shape == (3, 57) and (one_hot.sum(1) == 6).all()
    assert len({row.tobytes() for row in one_hot}) == 3
    assert image_features("values").features([0, 479_999]).tolist() == [
        [0.0] * 6,
        [1.0] * 6,
    ]
    with pytest.raises(HarnessError, match="unknown image features 'efficientnet'"):
        image_features("efficientnet")


@given(st.lists(st.integers(0, 479_999), min_size=1, max_size=4))
def test_one_hot_features_encode_the_factors(scenes):
    one_hot = image_features("factors").features(scenes)
    ends = np.cumsum(SIZES)
    parts = np.split(one_hot, ends[:-1], axis=1)
    assert (
        np.stack([part.argmax(1) for part in parts], axis=1) == indices(scenes)
    ).all()
    values = image_features("values").features(scenes)
    assert values.min() >= 0
    assert values.max() <= 1
