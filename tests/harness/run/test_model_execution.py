"""Captions and token scores of a run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from harness.run.model_execution import ModelExecution, print_speed, work_of


class Worker:
    def timings(self):
        return {"tokens_per_second": 1234.5, "batch_size": 8, "devices": ["cpu"]}

    def usage(self):
        return {"requests": 3}


class Idle:
    def usage(self):
        return {"requests": 0}


def test_timings_and_usage_are_joined():
    assert work_of(Worker()) == {
        "tokens_per_second": 1234.5,
        "batch_size": 8,
        "devices": ["cpu"],
        "requests": 3,
    }


def test_an_adapter_without_counts_has_no_work():
    assert work_of(Idle()) == {}
    assert work_of(object()) == {}


def test_the_speed_is_printed_with_devices_and_batches(caplog):
    with caplog.at_level("INFO", logger="harness"):
        print_speed("m", work_of(Worker()))
        print_speed("m", {"requests": 3})
    assert caplog.messages == ["m: 1,234 tokens/s, batches of 8 on cpu"]


@pytest.mark.parametrize(
    ("work", "text"),
    [
        ({"tokens_per_second": 10.6}, "m: 11 tokens/s"),
        (
            {"tokens_per_second": 2.0, "devices": ["cpu", "cuda:0"]},
            "m: 2 tokens/s on cpu, cuda:0",
        ),
        (
            {"tokens_per_second": 2.0, "batch_size": 4, "devices": []},
            "m: 2 tokens/s, batches of 4",
        ),
        ({"tokens_per_second": 0.0, "batch_size": 4}, None),
    ],
)
def test_the_speed_has_what_is_known(caplog, work, text):
    with caplog.at_level("INFO", logger="harness"):
        print_speed("m", work)
    assert caplog.messages == ([] if text is None else [text])


@pytest.mark.parametrize(
    ("show", "until", "printed"),
    [(False, [], 1), (True, ["a > b"], 1), (False, ["a > b"], 0)],
)
def test_the_speed_of_each_batch_of_a_run_until_a_decision_is_not_printed(
    caplog, show, until, printed
):
    execution = SimpleNamespace(
        costs={}, show=show, plan=SimpleNamespace(spec=SimpleNamespace(until=until))
    )
    with caplog.at_level("INFO", logger="harness"):
        ModelExecution._count_cost(
            execution, SimpleNamespace(label="m", adapter=Worker())
        )
    assert execution.costs["m"]["requests"] == 3 and len(caplog.messages) == printed
