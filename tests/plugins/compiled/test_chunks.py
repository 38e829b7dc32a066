"""Slices of a batch in threads: complete, disjoint, in parallel, with errors raised."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.compiled import chunks


@settings(deadline=None)
@given(st.integers(0, 5000), st.integers(0, 5000), st.integers(1, 4))
def test_slices_cover_the_range_once(size, pairs, threads):
    visits = np.zeros(size, dtype=int)

    def work(start, stop):
        assert 0 <= start < stop <= size
        visits[start:stop] += 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "n_threads", lambda: threads)
        chunks.run_slices(work, size, pairs=pairs)
    assert (visits == 1).all()


def slices(monkeypatch, size, pairs, threads):
    """Slices of a call, and the number of threads that worked on them."""
    bounds, names = [], set()

    def work(start, stop):
        bounds.append((start, stop))
        names.add(threading.current_thread().name)

    monkeypatch.setattr(chunks, "n_threads", lambda: threads)
    chunks.run_slices(work, size, pairs=pairs)
    return sorted(bounds), names


def test_little_work_is_one_slice_in_the_calling_thread(monkeypatch):
    bounds, names = slices(monkeypatch, 100, 10, threads=4)
    assert bounds == [(0, 100)]
    assert names == {threading.current_thread().name}


def test_much_work_is_divided_among_threads(monkeypatch):
    bounds, names = slices(monkeypatch, 1000, chunks.PAIRS_PER_SLICE, threads=2)
    assert len(bounds) == 2 * chunks.SLICES_PER_THREAD
    assert threading.current_thread().name not in names


def test_one_thread_works_in_the_calling_thread(monkeypatch):
    _, names = slices(monkeypatch, 1000, chunks.PAIRS_PER_SLICE, threads=1)
    assert names == {threading.current_thread().name}


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_a_slice_is_raised(monkeypatch, threads):
    monkeypatch.setattr(chunks, "n_threads", lambda: threads)

    def work(start, stop):
        if stop == 5000:
            raise ValueError("last slice")

    with pytest.raises(ValueError, match="last slice"):
        chunks.run_slices(work, 5000)


def test_the_number_of_threads_is_numbas(monkeypatch):
    from numba.core import config

    monkeypatch.setattr(config, "NUMBA_NUM_THREADS", 7)
    assert chunks.n_threads() == 7
