"""The decodings of a spec: the product of its fields that are lists."""

from __future__ import annotations

import itertools
from typing import Any, cast

from harness.contracts import Decoding
from harness.spec.models import DecodingSpec

DECODING_AXES = (
    "strategy",
    "temperature",
    "top_p",
    "top_k",
    "beams",
    "length_penalty",
    "max_length",
    "candidates",
)
"""Decoding fields that may be lists, in the order of the grid."""


def decoding_grid(spec: DecodingSpec) -> tuple[Decoding, ...]:
    """Return the product of all list-valued fields,
    in the order of ``DECODING_AXES``.
    """
    axes: list[list[Any]] = []
    for name in DECODING_AXES:
        value = getattr(spec, name)
        axes.append(cast("list[Any]", value) if isinstance(value, list) else [value])

    return tuple(
        Decoding(**dict(zip(DECODING_AXES, values)), options=spec.options)
        for values in itertools.product(*axes)
    )
