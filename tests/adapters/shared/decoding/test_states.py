"""Rows of a decoder's state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch

from harness_models.shared.decoding.states import reorder, select_rows


class Pair(NamedTuple):
    hidden: torch.Tensor
    cell: torch.Tensor


@dataclass(frozen=True)
class Cache:
    keys: torch.Tensor
    length: int


class Rows:
    def __init__(self, rows: list[int]) -> None:
        self.rows = rows

    def take(self, index: torch.Tensor) -> Rows:
        return Rows([self.rows[i] for i in index.tolist()])


def test_rows_are_selected_in_nested_states():
    x = torch.tensor([[1.0], [2.0], [3.0]])
    index = torch.tensor([2, 0, 2, 1])
    state = {
        "pair": Pair(x, -x),
        "list": [x, None, 4],
        "cache": Cache(x, 7),
        "rows": Rows([1, 2, 3]),
    }
    result: Any = select_rows(state, index)
    expected = x[index]
    assert isinstance(result["pair"], Pair)
    assert torch.equal(result["pair"].hidden, expected) and torch.equal(
        result["pair"].cell, -expected
    )
    assert torch.equal(result["list"][0], expected) and result["list"][1:] == [None, 4]
    assert torch.equal(result["cache"].keys, expected) and result["cache"].length == 7
    assert result["rows"].rows == [3, 1, 3, 2]


def test_a_state_of_an_unknown_type_is_refused():
    with pytest.raises(
        TypeError,
        match="cannot take rows of a state of type set: give the step a reorder",
    ):
        select_rows({1, 2}, torch.tensor([0]))


def test_the_step_reorders_its_own_state():
    class Step:
        def __call__(
            self, tokens: torch.Tensor | None, state: Any
        ) -> tuple[torch.Tensor, Any]:
            raise NotImplementedError

        def reorder(self, state: Any, index: torch.Tensor) -> Any:
            return ("reordered", state, index.tolist())

    assert reorder(Step(), {1, 2}, torch.tensor([1])) == ("reordered", {1, 2}, [1])
