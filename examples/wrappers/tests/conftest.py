"""The folder of the reference values."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# The time of an example varies with the load of the machine.
settings.register_profile("no-deadline", max_examples=20, deadline=None)
settings.load_profile("no-deadline")


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of the reference values of the repository."""
    return Path(__file__).parents[3] / "tests" / "golden"
