"""Slices and threads."""

from __future__ import annotations

import os

import pytest

from caption_kernels.batches import threads
from caption_kernels.batches.threads import n_threads, run_slices


@pytest.mark.parametrize("count", ["1", "3"])
@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 5000])
def test_slices_cover_all_items_once(size, count, monkeypatch):
    monkeypatch.setenv(threads.VARIABLE, count)
    seen = [0] * size

    def work(start, stop):
        for i in range(start, stop):
            seen[i] += 1

    run_slices(work, size)
    assert seen == [1] * size


def test_an_exception_of_a_slice_is_raised(monkeypatch):
    monkeypatch.setenv(threads.VARIABLE, "2")

    def work(start, stop):
        if start:
            raise KeyError(start)

    with pytest.raises(KeyError):
        run_slices(work, 10_000)


def test_the_environment_names_the_number_of_threads(monkeypatch):
    monkeypatch.setenv(threads.VARIABLE, "7")
    assert n_threads() == 7
    monkeypatch.delenv(threads.VARIABLE)
    assert 1 <= n_threads() <= (os.cpu_count() or 1)


@pytest.mark.parametrize("value", ["0", "-1", "two", "²"])
def test_another_value_is_an_error(monkeypatch, value):
    monkeypatch.setenv(threads.VARIABLE, value)
    with pytest.raises(ValueError, match="CAPTION_KERNELS_THREADS is"):
        n_threads()
