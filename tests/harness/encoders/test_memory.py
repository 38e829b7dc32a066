"""Errors that report that memory ran out."""

from __future__ import annotations

import pytest

from harness.encoders.memory import free_memory, is_out_of_memory

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
