"""METEOR's lexicon: look-ups of both engines, damaged buffers."""

from __future__ import annotations

import io
import mmap
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import caption_kernels_reference as reference
from caption_kernels.lexicon.file_format import Sections, finish_lexicon, verify
from caption_kernels.lexicon.word_lists import read_lists
from tests.support.lexicon_sources import LISTS, PARAPHRASES, WORDS, aligned, table_of

compiled = pytest.importorskip("caption_kernels._compiled")
ENGINES = [compiled, reference]
word = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "über",
        "d'",
        "…",
        "sevenly",
        "eightlet",
        "ninelette",
        "sixteen-letters-",
        "seventeen-letters",
    ]
)
entries = st.lists(
    st.tuples(
        *[st.lists(word, min_size=1, max_size=4).map(tuple)] * 2, st.integers(1, 3)
    ),
    min_size=1,
    max_size=30,
).map(lambda runs: [(one, other) for one, other, times in runs for _ in range(times)])


def lists_of(**lists):
    return read_lists(**{name: (LISTS | lists)[name].encode() for name in LISTS})


def built(engine, table, block=1 << 20, **lists):
    reader = engine.ParaphraseReader()
    for start in range(0, len(table), block):
        reader.feed(table[start : start + block])
    return finish_lexicon(reader, lists_of(**lists))


@pytest.fixture(scope="module")
def buffer():
    return bytes(built(compiled, table_of(PARAPHRASES)))


@pytest.fixture(scope="module", params=ENGINES, ids=["compiled", "readable"])
def lexicon(request):
    """A lexicon that each engine built; the readable one has look-ups."""
    return reference.Lexicon(built(request.param, table_of(PARAPHRASES)))


def node_of(lexicon, phrase):
    """Return the node of a phrase, a sequence of words, or -1."""
    node = 0
    for word in phrase:
        node = lexicon.paraphrase_child(node, lexicon.number(word))
    return node


def test_word_lists(lexicon):
    assert [
        w for w in ("a", "the", ".", "dog", "A", "") if lexicon.is_function_word(w)
    ] == ["a", "the", "."]
    words = ["Mr", "No", "titles", "#", "mr", "vs", "ca", "\ud800"]
    # the last line of a word counts
    assert [lexicon.prefix_kind(w) for w in words] == [1, 2, 0, 0, 0, 2, 1, 0]


@pytest.mark.parametrize(
    ("form", "bases"),
    [
        ("went", ["go", "be"]),  # the exception list alone
        ("dogs", ["dog"]),
        ("ladies", ["lady"]),
        ("loved", ["love"]),
        ("is", []),  # two letters
        ("日本s", ["日本"]),
        ("🐶s", []),
        ("glass", []),  # -ss
        ("handfuls", []),
        ("nones", []),  # a listed word without sets ends the search
        ("table", []),
        ("", []),
    ],
)
def test_synonym_sets_are_those_of_the_base_forms(lexicon, form, bases):
    assert lexicon.synsets(form) == sorted(
        {s for base in bases for s in lexicon.synsets(base)}
    )


def test_synonym_sets_are_numbered_by_rank(lexicon):
    words = ["go", "dog", "hound", "be", "lady", "love", "none"]
    assert [lexicon.synsets(w) for w in words] == [
        [2, 7],
        [5],
        [5, 6],
        [3],
        [4],
        [1],
        [],
    ]
    assert lexicon.n_synsets == 8


def test_paraphrases_are_in_the_order_of_the_table(lexicon):
    nodes = [
        node_of(lexicon, other.split()) for one, other in PARAPHRASES if one == "a dog"
    ]
    assert lexicon.paraphrase_targets(node_of(lexicon, ["a", "dog"])) == nodes
    assert nodes[-1] == 0  # the phrase without words
    assert lexicon.paraphrase_targets(node_of(lexicon, ["the", "dog"])) == [
        node_of(lexicon, ["a", "dog"])
    ]
    assert lexicon.paraphrase_targets(node_of(lexicon, ["a"])) == []
    assert node_of(lexicon, ["go"]) == -1  # a word of another list


