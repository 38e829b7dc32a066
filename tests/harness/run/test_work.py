"""Work of adapters."""

from __future__ import annotations

from harness.run.work import print_speed, work_of


class Worker:
    def timings(self):
        return {"tokens_per_second": 1234.5, "batch_size": 8, "devices": ["cpu"]}

    def usage(self):
        return {"requests": 3}


class Idle:
    def usage(self):
        return {"requests": 0}


def test_timings_and_usage_are_joined():
    assert work_of(Worker()) == {"tokens_per_second": 1234.5, "batch_size": 8, "devices": ["cpu"], "requests": 3}


def test_an_adapter_without_counts_has_no_work():
    assert work_of(Idle()) == {}
    assert work_of(object()) == {}


def test_the_speed_is_printed_with_devices_and_batches(caplog):
    with caplog.at_level("INFO", logger="harness"):
        print_speed("m", work_of(Worker()))
        print_speed("m", {"requests": 3})
    assert caplog.messages == ["m: 1,234 tokens/s, batches of 8 on cpu"]
