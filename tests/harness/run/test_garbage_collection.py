"""Rarer garbage collection: nested and overlapping blocks, restored thresholds."""

from __future__ import annotations

import gc
import threading

import pytest

from harness.run.garbage_collection import rare_collections


@pytest.fixture(autouse=True)
def restored():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_thresholds_are_raised_inside_and_restored_after_nested_blocks():
    before = gc.get_threshold()
    with rare_collections():
        inside = gc.get_threshold()
        with rare_collections():
            assert gc.get_threshold() == inside
        assert gc.get_threshold() == inside
    assert inside[0] >= 200_000
    assert gc.get_threshold() == before


def test_larger_thresholds_of_the_user_are_not_lowered():
    gc.set_threshold(1_000_000, 50, 500)
    with rare_collections():
        assert gc.get_threshold() == (1_000_000, 50, 500)
    assert gc.get_threshold() == (1_000_000, 50, 500)


def test_disabled_collection_stays_disabled():
    gc.set_threshold(0)
    with rare_collections():
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold()[0] == 0


def test_an_error_in_the_block_restores_the_thresholds():
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="stop"), rare_collections():
        raise ValueError("stop")
    assert gc.get_threshold() == before


def test_overlapping_threads_restore_the_thresholds_once_all_have_left():
    before = gc.get_threshold()
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with rare_collections():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    with rare_collections():
        thread.start()
        entered.wait(10)
    assert gc.get_threshold()[0] >= 200_000
    leave.set()
    thread.join()
    assert gc.get_threshold() == before
