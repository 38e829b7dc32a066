"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import harness  # noqa: F401
from harness.files.secrets import forget

# Arrays of tests are small: more threads would only wait for one another. Child
# processes inherit the variables.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"

# the tests of shared answers set it; no other one depends on earlier runs
os.environ["HARNESS_ANSWERS"] = "none"

ROOT = Path(__file__).resolve().parent.parent
# For `tests.support` and `tools`. The package `harness` is imported before: the folder
# of this name at the root has no plugins.
sys.path.insert(0, str(ROOT))

# The time of an example varies with the load of the machine: no deadline. `full` is for
# CI and the long tests.
_checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
settings.register_profile(
    "fast", max_examples=20, deadline=None, suppress_health_check=_checks
)
settings.register_profile(
    "full", max_examples=100, deadline=None, suppress_health_check=_checks
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("full" if os.environ.get("CI") else "fast")
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all cases but the first of a parametrized test with ``first_case_fast`` as
    slow.
    """
    seen: set[tuple[Path, str]] = set()
    for item in items:
        if item.get_closest_marker("first_case_fast"):
            test = item.path, item.nodeid.partition("[")[0]
            if test in seen:
                item.add_marker(pytest.mark.slow)
            seen.add(test)


def pytest_collection_finish() -> None:
    """Keep the collected tests and imported libraries out of later passes of the
    garbage collector, which would walk through them.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def forget_secrets():
    """No test knows the secrets of another one."""
    yield
    forget()


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of the committed reference values, ``tests/golden``;
    its README gives origins and licences.
    """
    return ROOT / "tests" / "golden"


@pytest.fixture
def shared(request) -> Path:
    """The folder ``HARNESS_SHARED`` (default ``../shared``), whose ``data`` folder
    holds the large sets of real data.

    The sets are not part of the repository. A test lists those it reads, as paths below
    ``data``, in the marker ``large_sets`` and is skipped where one is missing; the
    reason names the missing sets.
    """
    path = Path(os.environ.get("HARNESS_SHARED") or ROOT.parent / "shared").resolve()
    sets = [
        name
        for marker in request.node.iter_markers("large_sets")
        for name in marker.args
    ]
    if not sets:
        pytest.fail(
            "a test that uses the fixture 'shared' lists its data in the marker "
            "large_sets(...)"
        )
    missing = [name for name in sets if not (path / "data" / name).exists()]
    if missing:
        pytest.skip(
            f"needs the large sets {', '.join(missing)} in {path / 'data'} "
            "(HARNESS_SHARED)"
        )
    return path


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository root."""
    return ROOT
