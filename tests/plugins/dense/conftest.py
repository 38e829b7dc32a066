"""Small WordNet for tests of METEOR of NLTK."""

from __future__ import annotations

import pytest

from harness_metrics.dense.wordnet import installed_wordnet
from tests.support.wordnet_files import write_wordnet


@pytest.fixture
def small_wordnet(tmp_path, monkeypatch):
    """A folder with the files of WordNet, which is the installed one."""
    folder = write_wordnet(tmp_path / "wordnet")
    monkeypatch.setenv("WNSEARCHDIR", str(folder))
    installed_wordnet.cache_clear()
    yield folder
    installed_wordnet.cache_clear()
