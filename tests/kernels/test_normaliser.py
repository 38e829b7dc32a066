"""Words of a text: punctuation rules, golden words of the jar, plain words,
Java's hash.
"""

from __future__ import annotations

import gzip
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import caption_kernels_reference as reference
from caption_kernels.lexicon.file_format import finish_lexicon
from caption_kernels.lexicon.installed import MissingSources, build, find_sources
from caption_kernels.lexicon.word_lists import read_lists
from caption_kernels_reference.meteor.java_hash import java_hash
from caption_kernels_reference.meteor.normaliser import (
    _PLACEHOLDER,
    _without_runs_of_dots,
)

compiled = pytest.importorskip("caption_kernels._compiled")
ENGINES = [compiled, reference]
PIECES = [
    ".",
    "..",
    "...",
    ",",
    "'",
    "''",
    "-",
    "--",
    "`",
    "\u2018",
    "\u2019",
    "\u201c",
    "\u201d",
    "\u2013",
    "DOTMULTI",
    "DOTMULTI.",
    "DOT",
    "MULTI",
    "s",
    "'s",
    "S",
    "a",
    "Z",
    "0",
    "9",
    "Mr",
    "Mr.",
    "No.",
    "5",
    "U.S.",
    "3,5",
    "x,y",
    "é",
    "ß",
    "İ",
    "Σ",
    "ΑΣ",
    "\u017e",
    "\u017f",
    "\u0400",
    "\u0528",
    "\ua640",
    "\u1d80",
    "×",
    "🐶",
    "日",
    "\ud800",
    "\ufffd",
    "<",
    '"',
    "(",
    "_",
    "\u0301",
    "\u00ad",
    "𐐀",
]
BLANKS = [
    *" \t\n\r\f\x0b\x00\x1c\x85",
    "  ",
    "\u00a0",
    "\u2000",
    "\u200b",
    "\u2028",
    "\u202f",
    "\u3000",
]
texts = (
    st.lists(st.sampled_from([*PIECES, *BLANKS]), max_size=14).map("".join)
    | st.text()
    | st.text(".D OTMULTI.,'-a1")
)


@pytest.fixture(scope="module")
def lexicons():
    """A lexicon with two prefixes, of which one is a function word too,
    for each engine.
    """
    table = compiled.ParaphraseReader()
    table.feed(b"1\na\nb\n")
    data = finish_lexicon(
        table,
        read_lists(b"a\nMr\n", b"Mr\nNo #NUMERIC_ONLY#\n", b"go\nwent\n", b"go\n7\n"),
    )
    return {compiled: compiled.Lexicon(data), reference: reference.Lexicon(data)}


@pytest.fixture(params=ENGINES, ids=["compiled", "readable"])
def normalise(request, lexicons):
    return lambda text: request.param.normalise([text], lexicons[request.param])[0]


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
        ("DOTDOTMULTI", ".."),
        ("DOT..DOTMULTI.x", "dot .. ..x"),
    ],
)
def test_punctuation_rules(normalise, text, expected):
    assert normalise(text) == [word for word in expected.split(" ") if word]


@pytest.mark.slow
def test_golden_words(golden):
    try:
        lexicon = compiled.Lexicon(build(find_sources()))
    except MissingSources as error:
        pytest.skip(str(error))
    with gzip.open(
        golden / "meteor/meteor_golden.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        items = [item for item in map(json.loads, lines) if "hyp_tokens" in item]
    assert len(items) > 1000
    assert compiled.normalise([item["hyp"] for item in items], lexicon) == [
        item["hyp_tokens"] for item in items
    ]
    assert compiled.normalise([item["refs"][0] for item in items], lexicon) == [
        item["ref_tokens"] for item in items
    ]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(texts, max_size=8))
def test_both_engines_give_the_same_words(lexicons, sample):
    ours, theirs = (engine.normalise(sample, lexicons[engine]) for engine in ENGINES)
    assert ours == theirs
    assert all(
        word and not set(word) & set(" \t\n\r\f") for words in ours for word in words
    )


@settings(deadline=None)
@given(st.text(alphabet="abc XYZ 019"))
def test_plain_text_is_split_at_blanks(lexicons, text):
    assert compiled.normalise([text], lexicons[compiled]) == [text.lower().split()]


@settings(deadline=None)
@given(
    st.lists(
        st.text("aZ09DOTMULI", min_size=1, max_size=8).filter(
            lambda word: _PLACEHOLDER not in word
        )
    )
)
def test_plain_words_are_only_changed_to_lower_case(lexicons, plain):
    assert compiled.normalise([" ".join(plain)], lexicons[compiled]) == [
        [word.lower() for word in plain]
    ]


def jar_steps(text):
    """Return the text after the jar's own steps,
    which are repeated until nothing changes.
    """
    if ".." in text:
        text = re.sub(r"\.(\.+)", r" DOTMULTI\1", text)
    while "DOTMULTI." in text:
        text = re.sub(r"DOTMULTI\.([^.])", r"DOTDOTMULTI \1", text)
        text = text.replace("DOTMULTI.", "DOTDOTMULTI")
    return text


@pytest.mark.slow
@settings(max_examples=500)
@given(
    st.lists(
        st.sampled_from(
            [".", "..", "...", "DOTMULTI", "DOTMULTI.", "DOT", "D", "x", " "]
        ),
        max_size=9,
    ).map("".join)
)
def test_runs_of_dots_are_hidden_as_by_the_repeated_steps_of_the_jar(middle):
    assert _without_runs_of_dots(f" {middle} ") == jar_steps(f" {middle} ")


def test_hostile_texts_take_linear_time(normalise):
    for text in (
        "." * 10**5,
        "DOT" * 10**5,
        "DOTMULTI." * 10**4,
        "," * 10**5,
        "'" * 10**5,
        "\ud800" * 10**5,
        "a.b-'" * 10**4,
    ):
        assert len(normalise(text)) <= len(text)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("wrong", ["a dog", [1], None])
def test_other_types_are_refused(lexicons, engine, wrong):
    with pytest.raises(TypeError):
        engine.normalise(wrong, lexicons[engine])
    with pytest.raises(TypeError):
        compiled.normalise(["a"], None)


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
def test_hash_of_java(word, value):
    assert java_hash(word) == value


@given(st.one_of(st.text(), st.text("ab", min_size=60, max_size=70)))
def test_hash_is_the_polynomial_of_the_code_units(word):
    data = word.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(data[k : k + 2], "little") for k in range(0, len(data), 2)]
    value = sum(unit * 31 ** (len(units) - 1 - k) for k, unit in enumerate(units))
    assert java_hash(word) == (value + (1 << 31)) % (1 << 32) - (1 << 31)
    assert java_hash("em") == java_hash("aé")
