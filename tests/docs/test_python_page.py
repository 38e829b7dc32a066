"""The session of docs/python.md runs, and prints what the page shows."""

from __future__ import annotations

import doctest

import pytest


@pytest.mark.slow
def test_the_session_runs(root, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    page = root / "docs" / "python.md"
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert outcome.attempted > 20 and not outcome.failed
