"""Word knowledge: stems, base forms, synonym sets, and what is said when the data is missing."""

from __future__ import annotations

import gzip
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError, MissingExtra
from harness.plugins.meteor.lexicon import cache as lexicon_cache
from harness.plugins.meteor.lexicon import lexicon
from harness.plugins.tokenisers import java_runtime as java


def test_golden_stems(golden):
    with gzip.open(golden / "meteor/stem_golden.json.gz", "rt", encoding="utf-8") as stream:
        stems = json.load(stream)
    assert len(stems) > 3000
    assert {word: lexicon.stem(word) for word in stems} == stems


def test_another_stemmer_is_refused(monkeypatch):
    class Newer:
        __version__ = "3.0.1"

    monkeypatch.setattr(lexicon, "require", lambda *_, **__: Newer)
    lexicon._stemmer.cache_clear()
    try:
        with pytest.raises(HarnessError, match="snowballstemmer 2, found 3"):
            lexicon.stem("dogs")
    finally:
        lexicon._stemmer.cache_clear()


def test_a_newer_c_library_is_left_alone(monkeypatch):
    import Stemmer

    words = ["generously", "skies", "naïve", "", "ying"]
    known = lexicon.stems(words)
    monkeypatch.setattr(Stemmer, "version", lambda: "3.0.0")
    monkeypatch.setattr(Stemmer, "Stemmer", None)
    lexicon._stemmer.cache_clear()
    try:
        assert lexicon.stems(words) == known
    finally:
        lexicon._stemmer.cache_clear()


@given(
    st.lists(
        st.text("aeiouybcdlmnstrvg'éıY\0", max_size=9).flatmap(lambda s: st.sampled_from([s, s + "ing", s + "ies'"]))
    )
)
def test_the_c_library_stems_as_the_python_one(words):
    pytest.importorskip("Stemmer")
    from snowballstemmer.english_stemmer import EnglishStemmer

    assert lexicon.stems(words) == EnglishStemmer().stemWords(words)


def test_the_words_of_the_jar(tiny_sources):
    jar = lexicon.read_jar(tiny_sources.jar)
    assert jar.function_words == ["a", "the", "."]
    assert jar.prefixes == {"Mr": False, "No": True}
    assert jar.exceptions == {"went": ["go", "be"], "gone": ["go"]}
    assert jar.synonyms.words == ["go", "dog", "hound", "be", "lady", "love"]


def test_base_forms_and_synonym_sets(tiny_sources, tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    words = lexicon_cache.load_cached(tiny_sources)
    assert words.base_forms("went") == ["go", "be"]  # the exception list alone
    assert words.base_forms("dogs") == ["dog"]
    assert words.base_forms("ladies") == ["lady"]
    assert words.base_forms("loved") == ["love"]
    assert words.base_forms("is") == ["is"]  # two letters
    assert words.base_forms("glass") == ["glass"]
    assert words.base_forms("handfuls") == []
    assert set(words.synsets("dogs")) == set(words.synsets("dog")) < set(words.synsets("hounds"))
    assert set(words.synsets("went")) == {*words.synsets("go"), *words.synsets("be")}
    assert not len(words.synsets("xyz"))
    assert words.n_synsets == 7
    several = ["dogs", "went", "xyz", "", "hounds", "ladies"]
    bounds, ids = words.synset_runs(several)
    assert [ids[a:b].tolist() for a, b in itertools.pairwise(bounds)] == [
        words.synsets(word).tolist() for word in several
    ]
    assert not len(words.synset_runs([])[1])


def test_a_file_that_is_no_jar_is_named(tiny_sources):
    with pytest.raises(HarnessError, match=r"paraphrase-en\.gz is not the METEOR 1\.5 jar"):
        lexicon.read_jar(tiny_sources.paraphrases)


def test_pycocoevalcap_without_its_data_is_named(tmp_path, monkeypatch):
    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: Spec)
    with pytest.raises(HarnessError, match=r"METEOR needs .*meteor-1\.5\.jar, which the installed pycocoevalcap lacks"):
        lexicon.find_sources()
    (tmp_path / "meteor").mkdir()
    (tmp_path / "meteor/meteor-1.5.jar").touch()
    with pytest.raises(HarnessError, match=r"paraphrase-en\.gz"):
        lexicon.find_sources()
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="pycocoevalcap"):
        lexicon.find_sources()
