"""Errors that report that memory ran out, and room on a device."""

from __future__ import annotations

import pytest

from harness.encoders.memory import free_memory, has_room, is_out_of_memory

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCre`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_messages_of_all_allocators_are_known(error):
    assert is_out_of_memory(error)


def test_other_errors_are_not():
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes differ"))


def test_memory_is_freed_without_an_accelerator_too():
    free_memory()


@pytest.mark.parametrize(
    ("free", "held", "expected"), [(3, 0, True), (2, 0, False), (2, 1, True)]
)
def test_room_is_more_than_a_quarter_of_the_memory(monkeypatch, free, held, expected):
    """What torch holds without using it is free."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 8))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 1 + held)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 1)
    assert has_room("cuda:0") is expected


def test_a_device_that_does_not_tell_its_memory_has_room():
    assert has_room("cpu")
    assert has_room("meta")
