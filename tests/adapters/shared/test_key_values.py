"""The key-value cache of a decoder."""

from __future__ import annotations

import torch

from harness_models.shared.key_values import KeyValues


def test_the_cache_grows_and_selects_rows():
    cache = KeyValues.empty(2, 3)
    keys = torch.randn(2, 4, 9, 2, 5)  # layer, row, position, head, width
    rows = torch.arange(4)
    at = 0
    for size in (2, 1, 4, 1):
        for layer in range(2):
            new = keys[layer][rows, at : at + size]
            key, value = cache.put(layer, new, -new)
            assert torch.equal(key, keys[layer][rows, : at + size])
            assert torch.equal(value, -key)
        at += size
        cache.length = at
        index = torch.tensor([3, 0, 0, 1]) if at == 3 else torch.arange(4)
        cache = cache.take(index)
        rows = rows[index]
    assert cache.room >= 8
