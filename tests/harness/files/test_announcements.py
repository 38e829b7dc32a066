"""Work of a first use: silent while it is quick, two lines when it is long."""

from __future__ import annotations

import logging
import time

import pytest

from harness.files.announcements import announce


def test_quick_work_is_not_announced(caplog):
    with caplog.at_level(logging.INFO, "harness.first_use"), announce("loading x"):
        pass
    assert caplog.messages == []


def test_long_work_is_announced_with_its_time(caplog):
    with (
        caplog.at_level(logging.INFO, "harness.first_use"),
        announce("loading x", after=0.01),
    ):
        time.sleep(0.1)
        assert caplog.messages == ["loading x ..."]
    assert (
        caplog.messages[1]
        == f"loading x took {float(caplog.messages[1].split()[3]):.1f} s"
    )


def test_work_that_fails_has_no_time(caplog):
    with (
        caplog.at_level(logging.INFO, "harness.first_use"),
        pytest.raises(ValueError),
        announce("x", after=0.0),
    ):
        time.sleep(0.05)
        raise ValueError
    assert caplog.messages == ["x ..."]
