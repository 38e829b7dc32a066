"""Standardisation of features, and its removal from a checkpoint by folding it into the
first layer.
"""

from __future__ import annotations

import numpy as np
import torch

from harness_models.shared.standardiser import Standardiser


def test_a_folded_layer_takes_features_that_are_not_standardised():
    random = np.random.default_rng(0)
    rows = (random.normal(size=(50, 4)) * [1, 10, 0.1, 0] + [0, 5, -3, 2]).astype(
        np.float32
    )
    standardiser = Standardiser.fit(rows)
    linear = torch.nn.Linear(4, 3)
    x = torch.from_numpy(rows)
    z = standardiser(x).numpy()
    np.testing.assert_allclose(z[:, :3].mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(z[:, :3].std(0), 1, atol=1e-4)
    # a constant column is shifted, not scaled
    assert np.array_equal(z[:, 3], np.zeros(50))
    tensors = {f"map.{name}": value for name, value in linear.state_dict().items()}
    folded = standardiser.fold_into({**tensors, "other": torch.ones(1)}, "map")
    assert set(folded) == {"map.weight", "map.bias", "other"}
    outputs = torch.nn.functional.linear(x, folded["map.weight"], folded["map.bias"])
    torch.testing.assert_close(outputs, linear(standardiser(x)), atol=1e-4, rtol=1e-4)
