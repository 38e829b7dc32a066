"""Tables of words and texts: equal words from either way of adding texts, in several threads and after an interrupt."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.meteor import texts as meteor_texts
from harness.plugins.meteor.lexicon.disk_cache import load_lexicon
from harness.plugins.meteor.lexicon.lexicon import Lexicon
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
    return load_lexicon(tiny_sources)


def empty_lexicon() -> Lexicon:
    empty = np.zeros(2, dtype=np.int32)
    table = ParaphraseTable(empty, empty[:0], empty, empty[:0])
    return Lexicon(frozenset(), {"Mr": False, "No": True}, {}, {}, empty, empty[:0], 0, {}, table)


def words_of(table: TextTable, ids: np.ndarray) -> list[list[str]]:
    names = list(table.words._ids)
    return [[names[word] for word in table.word_ids(int(text))] for text in ids]


@settings(deadline=None)  # kernels and rules are compiled on first use
@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_indexed_texts_have_the_same_words_as_raw_texts(calls):
    table, index = TextTable(WordTable(empty_lexicon())), WordIndex()
    for texts in calls:
        texts = [*texts, *texts[:2]]  # duplicates inside one call
        ids = table.intern_split(texts, index, index.add(texts))
        assert words_of(table, ids) == [normalised(text, table.words.lexicon.prefixes) for text in texts]
        assert table.intern(texts).tolist() == ids.tolist()


def content(table: WordTable, words: list[str]) -> list[object]:
    """Return the data of each word, with hashes in place of numbers that depend on the order of words."""
    arrays, numbers = table.arrays(), {number: value for value, number in table._hashes.items()}
    out = []
    for word in words:
        row = table._ids[word]
        synsets = arrays.synset_ids[arrays.synset_starts[row] : arrays.synset_starts[row + 1]].tolist()
        hashes = numbers[int(arrays.keys[row])], numbers[int(arrays.stems[row])]
        values = arrays.function[row], table.paraphrase_ids[row], table.paraphrase_roots[row]
        out.append((hashes, synsets, [int(value) for value in values]))
    return out


def test_threads_add_words_to_one_table(tiny):
    interval = sys.getswitchinterval()
    words = [f"{stem}{number}{ending}" for number in range(400) for stem in ("dog", "a") for ending in ("", "s", "ing")]
    words += ["dog", "hound", "went", "the", "a", "animal"]
    expected, shared = WordTable(tiny), WordTable(tiny)
    expected.intern(words)
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
    assert content(shared, words) == content(expected, words)


@pytest.mark.parametrize("where", ["stems", "java_hash"])
def test_word_table_is_consistent_after_an_interrupt(tiny, monkeypatch, where):
    first, later = ["a", "dog", "went"], ["hound", "the", "dogs", "lady"]
    expected, table = WordTable(tiny), WordTable(tiny)
    expected.intern([*first, *later])
    table.intern(first)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(meteor_texts, where, interrupt)
        with pytest.raises(KeyboardInterrupt):
            table.intern(later)
    table.intern(later)
    assert content(table, [*first, *later]) == content(expected, [*first, *later])


@pytest.mark.parametrize("column", ["_words", "_phrase_starts", "_phrase_length"])
def test_text_table_is_consistent_after_an_interrupt(tiny, monkeypatch, column):
    table, expected = TextTable(WordTable(tiny)), TextTable(WordTable(tiny))
    table.intern(["a dog went"])

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(getattr(table, column), "extend", interrupt)
        with pytest.raises(KeyboardInterrupt):
            table.intern(["the dog", "an animal that barks"])
    later = ["a dog", "the hound barks", "the dog"]
    ids = table.intern(later)
    expected.intern(["a dog went"])
    assert words_of(table, ids) == words_of(expected, expected.intern(later)) == [text.split() for text in later]
    one, other = table.prepared().texts, expected.prepared().texts
    assert one.phrases.tolist() == other.phrases.tolist()
    assert one.phrase_starts.tolist() == other.phrase_starts.tolist()
    assert one.phrase_length.tolist() == other.phrase_length.tolist()


def test_word_data(tiny):
    table = WordTable(tiny)
    dog, dogs, the, went = table.intern(["dog", "dogs", "the", "went"]).tolist()
    arrays = table.arrays()
    assert arrays.keys[dog] != arrays.keys[dogs]
    assert arrays.stems[dog] == arrays.stems[dogs] == arrays.keys[dog]  # "dog" is its own stem
    assert arrays.function.tolist() == [0, 0, 1, 0]
    synsets = [
        arrays.synset_ids[arrays.synset_starts[word] : arrays.synset_starts[word + 1]] for word in (dog, went, the)
    ]
    assert [ids.tolist() for ids in synsets] == [tiny.synsets("dog").tolist(), tiny.synsets("went").tolist(), []]
    assert table.paraphrase_ids[[dog, dogs]].tolist() == [tiny.paraphrase_words["dog"], -1]
    assert table.paraphrase_roots[dogs] == -1
    assert table.n_numbers == len(table._hashes)


def test_plain_words_get_ids_and_others_do_not(tiny):
    table = WordTable(tiny)
    ids = table.intern_plain(["Dog", "man's", "dog", "."])
    assert ids.tolist() == [0, -1, 0, -1]


def test_phrases_of_a_text(tiny):
    table = TextTable(WordTable(tiny))
    [text] = table.intern(["the dog"]).tolist()
    texts = table.prepared().texts
    places = slice(texts.phrase_starts[text], texts.phrase_starts[text + 1])
    occurrences = zip(texts.phrase_at[places].tolist(), texts.phrase_length[places].tolist())
    assert list(occurrences) == [(0, 1), (0, 2), (1, 1)]  # the, the dog, dog


def test_texts_with_the_same_words_have_the_same_number(tiny):
    table = TextTable(WordTable(tiny))
    ids = table.intern(["a dog", "A  dog", "dog a", ""]).reshape(2, 2)
    numbers = table.same_words(ids)
    assert numbers.shape == (2, 2)
    assert numbers[0, 0] == numbers[0, 1]
    assert len({int(value) for value in numbers.ravel()}) == 3
