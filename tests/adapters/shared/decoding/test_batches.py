"""Batch sizes that halve when memory runs out."""

from __future__ import annotations

import copy
import pickle
import threading

import pytest

from harness.contracts import Failure, Generation
from harness.errors import HarnessError
from harness_models.shared.decoding import batches
from harness_models.shared.decoding.batches import (
    BatchSize,
    check_batch_size,
    in_batches,
    is_out_of_memory,
)
from harness_models.shared.decoding.replicas import Replica, spread
from harness_models.shared.decoding.throughput import Throughput


def doubler(limit, seen):
    def work(items):
        seen.append(len(items))
        if len(items) > limit:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return [2 * item for item in items]

    return work


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


def test_tokens_and_seconds_are_counted(monkeypatch):
    clock = iter([10.0, 12.0, 20.0, 24.0])
    monkeypatch.setattr(batches.time, "perf_counter", lambda: next(clock))
    speed = Throughput()
    assert speed.values() == {
        "captions": 0,
        "tokens": 0,
        "seconds": 0.0,
        "tokens_per_second": 0.0,
    }
    with speed.running():
        pass
    with speed.running(), speed.running():  # two replicas at the same time
        pass
    speed.count(
        [
            Generation(("a b", "c"), lengths=(3, 2)),
            Failure("no image"),
            Generation(("d",)),
        ]
    )
    assert speed.values() == {
        "captions": 3,
        "tokens": 5,
        "seconds": 6.0,
        "tokens_per_second": 5 / 6,
    }


def test_counts_go_to_other_processes():
    speed = Throughput()
    speed.count([Generation(("a",), lengths=(2,))])
    for other in (pickle.loads(pickle.dumps(speed)), copy.deepcopy(speed)):
        with other.running():
            other.count([Generation(("b",), lengths=(3,))])
        assert (other.values()["tokens"], speed.values()["tokens"]) == (5, 2)


def test_results_come_in_order_and_every_replica_works():
    barrier = threading.Barrier(3, timeout=20)
    shares: list[list[int]] = [[], [], []]

    def worker(k: int):
        def work(part):
            if not shares[k]:
                barrier.wait()  # all three work at the same time
            shares[k].extend(part)
            return (item * item for item in part)

        return Replica(work, lambda: 2)

    assert list(spread(range(100), [worker(k) for k in range(3)])) == [
        i * i for i in range(100)
    ]
    assert sorted(i for share in shares for i in share) == list(range(100)) and all(
        shares
    )


def test_the_last_items_are_shared():
    seen: list[int] = []
    replica = Replica(lambda part: seen.append(len(part)) or list(part), lambda: 64)
    assert list(spread(range(64), [replica, replica])) == list(range(64))
    assert max(seen) == 32 and seen[-1] == 1
    assert list(spread([], [replica])) == []


def test_an_error_stops_the_others_and_is_raised():
    def broken(part):
        raise ValueError("no such image")

    with pytest.raises(ValueError, match="no such image"):
        list(
            spread(range(1000), [Replica(broken, lambda: 1), Replica(list, lambda: 1)])
        )
    with pytest.raises(RuntimeError, match="returned 1 results for 2 items"):
        list(spread(range(4), [Replica(lambda part: list(part)[:1], lambda: 2)]))
    assert not [
        thread for thread in threading.enumerate() if thread.name.startswith("replica-")
    ]


def test_a_closed_iterator_stops_the_replicas():
    seen: list[int] = []
    results = spread(
        range(10**6), [Replica(lambda part: seen.extend(part) or list(part), lambda: 1)]
    )
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert len(seen) < 10**6 and not [
        t for t in threading.enumerate() if t.name.startswith("replica-")
    ]
