"""The English stemmer: both engines against the library of the Snowball project."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import caption_kernels_reference as reference
from caption_kernels_reference import stemmer

compiled = pytest.importorskip("caption_kernels._compiled")
library = pytest.importorskip("snowballstemmer.english_stemmer")

# Beginnings that differ in their regions, short syllables, double consonants, and in a
# y that is a vowel or a consonant.
BEGINNINGS = """
a at by bed hop hopp hoping sky say yield yogh cry happ kn bl luxur gener commun arsen
conform relat condit trop oper adopt electr homolog log cheer rat falling box sno day
'tis y ay eye ebb inn out cann succ
"""
RULES = (stemmer._STEP_2, stemmer._STEP_3, stemmer._STEP_4)
ENDINGS = """
- s 's 's' ' sses ss us ied ies eed eedly ed edly ing ingly ating bled izing y ly dly e
le ll tion sion
"""
SUFFIXES = ["", *ENDINGS.split(), *(suffix for rule in RULES for suffix in rule)]


def test_words_of_every_rule():
    words = [
        beginning + suffix for beginning in BEGINNINGS.split() for suffix in SUFFIXES
    ]
    words += [
        *stemmer._WHOLE_WORDS,
        *stemmer._COMPLETE,
        *(word + "s" for word in stemmer._COMPLETE),
    ]
    expected = library.EnglishStemmer().stemWords(words)
    assert dict(zip(words, compiled.stem(words))) == dict(zip(words, expected))
    assert dict(zip(words, reference.stem(words))) == dict(zip(words, expected))


@given(
    st.lists(st.text("aeiouybcdlmnstrvg'éıY\0\U0001f415", max_size=9)),
    st.sampled_from(SUFFIXES),
)
def test_any_letters(beginnings, suffix):
    words = [beginning + suffix for beginning in beginnings]
    assert (
        compiled.stem(words)
        == reference.stem(words)
        == library.EnglishStemmer().stemWords(words)
    )


def test_characters_beyond_ascii_stay_where_they_are():
    assert compiled.stem(["éénaïves", "\ud800ing", "犬犬s", "ü"]) == [
        "éénaïv",
        "\ud800ing",
        "犬犬s",
        "ü",
    ]
