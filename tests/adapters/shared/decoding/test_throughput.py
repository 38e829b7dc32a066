"""Speed of generation."""

from __future__ import annotations

import copy
import pickle

from harness.contracts import Failure, Generation
from harness_models.shared.decoding import throughput
from harness_models.shared.decoding.throughput import Throughput


def test_tokens_and_seconds_are_counted(monkeypatch):
    clock = iter([10.0, 12.0, 20.0, 24.0])
    monkeypatch.setattr(throughput.time, "perf_counter", lambda: next(clock))
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
