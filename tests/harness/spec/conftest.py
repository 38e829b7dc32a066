"""A spec file in a project."""

from __future__ import annotations

import pytest

from tests.support.spec_text import BASE


@pytest.fixture
def spec_file(project):
    file = project / "s.yaml"
    file.write_text(BASE)
    return file
