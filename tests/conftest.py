"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

if (
    "PYTEST_XDIST_WORKER" in os.environ
):  # the workers share the cores; threads of theirs that spin for one another take them from all
    os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent


def _shared() -> Path:
    return Path(os.environ.get("HARNESS_SHARED") or ROOT.parent / "shared")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of golden values and real data; missing it is a failure in CI and a skip elsewhere."""
    path = _shared()
    if not (path / "golden").is_dir():
        message = f"no reference data at {path} (set HARNESS_SHARED)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path.resolve()


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository root."""
    return ROOT
