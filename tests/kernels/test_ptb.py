"""The compiled PTB tokeniser against the readable one,
on texts made of the rules' own characters.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

compiled = pytest.importorskip("caption_kernels._compiled")
sys.path.append(str(Path(__file__).resolve().parents[2] / "kernels/generators"))

from matcher_programs import Characters, Choice, Nodes, Repeat, parse  # noqa: E402

from caption_kernels_reference.ptb import rules, tokeniser  # noqa: E402
from caption_kernels_reference.tokenizer import Tokenizer as Reference  # noqa: E402

TOKENIZER = compiled.Tokenizer()

PIECES = """
can cannot CANNOT gonna 'tis n't 's 'S 're 've 'n' o'clock ma'am d'Or l'été c'mon
nor'easter 'cause '80s '95 dunkin' y'all cont'd
Inc. inc. Ph.D. Mr. St. Wash. U.S. U.S U.S.-U.K. a.m. S. No. no. Co. Ltd. pty. The the
She A A's Smith-U.S. non-U.S. b.pdf. x.tar
212 555-1234 (212) +1 1/2 1\\/2 3/4/05 3.14 1,000 5:54pm 2010's $5 US$ #1 # @user @ #tag
½ ⅔ ¼ £ € ¢ ₤ ² ⁺² ₁ ٣ ٠٫٥ １
- -- --- ---- ----- – — well-dressed and/or a_b _ __ . .. ... .... …  . . . , ; : ! ? !?
?! '
'' ` `` " “ ” ‘ ’ ‛ « » ‹ › \u0091 \u0092 \u0093
( ) [ ] { } < > << >> <b> </b> <a href="x"> <!-- <?x?> <br/> :) :-( ;P =] >:[ ^_^ (^^)
(._.) <.< \\* * ** = / \\ | ~ ^ % & + ++
&amp; &AMP; &lt; &gt; &quot; &apos; &nbsp; &mdash; &odq; &#1; &eacute; AT&T AT&amp;T R+D
S&P-500 C++ c# f#
http://a.org/x?y=1 HTTPS://A.B www.x.org www.x.org. a.com/b me@x.org <me@x.org> @@ a@b@c
é ß É ΑΣ Σ ς Σ.Σ İ ı ſ K Å ǅ ῼ ﬁ Ⅷ Ⓐ 漢字 あ ｱ אב عربي ไทย हिन्दी ́ ʰ \u00ad so\u00adfter
\u00ad\u00ad
¡ © → ★ 、 。 ！ ＠ ＃ ؋ \ufeff \u200b \u0085 \x00 \x7f
🙂 𐐀 𝟎 \ud800 \udc00 \ud83d\udc36 a\ud800 \ufffd \uffff \U0010ffff
"""
"""Texts that the rules know, and characters that they do not know."""
BLANKS = [
    " ",
    " ",
    " ",
    "  ",
    "",
    "",
    "\n",
    "\t",
    "\u00a0",
    "\u2003",
    "\u3000",
    "\u2028",
    "\r\n",
    "\v",
    "\x1c",
    "\u200b",
]
ODD = [
    *re.split("[ \n]+", PIECES),
    *BLANKS,
    "\u1680",
    "\u0130",
    "\u2126",
    "\u0345",
    "\u02bc",
    "\ue000",
    "\u20bd",
]


@cache
def programs() -> list[Nodes]:
    """Return each rule as a tree of sets, repeats and choices."""
    return [parse(rules._pattern(rule, ())) for rule, _ in rules.TABLE]


def text_of(nodes: Nodes, rng: random.Random) -> str:
    """Return a random text that a rule matches, or nearly so:
    what it looks ahead at is left out.
    """
    parts = []
    for node in nodes:
        if isinstance(node, Characters) and not node.look:
            first, last = rng.choice(node.allowed)
            if len(node.allowed) > 9 and rng.random() < 0.7:
                first, last = rng.choice(
                    [span for span in node.allowed if span[0] < 256]
                )
            parts.append(chr(rng.randint(first, min(last, first + 5000))))
        elif isinstance(node, Repeat):
            count = node.least + int(rng.expovariate(1))
            parts += [text_of(node.body, rng) for _ in range(min(count, node.most))]
        elif isinstance(node, Choice):
            parts.append(text_of(rng.choice(node.alternatives), rng))
    return "".join(parts)


def damaged(text: str, rng: random.Random) -> str:
    """Return a text in which a place was cut, doubled, replaced or changed in case."""
    a, b = sorted(rng.randrange(len(text) + 1) for _ in "ab")
    inner = rng.choice(
        ["", text[a:b] * 2, rng.choice(ODD), text[a:b].swapcase(), text[a:b][::-1]]
    )
    return text[:a] + inner + text[b:]


def random_text(rng: random.Random) -> str:
    """Return a text of matches of the rules, odd pieces and what joins them."""
    parts = []
    for _ in range(rng.randint(1, 6)):
        part = (
            rng.choice(ODD)
            if rng.random() < 0.4
            else text_of(rng.choice(programs()), rng)
        )
        parts += [
            damaged(part, rng) if rng.random() < 0.3 else part,
            rng.choice(BLANKS),
        ]
    return "".join(parts)


def assert_equal(texts: list[str]) -> None:
    """Compare both versions, and both ways of calling each."""
    assert TOKENIZER.tokenize(texts) == tokeniser.tokenize(texts)
    assert TOKENIZER.tokens_raw(texts) == tokeniser.tokens_raw(texts)


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from(ODD), max_size=8).map("".join), max_size=3))
@settings(deadline=None, max_examples=200)
def test_odd_pieces(texts):
    assert_equal(texts)


@pytest.mark.slow
@given(
    st.lists(
        st.integers(0, 2**32).map(lambda seed: random_text(random.Random(seed))),
        max_size=4,
    )
)
@settings(deadline=None, max_examples=200)
def test_texts_of_the_rules(texts):
    assert_equal(texts)


@given(st.text(st.characters(exclude_categories=()), max_size=20))
@settings(deadline=None, max_examples=200)
def test_any_characters(text):
    assert_equal([text])


@pytest.mark.slow
def test_many_texts_of_the_rules():
    rng = random.Random(20260)
    for _ in range(100):
        assert_equal([random_text(rng) for _ in range(1000)])


@pytest.mark.slow
def test_lower_case_of_every_character():
    assert_equal(
        [
            "http://x" + "z".join(map(chr, range(start, start + 64)))
            for start in range(0x80, 0x110000, 64)
        ]
    )


@pytest.mark.slow
def test_letters_at_the_end_of_a_word():
    """A capital sigma has two lower-case letters,
    which depend on the characters around it.
    """
    beside = "aA1.'\u00ad\u02b0\u0345\u0301\u03a3 :\u2160\u0130"
    assert_equal(
        [
            f"http://{a}{b}\u03a3{c}{d}z"
            for a in beside
            for b in beside
            for c in beside
            for d in beside
        ]
    )


@pytest.mark.slow
def test_each_character_in_a_word():
    for around in ("{}", "a{}b", "A {}1"):
        assert_equal(
            [
                around.format(chr(code))
                for code in (
                    *range(0x3100),
                    *range(0xA000, 0xB000),
                    *range(0xD7FF, 0x11000),
                    0x1D7CE,
                )
            ]
        )


def test_golden_captions(golden):
    with gzip.open(
        golden / "coco/ptb_golden.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        rows = [json.loads(line) for line in lines]
    captions = [row["caption"] for row in rows]
    assert TOKENIZER.tokens_raw(captions) == [row["tokens_raw"] for row in rows]
    assert TOKENIZER.tokenize(captions) == [row["tokenized"] for row in rows]


@pytest.mark.large_sets("coco_karpathy_test/references.jsonl.gz")
def test_real_captions(shared):
    with gzip.open(
        shared / "data/coco_karpathy_test/references.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        assert_equal(
            [text for line in lines for text in json.loads(line)["references"]][:5000]
        )


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n",
        "a" * 100_000,
        "a dog. " * 10_000,
        "'" * 3000,
        "<a " * 1000,
        "a@" * 2000,
        "1." * 5000,
        "Σ" * 3000,
        "St. " * 3000,
    ],
)
def test_long_and_empty_texts(text):
    assert_equal([text])


def test_pieces_longer_than_the_memo_keeps():
    word = "a" * 70
    assert TOKENIZER.tokenize([f"{word} {word}."] * 2) == [f"{word} {word}"] * 2


def test_the_memo_of_one_kind_of_tokens_is_not_that_of_the_other():
    own = compiled.Tokenizer()
    assert own.tokens_raw(["Stop."]) == [["stop", "."]]
    assert own.tokenize(["Stop."]) == ["stop"]
    assert own.tokens_raw(["Stop."]) == [["stop", "."]]


@pytest.mark.parametrize("tokenizer", [TOKENIZER, Reference()])
@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("a dog", "expected a sequence of texts, found one str"),
        (["a", 1], "expected texts of type str, found int"),
        ([None], "NoneType"),
    ],
)
def test_anything_but_texts_is_an_error_of_one_line(tokenizer, texts, message):
    for method in (tokenizer.tokenize, tokenizer.tokens_raw):
        with pytest.raises(TypeError, match=message):
            method(texts)


def test_threads_share_a_tokenizer():
    texts = [f"a dog's no. {k} (x{k}) can't, can it?" for k in range(2000)]
    expected = tokeniser.tokenize(texts)
    with ThreadPoolExecutor(4) as pool:
        assert all(
            result == expected for result in pool.map(TOKENIZER.tokenize, [texts] * 8)
        )


def test_a_company_before_limited_in_any_case():
    texts = [
        f"{word}. {after}"
        for word in ("pTY", "PtE", "cO", "pty", "CO")
        for after in ("LIm", "Ltd.", "b")
    ]
    assert_equal(texts)
    assert TOKENIZER.tokens_raw(["pTY. LIm"]) == [["pty.", "lim"]]
