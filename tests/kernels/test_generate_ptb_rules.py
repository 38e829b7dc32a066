"""The generator of the tokeniser's tables: programs match as ``re`` does, and the
committed files are the generated ones.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
sys.path.append(str(KERNELS / "generators"))

import generate_ptb_rules  # noqa: E402
from matcher_programs import (  # noqa: E402
    EVERYTHING,
    LAST,
    NO_LIMIT,
    OPERATIONS,
    Characters,
    Choice,
    Nodes,
    Repeat,
    Tables,
    complement,
    first_characters,
    intersection,
    needed,
    parse,
    union,
)

from caption_kernels_reference.ptb import rules  # noqa: E402
from caption_kernels_reference.ptb.characters import (  # noqa: E402
    DIGITS,
    LETTERS,
    MARKS,
    SYMBOLS,
)


def run(tables: Tables, address: int, text: str, start: int) -> tuple[int, int] | None:
    """Return the ends of match and token: the matcher of ``core/ptb_matcher.cpp`` in
    Python.
    """
    sets = list(tables.sets)
    retries: list[tuple[int, int, int]] = []
    at = start
    token_end = -1

    def fits(number: int, place: int) -> bool:
        return place < len(text) and any(
            first <= ord(text[place]) <= last for first, last in sets[number]
        )

    while True:
        name, a, b, c = (
            OPERATIONS[tables.code[address]],
            *(*tables.code[address + 1 : address + 4], 0, 0, 0)[:3],
        )
        succeeds = True
        if name == "MATCH":
            if name == "MATCH" or at == len(text):
                return at, token_end
            succeeds = False
        elif name == "CHARACTER":
            succeeds = text[at : at + 1] == chr(a)
            at = at + 1
            address = address + 2
        elif name == "SET":
            succeeds = fits(a, at)
            at = at + 1
            address = address + 2
        elif name == "LOOK":
            succeeds = fits(a, at)
            address = address + 2
        elif name in ("RUN", "WHOLE_RUN"):
            end = at
            while end - at < (len(text) if c == NO_LIMIT else c) and fits(a, end):
                end += 1
            succeeds = end >= at + b
            address = address + 4
            if name == "RUN":
                retries += [(address, place, 0) for place in range(at + b, end)]
            at = end
        elif name == "TRY":
            if fits(a, at):
                retries.append((b, at, 0))
            address = address + 3 if fits(a, at) else b
        elif name == "UNLESS":
            address = address + 3 if fits(a, at) else b
        elif name == "PUSH":
            retries.append((a, at, 0))
            address += 2
        elif name == "JUMP":
            address = a
        else:
            token_end = at
            address = address + 1
        if not succeeds:
            if not retries:
                return None
            address, at, _ = retries.pop()


atoms = st.sampled_from(
    ["a", "b", "[ab]", "[^a]", "(?i:k)", "(?i:s)", r"\.", "[\\s\\S]", "(?=[ab])a"]
)


def larger(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    counts = st.sampled_from(["", "?", "{2}", "{1,2}", "{0,2}"])
    return st.one_of(
        st.lists(smaller, min_size=1, max_size=3).map("".join),
        st.lists(smaller, min_size=2, max_size=5).map(
            lambda parts: f"(?:{'|'.join(parts)})"
        ),
        st.builds("(?:{}){}".format, smaller, counts),
        st.builds("(?:x{}){}".format, smaller, st.sampled_from(["*", "+", "{2,}"])),
        st.builds(
            "{}{}".format,
            st.sampled_from(["a", "[ab]", "[^.]"]),
            st.sampled_from(["*", "+", "{1,3}", "{2,}"]),
        ),
    )


expressions = st.recursive(atoms, larger, max_leaves=10)


@pytest.mark.slow
@given(
    expressions,
    expressions,
    st.lists(st.text("abxkKsS.\u017f\u212a", max_size=10), min_size=1, max_size=8),
)
@example("(?:a|ab)", "c", ["abc"])
@example("(?:ab|(?i:k)|a|[ab]x)", "x?", ["ax", "abx", "\u212a"])
@settings(deadline=None, max_examples=200)
def test_programs_match_as_python_does(token, context, texts):
    pattern = f"({token}){context}"
    try:
        tables = Tables()
        address = tables.program(parse(pattern), "MATCH")
    except ValueError as error:
        assert "may be empty" in str(error)  # noqa: PT017
        return
    for text in texts:
        match = re.compile(pattern).match(text)
        assert run(tables, address, text, 0) == (match and (match.end(), match.end(1)))


@pytest.mark.slow
@given(expressions, st.lists(st.text("abxkKsS.", max_size=6), min_size=1, max_size=8))
@settings(deadline=None, max_examples=200)
def test_first_and_needed_characters_are_in_every_match(pattern, texts):
    nodes = parse(pattern)
    first = first_characters(nodes)
    need = needed(nodes)
    for text in texts:
        if re.match(pattern, text):
            following = [*map(ord, text[:1])]
            assert first == EVERYTHING or any(
                a <= c <= b for c in following for a, b in first
            )
            assert need == EVERYTHING or any(
                a <= ord(c) <= b for c in text for a, b in need
            )


def ascii_only(nodes: Nodes) -> list[object]:
    """Return a tree whose sets have no character outside ASCII."""
    result: list[object] = []
    for node in nodes:
        if isinstance(node, Characters):
            result.append((intersection(node.allowed, ((0, 127),)), node.look))
        elif isinstance(node, Repeat):
            result.append((ascii_only(node.body), node.least, node.most))
        elif isinstance(node, Choice):
            result.append([ascii_only(branch) for branch in node.alternatives])
        else:
            result.append(node)
    return result


@pytest.mark.parametrize("rule", [pattern for pattern, _ in rules.TABLE])
def test_the_rules_for_ascii_texts_are_the_same_rules(rule):
    short = parse(rules._pattern(rule, (LETTERS, MARKS, DIGITS, SYMBOLS)))
    assert ascii_only(short) == ascii_only(parse(rules._pattern(rule, ())))


ranges = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 5)).map(
        lambda pair: (pair[0], sum(pair))
    )
).map(lambda r: union([tuple(r)]))


@given(ranges, ranges)
def test_sets(a, b):
    members = [
        set().union(*(range(first, last + 1) for first, last in set_))
        for set_ in (a, b)
    ]
    both = intersection(a, b)
    assert (
        set().union(*(range(first, last + 1) for first, last in both))
        == members[0] & members[1]
    )
    assert complement(complement(a)) == a
    assert complement(()) == ((0, LAST),)


@pytest.mark.parametrize(
    "pattern",
    [
        "a*?",
        "(?!a)b",
        "(?=ab)a",
        "^a",
        "(?-i:a)",
        "(?i:[^a])",
        r"\d",
        "(?:a?)*",
        "(?i:a)(?s:.)",
    ],
)
def test_what_the_matcher_cannot_do_is_an_error(pattern):
    with pytest.raises(ValueError):
        Tables().program(parse(pattern), "MATCH")


@pytest.mark.parametrize("pattern", ["a(b)", "(a)(b)", "(a)|b", "(a(b))", "(a)|(b)(c)"])
def test_a_rule_without_one_leading_group_is_an_error(pattern):
    with pytest.raises(ValueError, match="group"):
        generate_ptb_rules.require_one_leading_group(pattern)


@pytest.mark.slow
def test_the_committed_files_are_the_generated_ones():
    of_this_unicode = f"// Unicode {unicodedata.unidata_version}\n"
    for name, text in generate_ptb_rules.generate().items():
        committed = (KERNELS / "core" / name).read_text(encoding="ascii")
        if name == "ptb_rules.inc" or of_this_unicode in committed:
            assert committed == text, (
                f"{name} is out of date: "
                "run python kernels/generators/generate_ptb_rules.py"
            )
