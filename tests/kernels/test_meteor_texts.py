"""METEOR's table of texts: raw texts and rows of an index have equal words; the
compiled class against the readable one.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import caption_kernels_reference as reference

compiled = pytest.importorskip("caption_kernels._compiled")
ENGINES = [compiled, reference]

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


@settings(deadline=None)
@given(TEXTS)
def test_both_engines_number_texts_alike(new_meteor_texts, texts):
    ours = new_meteor_texts(compiled)
    theirs = new_meteor_texts(reference)
    ids = ours.intern(texts)
    assert ids.dtype == np.int64
    assert ids.tolist() == theirs.intern(texts).tolist()
    assert [ours.n_words(i) for i in ids.tolist()] == [
        theirs.n_words(i) for i in ids.tolist()
    ]
    assert ours.same_words(ids[None]).tolist() == theirs.same_words(ids[None]).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@settings(deadline=None)
@given(calls=st.lists(TEXTS, min_size=1, max_size=3))
def test_rows_of_an_index_are_the_texts_of_their_words(new_meteor_texts, engine, calls):
    table = new_meteor_texts(engine)
    fresh = new_meteor_texts(engine)
    index = engine.TextIndex("none")
    for texts in calls:
        texts = [*texts, *texts[:2]]  # duplicates inside one call
        rows = index.add(texts)
        ids = table.add_rows(index, rows)
        assert table.intern(texts).tolist() == ids.tolist()
        both = np.concatenate([ids, fresh.intern(texts)])[None]
        assert [table.n_words(i) for i in ids.tolist()] == [
            fresh.n_words(i) for i in both[0, len(ids) :].tolist()
        ]


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_a_second_index_and_of_an_index_that_forgot_its_rows(
    new_meteor_texts, engine
):
    table = new_meteor_texts(engine)
    # the word ids of the two mean different words
    for words in (["a dog", "the cat"], ["the hound", "a cat"]):
        index = engine.TextIndex("none")
        assert (
            table.add_rows(index, index.add(words)).tolist()
            == table.intern(words).tolist()
        )
        index.rollback((0, 0, 0, 0))
        assert (
            table.add_rows(index, index.add(["lady"])).tolist()
            == table.intern(["lady"]).tolist()
        )
        del index


@pytest.mark.parametrize("engine", ENGINES)
def test_texts_with_the_same_words_have_the_same_number(new_meteor_texts, engine):
    table = new_meteor_texts(engine)
    ids = table.intern(["a dog", "A  dog", "dog a", ""]).reshape(2, 2)
    numbers = table.same_words(ids)
    assert numbers.tolist() == [[0, 0], [1, 2]]
    assert table.same_words(ids[:0]).shape == (0, 2)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_texts(new_meteor_texts, engine):
    table = new_meteor_texts(engine)
    assert table.intern([]).shape == (0,)
    index = engine.TextIndex("none")
    assert table.add_rows(index, index.add([])).shape == (0,)


@pytest.mark.parametrize("engine", ENGINES)
def test_bad_input_is_one_line(new_meteor_texts, engine):
    table = new_meteor_texts(engine)
    index = engine.TextIndex("none")
    with pytest.raises(TypeError, match="expected a sequence of texts, found one str"):
        table.intern("a dog")
    with pytest.raises(TypeError, match="expected texts of type str, found bytes"):
        table.intern([b"a"])
    for row in (-1, 0, 1 << 40):
        with pytest.raises(IndexError):
            table.add_rows(index, np.array([row]))
    for text in (-1, 0):
        with pytest.raises(
            IndexError, match="METEOR: a row or id lies outside its table"
        ):
            table.n_words(text)
        with pytest.raises(IndexError):
            table.same_words(np.array([[text]]))


def test_wrong_types_of_arrays_are_refused(new_meteor_texts):
    table = new_meteor_texts(compiled)
    index = compiled.TextIndex("none")
    with pytest.raises(TypeError):
        table.add_rows(index, np.array([0.0]))
    with pytest.raises(TypeError):
        table.same_words(np.zeros((2, 2), dtype=np.int32))
    with pytest.raises(TypeError):
        table.add_rows("no index", np.array([0]))


def test_a_long_text_and_strange_ones(new_meteor_texts):
    table = new_meteor_texts(compiled)
    ids = table.intern(["a dog " * 100_000, "\ud800 dog", "\x00", "x" * 1_000_000])
    assert table.n_words(int(ids[0])) == 200_000
    assert table.n_words(int(ids[3])) == 1


def test_threads_add_texts_to_one_table(new_meteor_texts):
    table = new_meteor_texts(compiled)
    texts = [
        f"a {word}{number} in the park"
        for number in range(500)
        for word in ("dog", "dogs", "running")
    ]
    index = compiled.TextIndex("none")

    def work(thread: int) -> list[list[int]]:
        part = texts[thread:] + texts[:thread]
        return [
            table.intern(part).tolist(),
            table.add_rows(index, index.add(part)).tolist(),
        ]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(0, 1200, 300)))
    for thread, (raw, rows) in zip(range(0, 1200, 300), results):
        assert raw == rows == table.intern(texts[thread:] + texts[:thread]).tolist()
    assert sorted(set(results[0][0])) == list(range(len(texts)))
