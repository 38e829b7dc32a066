"""Standardised inputs leave no trace: the first Linear takes them as they stand."""

from __future__ import annotations

import numpy as np
import torch

from harness.adapters.shared.layers.standardise import Standardiser


def test_the_linear_takes_inputs_as_they_stand():
    random = np.random.default_rng(0)
    rows = (random.normal(size=(50, 4)) * [1, 10, 0.1, 0] + [0, 5, -3, 2]).astype(np.float32)
    standard, linear = Standardiser.fit(rows), torch.nn.Linear(4, 3)
    x = torch.from_numpy(rows)
    z = standard(x).numpy()
    np.testing.assert_allclose(z[:, :3].mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(z[:, :3].std(0), 1, atol=1e-4)
    assert np.array_equal(z[:, 3], np.zeros(50))  # what never varies is shifted only
    tensors = {f"map.{name}": value for name, value in linear.state_dict().items()}
    moved = standard.fold_into({**tensors, "other": torch.ones(1)}, "map")
    assert set(moved) == {"map.weight", "map.bias", "other"}
    found = torch.nn.functional.linear(x, moved["map.weight"], moved["map.bias"])
    torch.testing.assert_close(found, linear(standard(x)), atol=1e-4, rtol=1e-4)
