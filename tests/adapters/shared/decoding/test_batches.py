"""Batch sizes that halve when memory runs out."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness_models.shared.decoding.batches import (
    BatchSize,
    check_batch_size,
    in_batches,
    is_out_of_memory,
)


def doubler(limit, seen):
    def work(items):
        seen.append(len(items))
        if len(items) > limit:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return [2 * item for item in items]

    return work


@pytest.mark.slow
def test_auto_halves_and_keeps_order():
    seen: list[int] = []
    assert list(in_batches(list(range(100)), "auto", doubler(10, seen))) == [
        2 * i for i in range(100)
    ]
    assert seen[:4] == [64, 32, 16, 8]
    assert max(seen[4:]) == 8


def test_a_batch_that_cannot_fit_is_one_line():
    with pytest.raises(
        HarnessError, match="out of memory at batch size 1: one example does not fit"
    ):
        list(in_batches([1, 2], "auto", doubler(0, [])))


def test_fixed_sizes_halve_too():
    seen: list[int] = []
    assert list(in_batches(list(range(7)), 5, doubler(2, seen))) == [
        0,
        2,
        4,
        6,
        8,
        10,
        12,
    ]
    assert seen == [5, 2, 2, 2, 1]


@pytest.mark.slow
def test_a_size_is_remembered_and_reported_once(caplog):
    batches = BatchSize("auto")
    seen = []
    for _ in range(3):
        assert len(list(in_batches(list(range(20)), batches, doubler(3, seen)))) == 20
    assert batches.current == 2 and seen[:4] == [20, 10, 5, 2] and max(seen[4:]) == 2
    messages = [record.getMessage() for record in caplog.records]
    assert messages == ["out of memory with 20 examples in a batch: batches now have 2"]


def test_errors_of_the_interpreter_halve():
    def work(items):
        if len(items) > 1:
            raise MemoryError
        return items

    assert list(in_batches([1, 2, 3], "auto", work)) == [1, 2, 3]


def test_other_errors_pass():
    def work(items):
        raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes differ"):
        list(in_batches([1], "auto", work))


@pytest.mark.parametrize("size", [0, -1, True, 2.0, "all", None])
def test_a_batch_size_that_is_not_positive_or_auto_is_refused(size):
    with pytest.raises(
        HarnessError, match=f"batch_size is a positive number or auto; found {size!r}"
    ):
        check_batch_size(size)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), True),
        (RuntimeError("shapes differ"), False),
    ],
)
def test_errors_of_memory_are_recognised(error, expected):
    assert is_out_of_memory(error) is expected
