"""Number formats of a forward pass, and the formats of matrix products under them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from harness.errors import HarnessError

Precision = Literal["float32", "tf32", "bfloat16", "float16"]
PRECISIONS: tuple[Precision, ...] = ("float32", "tf32", "bfloat16", "float16")
"""Formats from the most exact to the least: tf32 multiplies float32 numbers with 10
bits of their fractions, on accelerators that have it.
"""


def check_precision(dtype: str, subject: str) -> Precision:
    """Return ``dtype``; raise :class:`HarnessError` unless it is a precision."""
    for name in PRECISIONS:
        if dtype == name:
            return name
    raise HarnessError.of_name(
        f"{subject}: no precision", dtype, PRECISIONS, "expected", parameter="dtype"
    )


def weight_dtype(precision: Precision) -> Any:
    """Return the torch dtype of the weights under a precision."""
    import torch

    return torch.float32 if precision == "tf32" else getattr(torch, precision)


@contextmanager
def computing(precision: Precision) -> Generator[None]:
    """Context of a forward pass: no gradients, and products of float32 numbers with
    all of their bits unless the precision is tf32.

    torch convolves in tf32 on its own accord, which float32 must not; and the second
    run is to have the bits of the first, so that no algorithm is chosen by its time.
    """
    import torch

    before = torch.get_float32_matmul_precision()
    cudnn: Any = torch.backends.cudnn
    is_tf32 = precision == "tf32"
    # a flag that is not named here takes a default of its own: enabled is False
    convolutions = cudnn.flags(
        enabled=cudnn.enabled, benchmark=False, deterministic=True, allow_tf32=is_tf32
    )
    torch.set_float32_matmul_precision("high" if is_tf32 else "highest")
    try:
        with torch.inference_mode(), convolutions:
            yield
    finally:
        torch.set_float32_matmul_precision(before)


def signature_suffix(precision: Precision) -> str:
    """Return the part of a signature that tells the precision: empty for float32.

    >>> signature_suffix("float32"), signature_suffix("bfloat16")
    ('', '|bfloat16')
    """
    return "" if precision == "float32" else f"|{precision}"


def to_numpy(vectors: Any) -> np.ndarray:
    """Return a tensor of any device and format as a float32 array."""
    return vectors.float().cpu().numpy()
