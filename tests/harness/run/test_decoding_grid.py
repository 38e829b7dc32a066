"""Grids of decodings."""

from __future__ import annotations

from harness.run.decoding_grid import decoding_grid
from harness.spec.models import DecodingSpec


def test_decodings_are_the_product_of_the_lists():
    grid = decoding_grid(
        DecodingSpec(temperature=[0.5, 1.0], candidates=[1, 3], options={"alpha": 1})
    )
    assert [(d.temperature, d.candidates) for d in grid] == [
        (0.5, 1),
        (0.5, 3),
        (1.0, 1),
        (1.0, 3),
    ]
    assert all(d.options == {"alpha": 1} for d in grid)
