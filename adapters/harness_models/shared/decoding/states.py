"""Rows of a decoder's state, selected and put into another order."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch

from harness_models.shared.decoding.types import Step


def select_rows(state: Any, index: torch.Tensor) -> Any:
    """Return ``state`` with rows ``index`` (R',) of the first axis of every tensor.

    Tuples, lists, mappings and dataclasses are traversed. None, numbers and strings are
    returned unchanged. Objects with a method ``take(index)`` select their own rows, and
    caches of transformers are reordered in place.

    Raises ``TypeError`` for any other type.

    >>> select_rows({"h": torch.tensor([[1], [2], [3]]), "t": 4}, torch.tensor([2, 0]))
    {'h': tensor([[3],
            [1]]), 't': 4}
    """
    if isinstance(state, torch.Tensor):
        return state.index_select(0, index.to(state.device))
    if state is None or isinstance(state, (int, float, str, bool)):
        return state
    if hasattr(state, "take"):
        return state.take(index)
    if isinstance(state, Mapping):
        return {key: select_rows(value, index) for key, value in state.items()}
    if isinstance(state, tuple) and hasattr(state, "_fields"):
        return type(state)(*(select_rows(value, index) for value in state))
    if isinstance(state, (tuple, list)):
        return type(state)(select_rows(value, index) for value in state)
    if hasattr(state, "reorder_cache"):  # transformers' caches reorder in place
        state.reorder_cache(index)
        return state
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        values = {
            f.name: select_rows(getattr(state, f.name), index)
            for f in dataclasses.fields(state)
        }
        return dataclasses.replace(state, **values)
    raise TypeError(
        f"cannot take rows of a state of type {type(state).__name__}: "
        "give the step a reorder(state, index)"
    )


def reorder(step: Step, state: Any, index: torch.Tensor) -> Any:
    """Return rows ``index`` (R',) of ``state``, by the method ``reorder`` of the step
    if it has one, else by :func:`select_rows`.
    """
    method = getattr(step, "reorder", None)
    return method(state, index) if method is not None else select_rows(state, index)
