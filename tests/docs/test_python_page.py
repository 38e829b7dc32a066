"""The sessions of docs/python.md, docs/rewards.md and of two cards run, and print what
the pages show.
"""

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


@pytest.mark.parametrize("page", ["metrics/discrepancy", "metrics/scores", "rewards"])
def test_the_sessions_of_other_pages_run(root, page):
    path = root / "docs" / f"{page}.md"
    text = path.read_text(encoding="utf-8").replace("```", "")
    examples = doctest.DocTestParser().get_doctest(text, {}, page, str(path), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(examples)
    assert runner.tries >= 2 and not runner.failures
