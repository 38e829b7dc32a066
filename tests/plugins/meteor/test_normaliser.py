"""Words of a text: punctuation rules, golden words of the jar, plain words."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.meteor.lexicon.sources import jar_prefixes
from harness.plugins.meteor.normaliser import is_plain, words

PREFIXES = {"Mr": False, "No": True}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \t\r\n ", ""),
        ("A man, a plan.", "a man , a plan ."),
        ("1,000 men,2 of 3,them", "1,000 men , 2 of 3 , them"),
        ("a man's dog", "a man 's dog"),
        ("the dogs' bowls", "the dogs ' bowls"),
        ("the 1980's", "the 1980 's"),
        ("rock-'n'-roll", "rock- ' n ' -roll"),
        ("a well-known man - standing", "a well known man - standing"),
        ("the U.S. flag", "the us flag"),
        ("Mr. Smith", "mr. smith"),
        ("Smith. Then", "smith . then"),
        ("Smith. then", "smith. then"),
        ("No. 5", "no. 5"),
        ("No. Five", "no . five"),
        ("wait... what", "wait ... what"),
        ("'quoted' ''twice'' \u201cand\u201d", '\' quoted \' " twice " " and "'),
        ("a|||b", "a | | | b"),
        ("nul\x00here", "nul \x00 here"),
        ("line\u2028break", "line \u2028 break"),
        ("no\u00a0break", "no break"),
        ("🐶🐶", "🐶 🐶"),
        ("half \ud800 pair", "half \ufffd pair"),
        ("DOTMULTI", "."),
    ],
)
def test_punctuation_rules(text, expected):
    assert words(text, PREFIXES) == [word for word in expected.split(" ") if word]


def test_golden_words(golden):
    prefixes = jar_prefixes()
    with gzip.open(golden / "meteor/meteor_golden.jsonl.gz", "rt", encoding="utf-8") as lines:
        items = [item for item in map(json.loads, lines) if "hyp_tokens" in item]
    assert len(items) > 1000
    for item in items:
        assert words(item["hyp"], prefixes) == item["hyp_tokens"]
        assert words(item["refs"][0], prefixes) == item["ref_tokens"]


@given(st.text())
def test_words_are_not_empty_and_contain_no_blanks(text):
    assert all(word and not set(word) & set(" \t\n\r\f") for word in words(text, PREFIXES))


@given(st.text(alphabet="abc XYZ 019"))
def test_plain_text_is_split_at_blanks(text):
    assert words(text, PREFIXES) == text.lower().split()


@given(st.lists(st.text("aZ09DOTMULI", min_size=1, max_size=8).filter(is_plain)))
def test_plain_words_are_only_changed_to_lower_case(plain):
    assert words(" ".join(plain), PREFIXES) == [word.lower() for word in plain]


@pytest.mark.parametrize("word", ["", "a b", "é", "man's", "DOTMULTI", "3,5"])
def test_words_that_the_rules_may_change_are_not_plain(word):
    assert not is_plain(word)
