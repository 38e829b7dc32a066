"""Copies of a model that share items."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.encoders.replicas import divide_shares, spread, spread_vectors
from harness.errors import InputError

torch = pytest.importorskip("torch")


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 5))
def test_every_item_is_in_one_share_of_nearly_equal_work(sizes, copies):
    shares = divide_shares(sizes, copies)
    assert sorted(k for share in shares for k in share) == list(range(len(sizes)))
    works = [sum(sizes[k] for k in share) for share in shares]
    assert max(works) - min(works) <= max(sizes, default=0)


@pytest.mark.parametrize("copies", [1, 2, 3, 7])
def test_results_are_in_the_order_of_the_items_whatever_the_number_of_copies(copies):
    texts = ["ccc", "a", "", "bb", "dddd"]

    def encode(share):
        return np.array([[len(text), 0.5] for text in share], dtype=np.float32)

    sizes = [len(text) for text in texts]
    vectors = spread_vectors(texts, sizes, [encode] * copies, "float32")
    assert vectors[:, 0].tolist() == sizes and vectors.dtype == np.float32


def test_copies_work_at_the_same_time_under_the_settings_of_the_precision():
    """Each waits for the other, and sees the products of its precision to its end."""
    meeting = threading.Barrier(2, timeout=30)
    seen = []

    def encode(share):
        meeting.wait()
        seen.append(torch.get_float32_matmul_precision())
        return share

    torch.set_float32_matmul_precision("high")
    try:
        assert spread([1, 2], [1, 1], [encode] * 2, "float32") == [1, 2]
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert seen == ["highest"] * 2


def test_the_error_of_a_copy_is_raised():
    def encode(share):
        if "broken" in share:
            raise InputError("does not decode", "broken")
        return share

    with pytest.raises(InputError, match="broken: does not decode"):
        spread(["a", "broken", "c"], [1, 1, 1], [encode] * 2, "float32")
