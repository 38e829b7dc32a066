"""The collector comes seldom inside, and as before afterwards."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from harness import collector


def test_settings_from_before_come_back():
    before = gc.get_threshold()
    with pytest.raises(KeyError), collector.seldom():
        assert gc.isenabled()
        assert gc.get_threshold()[0] >= 200_000
        raise KeyError
    assert gc.get_threshold() == before


def test_a_collector_that_is_off_stays_off():
    code = "import gc; gc.set_threshold(0)\nfrom harness import collector\nwith collector.seldom(): print(gc.get_threshold()[0])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "0\n"
