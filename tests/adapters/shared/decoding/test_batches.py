"""Batch sizes that halve when memory runs out."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness_models.shared.decoding.batches import (
    AUTO_LIMIT,
    BatchSize,
    check_batch_size,
    in_batches,
    is_out_of_memory,
)
from harness_models.shared.decoding.memory_meter import AcceleratorMemory
from tests.support.counted_memory import CountedMemory


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


def watched(device, by_size, seen):
    """Return work that takes memory by the number of its items."""

    def work(items):
        seen.append(len(items))
        device.compute(by_size(len(items)))
        return items

    return work


def test_auto_grows_to_the_share_of_the_memory_that_is_free():
    device = CountedMemory(total=1_000_000, weights=100_000)
    batches = BatchSize("auto", AcceleratorMemory({"gpu:0": device}))
    seen: list[int] = []
    work = watched(device, lambda count: 1500 * count, seen)
    assert list(in_batches(range(2000), batches, work)) == list(range(2000))
    # four times 64, then 0.8 * 900,000 / 1,500 in a multiple of 8
    assert seen == [64, 256, 480, 480, 480, 240]
    assert batches.current == 480


def test_auto_stops_at_the_largest_size():
    device = CountedMemory(total=10**12, weights=0)
    batches = BatchSize("auto", AcceleratorMemory({"gpu:0": device}))
    seen: list[int] = []
    list(in_batches(range(6000), batches, watched(device, lambda n: 100 * n, seen)))
    assert seen[:4] == [64, 256, 1024, 1024] and max(seen) == AUTO_LIMIT


def test_a_size_that_was_too_large_is_halved_and_does_not_grow_again(caplog):
    device = CountedMemory(total=1_000_000, weights=0)
    batches = BatchSize("auto", AcceleratorMemory({"gpu:0": device}))
    seen: list[int] = []
    # a batch of 64 takes a tenth of the memory, a larger one more for each example
    work = watched(device, lambda n: n * (1500 if n <= 64 else 6000), seen)
    assert list(in_batches(range(1000), batches, work)) == list(range(1000))
    assert seen[:4] == [64, 256, 128, 128] and set(seen[4:-1]) == {128}
    assert batches.current == 128
    messages = [record.getMessage() for record in caplog.records]
    assert messages == [
        "out of memory with 256 examples in a batch: batches now have 128"
    ]


def test_a_last_batch_of_few_examples_says_nothing():
    device = CountedMemory(total=1_000_000, weights=0)
    batches = BatchSize("auto", AcceleratorMemory({"gpu:0": device}))
    list(in_batches(range(10), batches, watched(device, lambda n: n, [])))
    assert batches.current == 64


def test_a_number_and_a_device_without_counters_do_not_grow():
    device = CountedMemory(total=10**12, weights=0)
    meter = AcceleratorMemory({"gpu:0": device})
    for batches, size in (
        (BatchSize(16, meter), 16),
        (BatchSize("auto"), 64),
        (BatchSize("auto", None), 64),
    ):
        seen: list[int] = []
        list(in_batches(range(200), batches, watched(device, lambda n: n, seen)))
        assert set(seen[:-1]) == {size}
