"""The trie holds the phrases and paraphrases of the file in the order of the file."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.plugins.meteor.lexicon import paraphrases

phrase = st.lists(st.sampled_from(["a", "b", "c", "über", "d'", "…"]), min_size=1, max_size=4).map(tuple)


def write(path, entries, end="\n"):
    lines = [line for one, other in entries for line in ("0.1", " ".join(one), " ".join(other))]
    with gzip.open(path, "wb") as stream:
        stream.write(("\n".join(lines) + end).encode())
    return path


def node_of(parsed, ids, words):
    node = 0
    for word in words:
        node = parsed.table.child(node, ids[word]) if word in ids else -1
        if node < 0:
            return -1
    return node


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(phrase, phrase), min_size=1, max_size=30), st.sampled_from([7, 64, 1 << 20]), st.booleans())
def test_trie_holds_all_entries_in_the_order_of_the_file(tmp_path_factory, entries, chunk, ends):
    path = write(tmp_path_factory.mktemp("table") / "p.gz", entries, "\n" if ends else "")
    whole = paraphrases._CHUNK
    paraphrases._CHUNK = chunk
    try:
        parsed = paraphrases.parse_paraphrases(path)
    finally:
        paraphrases._CHUNK = whole
    ids = {word: i for i, word in enumerate(parsed.words.decode().split("\n"))}
    for one in {one for one, _ in entries}:
        targets = parsed.table.paraphrases(node_of(parsed, ids, one)).tolist()
        assert targets == [node_of(parsed, ids, other) for first, other in entries if first == one]
    for other in {other for _, other in entries} - {one for one, _ in entries}:
        node = node_of(parsed, ids, other)
        assert node > 0
        assert not len(parsed.table.paraphrases(node))


def test_slot_tables_are_enlarged_for_many_entries(tmp_path):
    entries = [((f"w{i}", f"v{i % 7}"), (f"u{i}",)) for i in range(60_000)]
    parsed = paraphrases.parse_paraphrases(write(tmp_path / "p.gz", entries))
    ids = {word: i for i, word in enumerate(parsed.words.decode().split("\n"))}
    for i in (0, 1, 30_000, 59_999):
        targets = parsed.table.paraphrases(node_of(parsed, ids, entries[i][0]))
        assert targets.tolist() == [node_of(parsed, ids, entries[i][1])]


def test_incomplete_table_is_named(tmp_path):
    path = write(tmp_path / "p.gz", [(("a",), ("b",))])
    with gzip.open(path, "wb") as stream:
        stream.write(b"0.5\na\nb\n0.5\na\n")
    with pytest.raises(HarnessError, match="not a METEOR paraphrase table: expected three lines per entry"):
        paraphrases.parse_paraphrases(path)


@pytest.mark.parametrize("cut", [5, -12, -3])
def test_damaged_file_is_named(tmp_path, cut):
    path = write(tmp_path / "p.gz", [(("a",), ("b",))])
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(HarnessError, match=r"p\.gz is damaged .*reinstall"):
        paraphrases.parse_paraphrases(path)


def test_roots_and_children(tmp_path):
    table, words = paraphrases.parse_paraphrases(write(tmp_path / "p.gz", [(("b", "a"), ("c",)), (("a",), ("b", "c"))]))
    ids = {word: i for i, word in enumerate(words.decode().split("\n"))}
    roots = table.roots(np.array([ids["a"], ids["b"], ids["c"], -1, len(ids)]))
    assert roots.tolist() == [*(table.child(0, ids[word]) for word in "abc"), -1, -1]
    assert table.child(table.child(0, ids["b"]), ids["a"]) > 0
    assert table.child(table.child(0, ids["a"]), ids["b"]) == -1


@pytest.mark.parametrize(("size", "power"), [(0, 2), (1, 2), (2, 2), (3, 4), (1024, 1024), (1025, 2048)])
def test_power_of_two(size, power):
    assert paraphrases._power_of_two(size) == power
