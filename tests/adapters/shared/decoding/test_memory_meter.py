"""Memory of accelerators: what a batch took, and how many examples would fill it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from harness_models.shared.decoding.memory_meter import (
    SHARE,
    AcceleratorMemory,
    memory_meter,
)
from tests.support.counted_memory import CountedMemory

GIB = 1 << 30


def test_the_room_is_that_of_the_free_memory_by_the_share_of_an_example():
    device = CountedMemory(total=100 * GIB, weights=20 * GIB)
    meter = AcceleratorMemory({"gpu:0": device})
    meter.begin()
    device.compute(8 * GIB)
    assert meter.room(16) == int(SHARE * 80 * GIB * 16 / (8 * GIB)) == 128


def test_memory_in_reserve_is_free_and_that_of_others_is_not():
    device = CountedMemory(total=100 * GIB, weights=20 * GIB, others=30 * GIB)
    meter = AcceleratorMemory({"gpu:0": device})
    for _ in range(2):
        # the second time the memory of the first batch is in reserve
        meter.begin()
        device.compute(10 * GIB)
        assert meter.room(10) == int(SHARE * 50)
    assert device.memory_reserved("gpu:0") == 30 * GIB


def test_the_device_that_is_full_first_decides():
    wide = CountedMemory(total=100 * GIB, weights=0)
    narrow = CountedMemory(total=40 * GIB, weights=20 * GIB)
    meter = AcceleratorMemory({"gpu:0": wide, "gpu:1": narrow})
    meter.begin()
    wide.compute(10 * GIB)
    narrow.compute(5 * GIB)
    assert meter.room(10) == int(SHARE * 40)


def test_a_batch_that_took_nothing_says_nothing():
    meter = AcceleratorMemory({"gpu:0": CountedMemory(total=GIB, weights=0)})
    meter.begin()
    assert meter.room(10) is None


def test_devices_whose_memory_is_not_counted_have_no_meter(monkeypatch):
    assert memory_meter(["cpu"]) is memory_meter([]) is None
    monkeypatch.setattr(torch, "mps", SimpleNamespace(), raising=False)
    assert memory_meter(["mps"]) is None
    # a layer on the CPU is not counted
    assert memory_meter(["cuda:0", "cpu"]) is None


@pytest.mark.parametrize("devices", [["cuda:0"], ["cuda:0", "cuda:1"]])
def test_devices_of_torch_are_counted_by_their_module(monkeypatch, devices):
    counted = CountedMemory(total=100 * GIB, weights=0)
    for name in (
        "memory_allocated",
        "max_memory_allocated",
        "memory_reserved",
        "mem_get_info",
        "reset_peak_memory_stats",
    ):
        monkeypatch.setattr(torch.cuda, name, getattr(counted, name))
    meter = memory_meter(devices)
    assert meter is not None
    meter.begin()
    counted.compute(20 * GIB)
    assert meter.room(5) == 20
