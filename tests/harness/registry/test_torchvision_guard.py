"""The guard makes torchvision importable, once and again,
and does nothing where there is none.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("torchvision") is None, reason="no torchvision"
)
def test_torchvision_imports_after_the_guard():
    script = (
        "from harness.registry.torchvision_guard import guard_torchvision as guard\n"
        "guard(); guard()\nimport torchvision.transforms\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_torchvision_is_no_matter():
    script = (
        "import sys, importlib.util\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: "
        "None if name == 'torchvision' else find(name, *rest)\n"
        "from harness.registry.torchvision_guard import guard_torchvision\n"
        "guard_torchvision()\n"
        "assert 'torch' not in sys.modules and 'torchvision' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
