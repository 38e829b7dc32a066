"""Work spread over replicas."""

from __future__ import annotations

import threading

import pytest

from harness_models.shared.decoding.replicas import Replica, spread


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