def test_both_engines_read_a_lexicon_alike(buffer):
    ours, theirs = (aligned(engine.Lexicon(buffer), engine) for engine in ENGINES)
    assert np.array_equal(ours.statistics, theirs.statistics)
    assert np.array_equal(ours.scores, theirs.scores)


def test_numbers_beyond_the_tables_have_no_answer(lexicon):
    for number in (-1, -(2**31), 10**6, 2**31 - 1):
        assert lexicon.paraphrase_child(0, number) == -1
        assert lexicon.paraphrase_child(number, 0) == -1
        assert lexicon.paraphrase_targets(number) == []


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    entries,
    st.sampled_from([1, 7, 64, 1 << 20]),
    st.sampled_from([" ", "\t ", "\f", "\r "]),
    st.booleans(),
)
def test_trie_holds_all_entries(pairs, block, blank, ends):
    table = table_of(
        ((blank.join(one), blank.join(other)) for one, other in pairs),
        "\n" if ends else "",
    )
    for engine in ENGINES:
        data = built(engine, table, block)
        verify(io.BytesIO(data))
        lexicon = reference.Lexicon(data)
        for one in {side for pair in pairs for side in pair}:
            node = node_of(lexicon, one)
            assert node > 0
            assert lexicon.paraphrase_targets(node) == [
                node_of(lexicon, b) for a, b in pairs if a == one
            ]


def test_tables_grow_with_many_entries():
    pairs = [(f"w{i} v{i % 7} x{i % 11}", f"u{i} t{i % 5}") for i in range(60_000)]
    lexicon = reference.Lexicon(built(compiled, table_of(pairs), 5000))
    for one, other in pairs[::97]:
        assert lexicon.paraphrase_targets(node_of(lexicon, one.split())) == [
            node_of(lexicon, other.split())
        ]
    assert node_of(lexicon, ["w1", "v2"]) == -1


def test_both_engines_build_the_same_lexicon():
    pairs = [(f"w{i} v{i % 7}", f"u{i}") for i in range(300)]
    lexicons = [reference.Lexicon(built(engine, table_of(pairs))) for engine in ENGINES]
    for one, other in pairs:
        for phrase in (one.split(), other.split(), [*one.split(), "x"]):
            assert len({node_of(lexicon, phrase) > 0 for lexicon in lexicons}) == 1
    for word in [*WORDS, "\ud800", "w1"]:
        assert (
            len(
                {
                    (lexicon.number(word) >= 0, *lexicon.synsets(word))
                    for lexicon in lexicons
                }
            )
            == 1
        )


@pytest.mark.parametrize("engine", ENGINES)
def test_bytes_do_not_depend_on_the_blocks(engine):
    table = table_of([(f"w{i} v{i % 7}", f"u{i}") for i in range(900)])
    whole = bytes(built(engine, table))
    assert all(bytes(built(engine, table, block)) == whole for block in (1, 1000, 4096))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("table", "lists"),
    [
        (b"", {}),
        (b"0.5\na\nb\n0.5\na\n", {}),
        (b"0.5\na\nb\n", {"synsets": "dog\n"}),
        (b"0.5\na\nb\n", {"synsets": "dog\nx7\n"}),
        (b"0.5\na\nb\n", {"synsets": f"dog\n{'9' * 19}\n"}),
        (b"0.5\na\nb\n", {"synsets": "dog\n-7\n"}),
        (b"0.5\na\nb\n", {"exceptions": ""}),
    ],
)
def test_incomplete_tables_and_lists_are_refused(engine, table, lists):
    with pytest.raises(
        ValueError, match=None if lists else "METEOR's lexicon: the data are damaged"
    ):
        built(engine, table, **lists)


@pytest.mark.parametrize("engine", ENGINES)
def test_table_ends_once(engine):
    table = engine.ParaphraseReader()
    table.feed(b"0.5\na\nb\n")
    table.finish(["a"])
    with pytest.raises(ValueError, match="METEOR's lexicon"):
        table.feed(b"x")
    with pytest.raises(ValueError, match="METEOR's lexicon"):
        table.finish([])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("wrong", ["text", None, 3])
