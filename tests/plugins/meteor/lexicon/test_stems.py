"""Stems equal the jar's, with either library; other versions are not used."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.plugins.meteor.lexicon import stems as module
from harness.plugins.meteor.lexicon.stems import stem, stems


def test_golden_stems(golden):
    with gzip.open(golden / "meteor/stem_golden.json.gz", "rt", encoding="utf-8") as stream:
        expected = json.load(stream)
    assert len(expected) > 3000
    assert {word: stem(word) for word in expected} == expected


def test_version_3_is_rejected(monkeypatch):
    class Newer:
        __version__ = "3.0.1"

    monkeypatch.setattr(module, "require", lambda *_, **__: Newer)
    module._stemmer.cache_clear()
    try:
        with pytest.raises(HarnessError, match="snowballstemmer 2, found 3"):
            stem("dogs")
    finally:
        module._stemmer.cache_clear()


def test_newer_c_library_is_not_used(monkeypatch):
    Stemmer = pytest.importorskip("Stemmer")
    words = ["generously", "skies", "naïve", "", "ying"]
    expected = stems(words)
    monkeypatch.setattr(Stemmer, "version", lambda: "3.0.0")
    monkeypatch.setattr(Stemmer, "Stemmer", None)
    module._stemmer.cache_clear()
    try:
        assert stems(words) == expected
    finally:
        module._stemmer.cache_clear()


@given(
    st.lists(
        st.text("aeiouybcdlmnstrvg'éıY\0", max_size=9).flatmap(lambda s: st.sampled_from([s, s + "ing", s + "ies'"]))
    )
)
def test_c_library_and_python_library_agree(words):
    pytest.importorskip("Stemmer")
    from snowballstemmer.english_stemmer import EnglishStemmer

    assert stems(words) == EnglishStemmer().stemWords(words)
