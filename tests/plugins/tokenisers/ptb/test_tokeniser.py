"""The Python tokeniser against golden values and its own scanner, and on odd characters."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.tokenisers.ptb import tokeniser as ptb


@pytest.mark.parametrize(
    "caption, tokens",
    [
        ("A man's dog can't jump!", "a man 's dog ca n't jump"),
        ("He cannot; they're gonna", "he can not they 're gon na"),
        ("'Tis o'clock, ma'am", "'t is o'clock ma'am"),
        ("the 1990's rock'n'roll", "the 1990 's rock 'n' roll"),
        ("a (small) [red] {cup}", "a -lrb- small -rrb- -lsb- red -rsb- -lcb- cup -rcb-"),
        ("well-dressed man--woman … a", "well-dressed man woman a"),
        ("$20 and 50% £5 €5 ½", "$ 20 and 50 % # 5 $ 5 1/2"),
        ("3 1/2 pizzas at 5:54pm", "3\u00a01/2 pizzas at 5:54 pm"),
        ("call (212) 555-1234 now", "call -lrb-212-rrb-\u00a0555-1234 now"),
        ("AT&T, C++, w/o and/or", "at&t c++ w/o and/or"),
        ("see http://a.org/x?y=1, me@x.org @user #tag", "see http://a.org/x?y=1 me@x.org @user #tag"),
        ("St. Mary in Washington D.C.", "st. mary in washington d.c."),
        ("the letter S.", "the letter s."),
        ("he met Smith Inc. The end", "he met smith inc. the end"),
        ("Acme Co. Ltd. of Rome", "acme co. ltd. of rome"),
        ("No. 5 and no. five", "no. 5 and no five"),
        ("a dog. . . barks", "a dog barks"),
        ("İstanbul Łódź café", "i̇stanbul łódź café"),
        ("a 🙂 dog\u200b\u00adx", "a dog x"),
        ("", ""),
        ("! ? .", ""),
        ("🙂🙂", ""),
        ("\x00", ""),
    ],
)
def test_tokens(caption, tokens):
    assert ptb.tokenize([caption]) == [tokens]


@pytest.mark.parametrize("line_end", ["\n", "\r", "\r\n", "\v", "\f", "\u2028", "\u2029"])
def test_line_ends_inside_a_caption_are_blanks(line_end):
    assert ptb.tokenize([f"a{line_end}b", "c"]) == ["a b", "c"]


def test_golden(golden):
    with gzip.open(golden / "coco/ptb_golden.jsonl.gz", "rt", encoding="utf-8") as lines:
        golden = [json.loads(line) for line in lines]
    captions = [item["caption"] for item in golden]
    assert ptb.tokens_raw(captions) == [item["tokens_raw"] for item in golden]
    assert ptb.tokenize(captions) == [item["tokenized"] for item in golden]


_ODD = """ ||  |. |.|,|-|'|"|(|)|<|>|&amp;|1|212|555-1234|1/2|U.S.|S.|Inc.|No.|The|A|dog|n't|'s|\t|\u00a0|\u2028|é|\u00ad|🙂"""
_PIECES = st.sampled_from([*_ODD.split("|"), "a@b.c", "www.x.org", ":)", "$", "…", "–", "|"])


@given(st.lists(_PIECES, max_size=12).map("".join))
def test_splitting_at_blanks_changes_no_token(caption):
    scanned = list(ptb.scan(ptb.one_line(caption)))
    assert ptb.tokens_raw([caption]) == [scanned]
    assert ptb.tokenize([caption]) == [" ".join(token for token in scanned if token not in ptb.PUNCTUATION)]


_ABBREVIATIONS = [
    "St.", "Inc.", "Co.", "Ltd.", "Corp.", "No.", "Nos.", "p.", "vs.", "etc.", "U.S.", "U.S", "D.C.", "t.v.",
    "a.m.", "S.", "s.", "I.", "Mr.", "Mrs.", "Jr.", "Sr.", "Ph.D.", "e.g.", "Jan.", "sun.", "Mon.", "fig.",
    "Fig.", "ave.", "ft.", "in.", "Pty.", "Lim.", "Col.", "al.", "art.", "est.", "approx.", "non-U.S.",
    "U.S.-U.K.", "x-S.", "a-co.", "a.b.", "www.x.org.", "b.pdf.",
]  # fmt: skip
_FOLLOWERS = [
    "The", "In", "She", "the", "dog", "Mr.", "5", "v", "(a)", "'tis", "can't", "cannot", "gonna.", "gimme!",
    "Wanna?", "'n'", "n't", "'s", "'90s", "'95", "o'clock,", ":)", ":D", ";", "--", "-", "&", "&amp;", "AT&T",
    "w/o", "and/or/not", '"so"', "''", "S.", "a.",
]  # fmt: skip


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([*_ABBREVIATIONS, *_FOLLOWERS]), max_size=6),
    st.sampled_from([" ", "  ", ""]),
    st.text(" .!", max_size=2),
)
def test_cached_pieces_equal_the_scanner(words, between, end):
    caption = between.join(words) + end
    tokens = [token for token in ptb.scan(ptb.one_line(caption)) if token not in ptb.PUNCTUATION]
    assert ptb.tokenize([caption, caption]) == [" ".join(tokens)] * 2


@settings(deadline=None)
@given(st.text("abAS tnN,;:!?'\"()&/-", max_size=12), st.sampled_from(["", "."]))
def test_plain_captions_equal_the_scanner(caption, end):
    tokens = [token for token in ptb.scan(caption + end) if token not in ptb.PUNCTUATION]
    assert ptb.tokenize([caption + end]) == [" ".join(tokens)]


@given(st.lists(st.text(max_size=30), max_size=6))
def test_each_caption_gives_one_line(captions):
    tokenized = ptb.tokenize(captions)
    assert len(tokenized) == len(captions)
    assert not any("\n" in line or "  " in line for line in tokenized)


def test_ten_thousand_words():
    assert ptb.tokenize(["a dog runs. " * 10_000])[0].count("dog") == 10_000


def test_clearing_the_caches_changes_no_token():
    captions = ["A man's dog can't jump.", "the U.S. Army"]
    before = ptb.tokenize(captions)
    ptb.forget()
    assert not ptb._PLAIN_PIECES
    assert ptb.tokenize(captions) == before


def test_a_full_cache_of_pieces_is_cleared(monkeypatch):
    ptb.forget()
    monkeypatch.setattr(ptb, "_MAX_PIECES", 2)
    for caption, expected in (("one two three", 3), ("four", 1), ("five six", 3)):
        assert ptb.tokenize([caption]) == [caption]
        assert len(ptb._PLAIN_PIECES) == expected
