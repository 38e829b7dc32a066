"""The four lists of METEOR as they are read, and those that are not of their form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caption_kernels.lexicon.word_lists import read_lists

LISTS = {
    "function_words": b"a\nthe\n",
    "prefixes": b"# before a name\nMr\n\nNo #NUMERIC_ONLY#\n",
    "exceptions": b"go\nwent gone\nbe\nis\n",
    "synsets": b"dog\n7 100\ncat\n100\n",
}


def lists_of(**lists):
    return read_lists(**{**LISTS, **lists})


def test_each_list_has_its_form():
    lists = lists_of()
    assert lists.function_words == [b"a", b"the"]
    assert lists.prefixes == {b"Mr": False, b"No": True}
    assert lists.exceptions == [(b"went", b"go"), (b"gone", b"go"), (b"is", b"be")]
    assert lists.synset_words == [b"dog", b"cat"]
    assert lists.members.tolist() == [0, 0, 1]
    assert lists.synsets.tolist() == [0, 1, 1]
    assert (lists.members.dtype, lists.synsets.dtype) == (np.int64, np.int32)
    assert lists.n_synsets == 2


def test_line_ends_of_windows_and_a_last_line_without_end_are_read():
    texts = {name: text.replace(b"\n", b"\r\n") for name, text in LISTS.items()}
    texts["function_words"] = b"a\r\nthe"
    lists, expected = read_lists(**texts), lists_of()
    assert lists[:4] == expected[:4]
    assert np.array_equal(lists.synsets, expected.synsets)


def test_the_last_line_of_a_word_counts():
    lists = lists_of(synsets=b"dog\n7\ncat\n7\ndog\n9 8\n")
    assert lists.synset_words == [b"dog", b"cat"]
    assert lists.members.tolist() == [0, 0, 1]
    assert lists.synsets.tolist() == [1, 2, 0]


def test_a_word_twice_in_a_synset_counts_once():
    lists = lists_of(synsets=b"dog\n7 7 3 7\n")
    assert (lists.members.tolist(), lists.synsets.tolist()) == ([0, 0], [0, 1])


def test_a_word_may_have_no_synset():
    lists = lists_of(synsets=b"dog\n\n")
    assert lists.synset_words == [b"dog"]
    assert (lists.members.size, lists.n_synsets) == (0, 0)


@pytest.mark.parametrize(
    "lists",
    [
        {"synsets": b"dog\n"},
        {"synsets": b"dog\nx7\n"},
        {"synsets": b"dog\n-7\n"},
        {"synsets": b"dog\n" + b"9" * 19 + b"\n"},
        {"exceptions": b"go\nwent\nbe\n"},
        {"exceptions": b""},
        {"function_words": b"\xff\n"},
        {"prefixes": b"Mr\xe9\n"},
    ],
)
def test_a_list_of_another_form_is_refused(lists):
    with pytest.raises(ValueError):
        lists_of(**lists)


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=3),
        st.lists(st.integers(0, 10**18 - 1), max_size=4),
        min_size=1,
        max_size=6,
    )
)
def test_memberships_are_those_of_the_list(sets):
    """Numbered from 0 in the order of the numbers, ascending for each word."""
    text = "".join(f"{word}\n{' '.join(map(str, n))}\n" for word, n in sets.items())
    lists = lists_of(synsets=text.encode())
    numbers = sorted({number for listed in sets.values() for number in listed})
    assert lists.n_synsets == len(numbers)
    assert list(zip(lists.members.tolist(), lists.synsets.tolist())) == [
        (k, numbers.index(number))
        for k, listed in enumerate(sets.values())
        for number in sorted(set(listed))
    ]
