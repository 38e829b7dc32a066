"""Rules of the tokeniser: the longest match with its context wins, and its first group is the token."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.tokenisers.ptb import rules
from harness.plugins.tokenisers.ptb.rules import ABBREVIATION, TABLE, longest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cannot", (6, 3, "can")),  # "not" is context
        ("can't", (5, 2, "ca")),
        ("dog's", (5, 3, "dog")),
        ("dog ", (3, 3, "dog")),
        ("well-dressed man", (12, 12, "well-dressed")),
        ("3 1/2 ft", (5, 5, "3\u00a01/2")),
        ("(212) 555-1234", (14, 14, "-LRB-212-RRB-\u00a0555-1234")),
        ("$20", (1, 1, "$")),
        ("\u20ac5", (1, 1, "$")),
        ("\u00bd cup", (1, 1, "1/2")),
        ("----", (4, 4, "--")),
        ("-----", (5, 5, "-----")),
        ('"So', (2, 1, "``")),
        ('" ', (1, 1, "''")),
        ("[a]", (1, 1, "-LSB-")),
        ("so\u00adfter", (7, 7, "softer")),
        ("Inc. The", (6, 3, "Inc.")),  # the stop is also the next token
        ("Inc. the", (6, 4, "Inc.")),
        ("Mr. The", (3, 3, "Mr.")),
        ("No. 5", (5, 3, "No.")),
        ("No. a", (2, 2, "No")),
        ("   a", (3, 3, None)),
        ("\U0001f642a", (1, 1, None)),  # no rule
    ],
)
def test_the_longest_match_gives_the_token(text, expected):
    assert longest(text, 0) == expected


def test_matching_starts_at_the_position():
    assert longest("can't", 2) == (5, 5, "n't")


PIECES = st.sampled_from(
    ["can", "not", "n't", "'s", "U.S.", "Inc.", ".", "-", "1/2", "212", " ", "&amp;", "<b>", ":)", "a@b.c", "\u00e9"]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=6).map("".join), st.text(max_size=3))
def test_every_position_advances_and_context_follows_the_token(text, end):
    text, position = text + end, 0
    while position < len(text):
        match_end, token_end, _ = longest(text, position)
        assert position < token_end <= match_end
        position = token_end


@settings(deadline=None)
@given(st.lists(PIECES.filter(str.isascii), min_size=1, max_size=6).map("".join))
def test_the_rules_for_ascii_texts_equal_all_rules(text):
    results = [longest(text, position) for position in range(len(text))]
    with pytest.MonkeyPatch.context() as patch:
        every_rule = rules._rules(False)
        patch.setattr(rules, "_rules", lambda ascii_only: every_rule)
        assert [longest(text, position) for position in range(len(text))] == results


def test_each_rule_has_a_group_and_abbreviations_have_no_stop():
    assert all("(" in pattern for pattern, _ in TABLE)
    assert [bool(ABBREVIATION.fullmatch(word)) for word in ("Inc", "mr", "St", "S", "dog", "Inc.")] == [
        True, True, True, True, False, False,
    ]  # fmt: skip
