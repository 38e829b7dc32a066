"""The index of texts: rows, n-grams, marks; the compiled class against the readable
one.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import caption_kernels_reference as reference
from caption_kernels_reference.text_index import count_ngrams

compiled = pytest.importorskip("caption_kernels._compiled")
ENGINES = [compiled, reference]

WORDS = st.sampled_from(
    [
        "a",
        "dog",
        "cat",
        "",
        "3\xa01/2",
        "\u2003",
        "é",
        "\ud800",
        "\x00",
        "runs",
        "\x1cfast",
    ]
)
TEXTS = st.lists(st.lists(WORDS, max_size=9).map(" ".join), max_size=8)


def counts_of(index, row: int) -> list[dict[str, int]]:
    """Return the n-gram counts of a row by order, with the n-grams as text."""
    names = index.gram_texts()
    return [
        {names[i]: c for i, c in zip(ids.tolist(), counts.tolist())}
        for ids, counts in index.entries(row)
    ]


def state_of(index, rows: np.ndarray):
    return rows.tolist(), index.n_rows, index.n_words, index.texts(rows)


@pytest.mark.parametrize("engine", ENGINES)
def test_equal_texts_share_a_row_and_empty_texts_are_one_empty_word(engine):
    index = engine.TextIndex("none")
    assert index.add(["a dog", "", "a  dog", "a dog"]).tolist() == [0, 1, 2, 0]
    assert index.lengths(np.array([0, 1, 2])).tolist() == [2, 1, 3]
    assert index.gram_rows(np.array([0, 1, 2])).tolist() == [0, 3, 0]
    assert index.lengths(np.array([3])).tolist() == [0]


@given(TEXTS)
def test_both_engines_have_the_same_rows_and_ngrams(texts):
    ours = compiled.TextIndex("none")
    theirs = reference.TextIndex("none")
    rows = ours.add(texts)
    expected = theirs.add(texts)
    assert state_of(ours, rows) == state_of(theirs, expected)
    grams = ours.gram_rows(rows)
    assert grams.tolist() == theirs.gram_rows(expected).tolist()
    for row, text in zip(grams.tolist(), texts):
        order = [list(counts.items()) for counts in counts_of(ours, row)]
        assert order == [
            [(" ".join(gram), count) for gram, count in counts.items()]
            for counts in count_ngrams(text.split())
        ]
        assert order == [list(counts.items()) for counts in counts_of(theirs, row)]


@given(TEXTS, TEXTS, st.booleans())
def test_a_rollback_forgets_what_came_after_the_mark(first, second, keep_grams):
    index = compiled.TextIndex("none")
    fresh = compiled.TextIndex("none")
    rows = index.add(first)
    index.gram_rows(rows[::2].copy())
    fresh.gram_rows(fresh.add(first)[::2].copy())
    mark = index.mark()
    index.gram_rows(index.add(second))
    index.gram_rows(rows)
    index.rollback(mark, keep_grams)
    assert (index.n_rows, index.n_grams >= fresh.n_grams) == (fresh.n_rows, True)
    assert keep_grams or index.n_grams == fresh.n_grams
    both = index.add([*second, *first]), fresh.add([*second, *first])
    assert both[0].tolist() == both[1].tolist()
    grams = index.gram_rows(both[0]), fresh.gram_rows(both[1])
    assert grams[0].tolist() == grams[1].tolist()
    for row in grams[0].tolist():
        assert counts_of(index, row) == counts_of(fresh, row)


@pytest.mark.parametrize("engine", ENGINES)
def test_many_rows_and_ngrams_are_found_again(engine):
    index = engine.TextIndex("none")
    texts = [f"w{k % 97} v{k % 31} u{k} t{k % 7} x" for k in range(3000)]
    rows = index.add(texts)
    index.gram_rows(rows)
    assert index.add(texts).tolist() == rows.tolist() == list(range(3000))
    frequencies = index.document_frequencies(rows, np.arange(3001))
    names = index.gram_texts()
    assert frequencies[names.index("x")] == 3000
    assert frequencies[names.index("u17")] == 1


@given(TEXTS, st.integers(1, 3))
def test_document_frequencies_of_both_engines(texts, size):
    results = []
    for engine in ENGINES:
        index = engine.TextIndex("none")
        grams = index.gram_rows(index.add(texts))
        starts = np.array([*range(0, len(grams), size), len(grams)], dtype=np.int64)
        results.append(
            dict(
                zip(
                    index.gram_texts(),
                    index.document_frequencies(grams, starts).tolist(),
                )
            )
        )
    assert results[0] == results[1]


@given(
    st.lists(st.lists(st.integers(0, 5), max_size=6), max_size=5),
    st.integers(-1, 5),
    st.booleans(),
)
def test_token_ids_are_words_of_digits(sequences, end, keep_end):
    flat = np.array([token for tokens in sequences for token in tokens], dtype=np.int64)
    starts = np.cumsum([0, *map(len, sequences)])
    texts = []
    for engine in ENGINES:
        index = engine.TextIndex("none")
        texts.append(index.texts(index.add_tokens(flat, starts, end, keep_end)))
    assert texts[0] == texts[1]
    assert keep_end or end < 0 or all(str(end) not in text.split() for text in texts[0])


@pytest.mark.parametrize("engine", ENGINES)
def test_ngrams_are_interned_by_text(engine):
    index = engine.TextIndex("none")
    index.gram_rows(index.add(["a dog runs"]))
    ids = index.intern_grams(["a dog", "a", "dog runs fast now"])
    names = index.gram_texts()
    assert [names[i] for i in ids.tolist()] == ["a dog", "a", "dog runs fast now"]
    for bad in ("", " ", "a b c d e"):
        with pytest.raises(ValueError, match="one to four words"):
            index.intern_grams([bad])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda index: index.add("one text"), TypeError),
        (lambda index: index.add(["a", 3]), TypeError),
        (lambda index: index.lengths(np.array([5])), IndexError),
        (lambda index: index.gram_rows(np.array([-1])), IndexError),
        (lambda index: index.entries(99), IndexError),
        (lambda index: index.entries(0), IndexError),
        (lambda index: index.add_tokens(np.array([-3]), np.array([0, 1])), IndexError),
        (
            lambda index: index.add_tokens(np.array([1 << 40]), np.array([0, 1])),
            IndexError,
        ),
        (
            lambda index: index.add_tokens(np.array([1, 2]), np.array([0, 3])),
            ValueError,
        ),
        (
            lambda index: index.add_tokens(np.array([1, 2]), np.array([0, 2, 1, 2])),
            ValueError,
        ),
        (lambda index: index.rollback((9, 9, 9, 9)), IndexError),
        (
            lambda index: index.document_frequencies(np.array([7]), np.array([0, 1])),
            IndexError,
        ),
        (
            lambda index: index.document_frequencies(
                np.array([0, 0, 0]), np.array([2**32, 2**62, 2, 2])
            ),
            ValueError,
        ),
        (
            lambda index: index.document_frequencies(
                np.array([0, 0, 0]), np.array([2**40, 2**40 + 1, 3])
            ),
            ValueError,
        ),
        (
            lambda index: index.document_frequencies(
                np.array([0, 0, 0]), np.array([-1, 2])
            ),
            ValueError,
        ),
        (
            lambda index: index.document_frequencies(
                np.array([0, 0, 0]), np.array([0, 4])
            ),
            ValueError,
        ),
        (
            lambda index: index.document_frequencies(
                np.array([0, 0, 0]), np.array([2, 1])
            ),
            ValueError,
        ),
        (
            lambda index: index.document_frequencies(
                np.array([0, 0, 0]), np.array([], dtype=np.int64)
            ),
            ValueError,
        ),
        (
            lambda index: index.document_frequencies(np.array([0]), np.array([0, 1])),
            IndexError,
        ),
    ],
)
def test_bad_input_is_an_exception_with_one_line(engine, call, error):
    index = engine.TextIndex("none")
    index.add(["a dog"])
    with pytest.raises(error) as raised:
        call(index)
    assert "\n" not in str(raised.value)
    assert index.add(["a dog", "b"]).tolist()[0] == 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "fewer", [(0, 0, 1, 0), (0, 0, 9, 0), (3, 0, 0, 0), (0, 9, 0, 0), (1, 9, 9, 0)]
)
def test_a_mark_of_no_moment_is_refused(engine, fewer):
    """Rows that stay would name entries and n-grams that are gone."""
    index = engine.TextIndex("none")
    rows = index.gram_rows(index.add(["a dog", "the dog runs", "b"]))
    mark = index.mark()
    with pytest.raises(IndexError, match="mark of another index"):
        index.rollback(tuple(now - less for now, less in zip(mark, fewer, strict=True)))
    assert index.mark() == mark
    assert (
        index.document_frequencies(rows, np.array([0, 3])).tolist()
        == [1] * index.n_grams
    )
    index.rollback(mark)
    index.rollback((0, mark[1], 0, 0))
    assert (index.n_rows, index.n_grams) == (0, mark[1])


def test_a_mark_of_dropped_rows_is_refused_after_others_took_their_place():
    index = compiled.TextIndex("none")
    empty = index.mark()
    index.gram_rows(index.add(["a dog", "b"]))
    old = index.mark()
    index.rollback(empty)
    index.gram_rows(index.add(["a longer text with many words", "another", "one more"]))
    with pytest.raises(IndexError, match="mark of another index"):
        index.rollback(old)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_unknown_tokenizer_is_named(engine):
    with pytest.raises(ValueError, match="expected 'ptb' or 'none'"):
        engine.TextIndex("moses")


@pytest.mark.parametrize("engine", ENGINES)
def test_white_space_is_that_of_python(engine):
    """Every character below U+3100 between two letters,
    and one of each higher block.
    """
    codes = [*range(1, 0x3100), *range(0x3100, 0x110000, 0x80)]
    index = engine.TextIndex("none")
    texts = [f"a{chr(code)}b" for code in codes]
    lengths = index.lengths(index.gram_rows(index.add(texts))).tolist()
    differing = [
        hex(code)
        for code, text, length in zip(codes, texts, lengths)
        if length != len(text.split())
    ]
    assert not differing


@given(TEXTS)
def test_a_copy_has_the_same_words_and_ngrams(texts):
    index = compiled.TextIndex("none")
    index.gram_rows(index.add(texts))
    copy = pickle.loads(pickle.dumps(index))
    assert (copy.n_words, copy.n_rows, copy.gram_texts()) == (
        index.n_words,
        0,
        index.gram_texts(),
    )
    for both in (index, copy):
        both.gram_rows(both.add([*texts, "a new dog"]))
    assert copy.gram_texts() == index.gram_texts()


@pytest.mark.parametrize(
    "keys",
    [
        [0xFFFFFFFF << 32 | 2],  # the third of two words
        [0xFFFFFFFF << 32 | 0xFFFFFFFF],
        [0 << 32 | 0],  # the first n-gram cannot have a prefix
        [0xFFFFFFFF << 32, 1 << 32],  # the second one is no prefix of itself
        [0xFFFFFFFE << 32],
        [0xFFFFFFFF << 32] * 2,
    ],
)
def test_a_damaged_copy_is_refused(keys):
    index = compiled.TextIndex.__new__(compiled.TextIndex)
    with pytest.raises((ValueError, IndexError)):
        index.__setstate__(("none", ["a", "b"], np.array(keys, dtype=np.uint64)))
