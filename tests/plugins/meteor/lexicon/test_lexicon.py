"""Base forms and synonym sets of words."""

from __future__ import annotations

import itertools

import pytest

from harness.plugins.meteor.lexicon.disk_cache import load_lexicon


@pytest.fixture
def lexicon(tiny_sources):
    return load_lexicon(tiny_sources)


@pytest.mark.parametrize(
    ("word", "bases"),
    [
        ("went", ["go", "be"]),  # the exception list alone
        ("dogs", ["dog"]),
        ("ladies", ["lady"]),
        ("loved", ["love"]),
        ("is", ["is"]),  # two letters
        ("glass", ["glass"]),  # -ss
        ("handfuls", []),
        ("table", []),  # no rule ends in this letter
    ],
)
def test_base_forms(lexicon, word, bases):
    assert lexicon.base_forms(word) == bases


def test_synonym_sets_include_those_of_the_base_forms(lexicon):
    assert set(lexicon.synsets("dogs")) == set(lexicon.synsets("dog")) < set(lexicon.synsets("hounds"))
    assert set(lexicon.synsets("went")) == {*lexicon.synsets("go"), *lexicon.synsets("be")}
    assert lexicon.synsets("xyz").shape == (0,)
    assert lexicon.listed_synsets("dogs").shape == (0,)
    assert lexicon.n_synsets == 7


def test_synonym_sets_of_many_words_equal_those_of_each(lexicon):
    words = ["dogs", "went", "xyz", "", "hounds", "ladies"]
    bounds, ids = lexicon.synset_runs(words)
    runs = [ids[start:stop].tolist() for start, stop in itertools.pairwise(bounds)]
    assert runs == [lexicon.synsets(word).tolist() for word in words]
    bounds, ids = lexicon.synset_runs([])
    assert bounds.tolist() == [0]
    assert ids.shape == (0,)
