"""Devices and number formats."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from harness.encoders import devices
from harness.encoders.devices import (
    device_kind,
    devices_of,
    encoder_devices,
    number_format,
    visible_devices,
)
from harness.errors import HarnessError


def accelerator(kind: str | None, count: int = 0) -> SimpleNamespace:
    """Return a stand-in for ``torch.accelerator``."""
    return SimpleNamespace(
        is_available=lambda: kind is not None,
        current_accelerator=lambda: SimpleNamespace(type=kind),
        device_count=lambda: count,
    )


def test_all_visible_accelerators_are_used(monkeypatch):
    monkeypatch.setattr(torch, "accelerator", accelerator("cuda", 4), raising=False)
    assert (
        visible_devices()
        == devices_of("auto")
        == ["cuda:0", "cuda:1", "cuda:2", "cuda:3"]
    )
    assert devices_of("cuda:3") == ["cuda:3"] and devices_of(["cuda:1", "cuda:2"]) == [
        "cuda:1",
        "cuda:2",
    ]
    with pytest.raises(
        HarnessError,
        match="no device 'cuda:4'; this machine has cuda:0, cuda:1, cuda:2, cuda:3",
    ):
        devices_of("cuda:4")
    monkeypatch.setattr(torch, "accelerator", accelerator("mps", 1), raising=False)
    assert devices_of("auto") == ["mps"]


def test_torch_without_the_general_interface_is_asked_for_cuda(monkeypatch):
    monkeypatch.delattr(torch, "accelerator", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert visible_devices() == ["cuda:0", "cuda:1"]


def test_machines_without_accelerators_use_the_cpu(monkeypatch):
    monkeypatch.setattr(torch, "accelerator", accelerator(None), raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert devices_of("auto") == ["cpu"]
    with pytest.raises(HarnessError, match="no device 'cuda'; this machine has cpu"):
        devices_of("cuda")
    with pytest.raises(
        HarnessError,
        match="device is auto, cpu, or a device of torch such as cuda:0; found 'gpu'",
    ):
        devices_of("gpu")
    with pytest.raises(HarnessError, match="device is an empty list"):
        devices_of([])


def test_auto_is_bfloat16_where_the_accelerator_computes_in_it(monkeypatch):
    monkeypatch.setattr(
        torch.cuda, "is_bf16_supported", lambda including_emulation: True
    )
    assert number_format("auto", "cuda:0") == "bfloat16"
    monkeypatch.setattr(
        torch.cuda, "is_bf16_supported", lambda including_emulation: False
    )
    assert (
        number_format("auto", "cuda:0")
        == number_format("auto", "cpu")
        == number_format("auto", "mps")
        == "float32"
    )
    assert devices.number_format("float16", "cuda:0") == "float16"


def test_encoders_take_the_first_accelerator_or_those_that_are_named(monkeypatch):
    monkeypatch.setattr(torch, "accelerator", accelerator("cuda", 3), raising=False)
    assert encoder_devices("auto", "m") == ["cuda:0"]
    assert encoder_devices("all", "m") == ["cuda:0", "cuda:1", "cuda:2"]
    assert encoder_devices(["cuda:2", "cpu"], "m") == ["cuda:2", "cpu"]
    with pytest.raises(HarnessError, match="m: no device 'cuda:3'; this machine has"):
        encoder_devices(["cuda:0", "cuda:3"], "m")
    kinds = ["auto", "all", "cuda:1", ["cuda:0", "cuda:1"], ["cpu", "cuda:0"]]
    assert [device_kind(d) for d in kinds] == [*["cuda"] * 4, "cpu+cuda"]
    monkeypatch.setattr(torch, "accelerator", accelerator(None), raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert encoder_devices("all", "m") == ["cpu"] and device_kind("all") == "cpu"
