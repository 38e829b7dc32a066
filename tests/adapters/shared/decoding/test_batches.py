"""Batches that halve when memory runs out."""

from __future__ import annotations

import pytest

from harness.adapters.shared.decoding.batches import in_batches
from harness.errors import HarnessError


def doubler(limit, seen):
    def work(items):
        seen.append(len(items))
        if len(items) > limit:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return [2 * item for item in items]

    return work


def test_auto_halves_and_keeps_order():
    seen: list[int] = []
    assert list(in_batches(list(range(100)), "auto", doubler(10, seen))) == [2 * i for i in range(100)]
    assert seen[:4] == [64, 32, 16, 8]
    assert max(seen[4:]) == 8


def test_what_cannot_fit_is_told():
    with pytest.raises(HarnessError, match="out of memory at batch size 1: one example does not fit"):
        list(in_batches([1, 2], "auto", doubler(0, [])))
    with pytest.raises(HarnessError, match="out of memory at batch size 2: give a smaller batch_size"):
        list(in_batches([1, 2], 2, doubler(1, [])))


def test_other_errors_pass():
    def work(items):
        raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes differ"):
        list(in_batches([1], "auto", work))
