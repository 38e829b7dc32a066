"""Logits of a step."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.shared.decoding.logits import (
    check_logits,
    forbid_stop,
    log_norm,
    log_prob_of,
    rank_of,
    rows_at_once,
)
from harness_models.shared.decoding.types import DecodingBatch


@given(
    rows=st.lists(
        st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=1, max_size=6
    ),
    token=st.integers(0, 4),
)
def test_a_rank_is_the_position_in_a_stable_descending_sort(
    rows: list[list[int]], token: int
):
    logits = torch.tensor(rows, dtype=torch.float32)
    order = np.argsort(-logits.numpy(), axis=1, kind="stable")
    expected = [row.tolist().index(token) for row in order]
    assert rank_of(logits, torch.full((len(rows),), token)).tolist() == expected


def test_blocks_of_rows_do_not_change_the_result():
    size = 70_000  # one row per block on a CPU
    logits = torch.randn(4, size, generator=torch.Generator().manual_seed(0))
    assert rows_at_once(logits) == 1
    tokens = torch.tensor([0, 5, 69_999, 1234])
    exact = logits.double()
    torch.testing.assert_close(log_norm(logits), exact.logsumexp(-1), rtol=0, atol=0)
    torch.testing.assert_close(
        log_prob_of(logits, tokens),
        exact.log_softmax(-1)[range(4), tokens],
        rtol=0,
        atol=1e-12,
    )
    assert rank_of(logits, tokens).tolist() == [
        int((row > row[t]).sum()) for row, t in zip(logits, tokens)
    ]


def batch(ids: tuple[str, ...] = ()) -> DecodingBatch:
    return DecodingBatch(state=None, seeds=[0, 1], stop=(0,), max_length=3, ids=ids)


@pytest.mark.parametrize(
    ("value", "content"),
    [(float("nan"), "NaN"), (float("inf"), "+inf"), (float("-inf"), "no finite value")],
)
def test_the_message_names_the_example_and_the_token(value: float, content: str):
    logits = torch.zeros(3, 2)
    logits[2] = value
    with pytest.raises(HarnessError) as caught:
        check_logits(logits, batch(("a", "b")), [0, 0, 1], position=4)
    assert str(caught.value).startswith(
        f"the model's logits for example 'b' hold {content} at token 5; check the"
    )
    with pytest.raises(HarnessError, match="for example number 1 hold"):
        check_logits(logits, batch(), [0, 0, 1], position=4)


def test_forbidden_tokens_pass_the_check():
    check_logits(torch.tensor([[float("-inf"), 0.0]]), batch(), [0], 0)


def test_the_end_token_is_forbidden_below_the_minimum_length():
    logits = torch.zeros(1, 3)
    stop = torch.tensor([1])
    decoding = Decoding(options={"min_length": 2})
    assert forbid_stop(logits, stop, decoding, 1).tolist() == [
        [0.0, float("-inf"), 0.0]
    ]
    assert forbid_stop(logits, stop, decoding, 2) is logits
