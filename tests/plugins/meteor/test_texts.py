"""Texts for METEOR's kernels: any way in gives the same words, in any thread, after any interruption."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.meteor import texts as meteor_texts
from harness.plugins.meteor.lexicon import cache as lexicon_cache
from harness.plugins.meteor.lexicon import lexicon
from harness.plugins.meteor.lexicon.paraphrases import ParaphraseTable
from harness.plugins.meteor.normaliser import words as normalised
from harness.plugins.meteor.texts import TextTable, WordTable
from harness.plugins.tokenisers.words import WordIndex

WORDS = (
    *(
        "a",
        "Dog",
        "DOG",
        "DOTMULTI",
        "DOTDOTMULTI",
        "MULTI",
        "12",
        "3,5",
        ".",
        "..",
        "U.S.",
        "Mr.",
        "No.",
        "5",
        "well-known",
    ),
    *(
        "man's",
        "\t",
        "\n",
        "\x1c",
        "\x85",
        "\0",
        "",
        "\u00a0",
        "a\u00a0b",
        "\u3000",
        "\u2028",
        "é",
        "İ",
        "ſ",
        "٣",
        "\ud800",
        "🙂",
    ),
)
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), max_size=8)


@pytest.fixture
def tiny(tiny_sources):
    return lexicon_cache.load_cached(tiny_sources)


def nothing_known() -> lexicon.Lexicon:
    empty = np.zeros(2, dtype=np.int32)
    table = ParaphraseTable(empty, empty[:0], empty, empty[:0])
    return lexicon.Lexicon(frozenset(), {"Mr": False, "No": True}, {}, {}, empty, empty[:0], 0, {}, table)


def words_of(table: TextTable, ids: np.ndarray) -> list[list[str]]:
    names = list(table.words._ids)
    return [[names[word] for word in table.word_ids(int(text))] for text in ids]


@settings(deadline=None)  # kernels and rules are compiled on first use
@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_texts_that_were_split_have_the_words_of_those_that_were_not(calls):
    table, index = TextTable(WordTable(nothing_known())), WordIndex()
    for texts in calls:
        texts = [*texts, *texts[:2]]  # duplicates inside one call
        ids = table.intern_split(texts, index, index.add(texts))
        assert words_of(table, ids) == [normalised(text, table.words.lexicon.prefixes) for text in texts]
        assert table.intern(texts).tolist() == ids.tolist()


def content(table: WordTable, words: list[str]) -> list[object]:
    """What is known of each word, without the numbers that depend on what came before."""
    arrays, numbers = table.arrays(), {number: value for value, number in table._hashes.items()}
    out = []
    for word in words:
        row = table._ids[word]
        synsets = arrays.synset_ids[arrays.synset_starts[row] : arrays.synset_starts[row + 1]].tolist()
        hashes = numbers[int(arrays.keys[row])], numbers[int(arrays.stems[row])]
        found = arrays.function[row], table.paraphrase_ids[row], table.paraphrase_roots[row]
        out.append((hashes, synsets, [int(value) for value in found]))
    return out


def test_threads_share_the_words(tiny):
    interval = sys.getswitchinterval()
    words = [f"{stem}{number}{ending}" for number in range(400) for stem in ("dog", "a") for ending in ("", "s", "ing")]
    words += ["dog", "hound", "went", "the", "a", "animal"]
    known, shared = WordTable(tiny), WordTable(tiny)
    known.intern(words)
    parts = [words[thread::3] + words[thread + 1 :: 3] for thread in range(4)]

    def work(part: list[str]) -> None:
        for first in range(0, len(part), 7):
            shared.intern(part[first : first + 7])

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, parts))
    finally:
        sys.setswitchinterval(interval)
    assert content(shared, words) == content(known, words)


@pytest.mark.parametrize("where", ["stems", "java_hash"])
def test_words_survive_an_interrupt(tiny, monkeypatch, where):
    first, later = ["a", "dog", "went"], ["hound", "the", "dogs", "lady"]
    known, table = WordTable(tiny), WordTable(tiny)
    known.intern([*first, *later])
    table.intern(first)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(meteor_texts, where, interrupt)
        with pytest.raises(KeyboardInterrupt):
            table.intern(later)
    table.intern(later)
    assert content(table, [*first, *later]) == content(known, [*first, *later])


@pytest.mark.parametrize("column", ["_words", "_phrase_starts", "_phrase_length"])
def test_texts_survive_an_interrupt(tiny, monkeypatch, column):
    table, known = TextTable(WordTable(tiny)), TextTable(WordTable(tiny))
    table.intern(["a dog went"])

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(getattr(table, column), "extend", interrupt)
        with pytest.raises(KeyboardInterrupt):
            table.intern(["the dog", "an animal that barks"])
    later = ["a dog", "the hound barks", "the dog"]
    ids = table.intern(later)
    known.intern(["a dog went"])
    assert words_of(table, ids) == words_of(known, known.intern(later)) == [text.split() for text in later]
    one, other = table.prepared().texts, known.prepared().texts
    assert one.phrases.tolist() == other.phrases.tolist()
    assert one.phrase_starts.tolist() == other.phrase_starts.tolist()
    assert one.phrase_length.tolist() == other.phrase_length.tolist()
