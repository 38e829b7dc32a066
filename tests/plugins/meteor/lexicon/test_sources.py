"""Word lists of the jar, and error messages for missing or damaged data."""

from __future__ import annotations

import zipfile

import pytest

from harness.errors import HarnessError, MissingExtra
from harness.plugins.meteor.lexicon import sources
from harness.plugins.tokenisers import java_runtime


def test_word_lists_of_the_jar(tiny_sources):
    jar = sources.read_jar(tiny_sources.jar)
    assert jar.function_words == ["a", "the", "."]
    assert jar.prefixes == {"Mr": False, "No": True}
    assert jar.exceptions == {"went": ["go", "be"], "gone": ["go"]}
    assert jar.synonyms.words == ["go", "dog", "hound", "be", "lady", "love"]


def test_synonym_sets_are_numbered_by_rank(tiny_sources):
    synonyms = sources.read_jar(tiny_sources.jar).synonyms
    assert synonyms.starts.tolist() == [0, 2, 3, 5, 6, 7, 8]
    assert synonyms.ids.tolist() == [1, 6, 4, 4, 5, 2, 3, 0]  # ranks of 7 100, 30, 30 31, 8, 9, 5


def test_prefixes_are_read_without_the_rest_of_the_jar(tiny_sources, monkeypatch):
    monkeypatch.setattr(sources, "find_sources", lambda: tiny_sources)
    sources.jar_prefixes.cache_clear()
    try:
        assert sources.jar_prefixes() == {"Mr": False, "No": True}
    finally:
        sources.jar_prefixes.cache_clear()


def test_file_that_is_not_a_jar_is_named(tiny_sources):
    with pytest.raises(HarnessError, match=r"paraphrase-en\.gz is not the METEOR 1\.5 jar"):
        sources.read_jar(tiny_sources.paraphrases)


def test_jar_without_the_english_data_is_named(tmp_path):
    path = tmp_path / "other.jar"
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("function/english.words", "a\n")
    with pytest.raises(HarnessError, match=r"other\.jar is not the METEOR 1\.5 jar .*english\.prefixes"):
        sources.read_jar(path)


def test_pycocoevalcap_without_its_data_is_named(tmp_path, monkeypatch):
    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(java_runtime.importlib.util, "find_spec", lambda name: Spec)
    with pytest.raises(HarnessError, match=r"METEOR needs .*meteor-1\.5\.jar, which the installed pycocoevalcap lacks"):
        sources.find_sources()
    (tmp_path / "meteor").mkdir()
    (tmp_path / "meteor/meteor-1.5.jar").touch()
    with pytest.raises(HarnessError, match=r"paraphrase-en\.gz"):
        sources.find_sources()
    monkeypatch.setattr(java_runtime.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="pycocoevalcap"):
        sources.find_sources()