def test_other_types_are_refused(engine, wrong, lexicon):
    with pytest.raises(TypeError):
        engine.ParaphraseReader().feed(wrong)
    with pytest.raises(TypeError):
        engine.Lexicon(wrong)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("size", [0, 7, 8, 100, -8, -1])
def test_buffer_that_is_cut_cannot_be_opened(engine, buffer, size):
    with pytest.raises(ValueError, match="METEOR's lexicon"):
        engine.Lexicon(buffer[:size])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("place", [0, 7, 8, 12, 16])
def test_buffer_with_another_header_cannot_be_opened(engine, buffer, place):
    changed = bytearray(buffer)
    changed[place] ^= 1
    with pytest.raises(ValueError, match="METEOR's lexicon"):
        engine.Lexicon(changed)


@pytest.mark.slow
def test_every_changed_byte_is_noticed(buffer):
    for place in range(0, len(buffer), 1 if len(buffer) < 10**5 else 97):
        changed = bytearray(buffer)
        changed[place] ^= 1 << place % 8
        with pytest.raises(ValueError, match="METEOR's lexicon"):
            verify(io.BytesIO(changed))


@pytest.mark.parametrize("section", Sections._fields)
def test_a_changed_byte_of_every_section_is_noticed(buffer, section):
    part = getattr(reference.Lexicon(buffer)._sections, section)
    assert part.nbytes
    changed = bytearray(buffer)
    changed[
        part.__array_interface__["data"][0]
        - np.frombuffer(buffer, np.uint8).__array_interface__["data"][0]
        + part.nbytes // 2
    ] ^= 16
    with pytest.raises(ValueError, match="METEOR's lexicon"):
        verify(io.BytesIO(changed))
    verify(io.BytesIO(buffer))


def used(lexicon):
    """Look everything up; the answers may be wrong."""
    compiled.normalise(["Mr. a dog... No. 5"], lexicon)
    with suppress(ValueError, IndexError):
        aligned(lexicon, compiled)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_buffer_gives_wrong_answers_but_nothing_worse(buffer, seed):
    rng = random.Random(seed)
    header = 300
    opened = 0
    for _ in range(300):
        changed = bytearray(buffer)
        for _ in range(rng.choice([1, 3, 50])):
            place = rng.randrange(header if rng.random() < 0.3 else len(buffer))
            changed[place] = rng.choice([0, 1, 127, 128, 255])
        try:
            lexicon = compiled.Lexicon(changed)
        except ValueError:
            continue
        opened += 1
        used(lexicon)
    assert opened > 50


@pytest.mark.parametrize("value", [0, 255, 127])
def test_buffer_of_one_value_behind_its_header_gives_wrong_answers(buffer, value):
    changed = buffer[:300] + bytes([value]) * (len(buffer) - 300)
    used(compiled.Lexicon(changed))


def test_buffer_at_an_odd_address_is_refused(buffer):
    shifted = memoryview(bytearray(b"x" + buffer))[1:]
    with pytest.raises(ValueError, match="METEOR's lexicon"):
        compiled.Lexicon(shifted)


def test_lexicon_keeps_its_buffer(buffer, tmp_path):
    path = tmp_path / "lexicon"
    path.write_bytes(buffer)
    with open(path, "rb") as stream:
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    lexicon = compiled.Lexicon(mapped)
    with pytest.raises(BufferError):
        mapped.close()
    del mapped
    used(lexicon)
    used(compiled.Lexicon(np.frombuffer(buffer, dtype=np.uint8)))


def test_threads_may_share_reader_and_lexicon():
    reader = compiled.ParaphraseReader()
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda k: reader.feed(table_of([(f"w{k}", f"v{k}")] * 50)), range(40)
            )
        )
        data = finish_lexicon(reader, lists_of())
        list(pool.map(lambda _: used(compiled.Lexicon(data)), range(8)))
    lexicon = reference.Lexicon(data)
    assert all(
        len(lexicon.paraphrase_targets(node_of(lexicon, [f"w{k}"]))) == 50
        for k in range(40)
    )
