"""Comparison of a checkpoint with a model, key by key, and strict loading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import torch

from harness.errors import InputError
from harness_models.shared.weights.checkpoints import Checkpoint, looks_like

_MAX_LISTED = 12
"""Maximum number of tensors of one kind in a message."""


def check_keys(
    checkpoint: Checkpoint,
    expected: Mapping[str, tuple[int, ...]],
    architecture: str,
    *,
    ignored: Iterable[str] = (),
) -> None:
    """Raise :class:`InputError` that lists missing and unexpected tensors and those of
    another shape.

    Parameters
    ----------
    checkpoint
        Tensors to compare.
    expected
        Shapes by key.
    architecture
        Name of the model, for the message.
    ignored
        Regular expressions of keys that may be present and are not compared (old
        buffers).
    """
    patterns = [re.compile(pattern) for pattern in ignored]
    shapes = {
        k: s
        for k, s in checkpoint.shapes().items()
        if not any(p.search(k) for p in patterns)
    }

    missing = [
        f"{key} {_shape(expected[key])}" for key in expected if key not in shapes
    ]
    unexpected = [
        f"{key} {_shape(shapes[key])}" for key in shapes if key not in expected
    ]
    reshaped = [
        f"{key} {_shape(shapes[key])}, expected {_shape(expected[key])}"
        for key in expected
        if key in shapes and tuple(shapes[key]) != tuple(expected[key])
    ]

    if not (missing or unexpected or reshaped):
        return

    kinds = {
        "missing": missing,
        "unexpected": unexpected,
        "of another shape": reshaped,
    }
    lists = "; ".join(
        _list_names(title, names) for title, names in kinds.items() if names
    )
    raise InputError(
        f"does not fit {architecture} ({looks_like(shapes)}): {lists}",
        str(checkpoint.path),
    )


def _shape(shape: Iterable[int]) -> str:
    return "(" + ", ".join(str(size) for size in shape) + ")"


def _list_names(title: str, names: list[str]) -> str:
    more = f", and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return f"{len(names)} {title}: {', '.join(names[:_MAX_LISTED])}{more}"


def load_strictly(
    module: torch.nn.Module,
    checkpoint: Checkpoint,
    architecture: str,
    *,
    ignored: Iterable[str] = (),
) -> None:
    """Load a checkpoint into ``module`` and put the module into evaluation mode.

    Raises :class:`InputError` as :func:`check_keys` does, and for a tensor with NaN or
    infinity.
    """
    expected = {key: tuple(value.shape) for key, value in module.state_dict().items()}
    check_keys(checkpoint, expected, architecture, ignored=ignored)

    tensors = {
        key: value for key, value in checkpoint.tensors.items() if key in expected
    }
    for key, value in tensors.items():
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise InputError(
                f"the tensor '{key}' holds NaN or infinity", str(checkpoint.path)
            )

    module.load_state_dict(tensors, strict=True)
    module.eval()


def layer_count(keys: Iterable[str], pattern: str) -> int:
    r"""Return 1 plus the largest number that ``pattern`` (one group) matches at the
    start of a key; 0 without a match.

    >>> layer_count(["h.0.weight", "h.11.weight", "ln.bias"], r"h\.(\d+)\.")
    12
    """
    return 1 + max(
        (int(m[1]) for key in keys if (m := re.match(pattern, key))), default=-1
    )
