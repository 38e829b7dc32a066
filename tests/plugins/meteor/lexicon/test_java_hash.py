"""The hash equals the definition of java.lang.String.hashCode."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.meteor.lexicon.java_hash import java_hash


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("polygenelubricants", -(1 << 31)),
        ("é", 233),
        ("🐶", 0xD83D * 31 + 0xDC36),
    ],
)
def test_values_of_java(word, value):
    assert java_hash(word) == value


@given(st.one_of(st.text(), st.text("ab", min_size=60, max_size=70)))
def test_hash_is_the_polynomial_of_the_code_units(word):
    data = word.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(data[k : k + 2], "little") for k in range(0, len(data), 2)]
    value = sum(unit * 31 ** (len(units) - 1 - k) for k, unit in enumerate(units))
    assert java_hash(word) == (value + (1 << 31)) % (1 << 32) - (1 << 31)


def test_different_words_may_have_equal_hashes():
    assert java_hash("em") == java_hash("aé")
