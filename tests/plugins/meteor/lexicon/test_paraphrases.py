"""The paraphrase table as a trie: the same phrases, the same order."""

from __future__ import annotations

import gzip

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
def test_the_trie_holds_the_table_in_its_order(tmp_path_factory, entries, chunk, ends):
    path = write(tmp_path_factory.mktemp("table") / "p.gz", entries, "\n" if ends else "")
    whole = paraphrases._CHUNK
    paraphrases._CHUNK = chunk
    try:
        parsed = paraphrases.parse_paraphrases(path)
    finally:
        paraphrases._CHUNK = whole
    ids = {word: i for i, word in enumerate(parsed.words.decode().split("\n"))}
    for one in {one for one, _ in entries}:
        found = parsed.table.paraphrases(node_of(parsed, ids, one)).tolist()
        assert found == [node_of(parsed, ids, other) for first, other in entries if first == one]
    for other in {other for _, other in entries} - {one for one, _ in entries}:
        node = node_of(parsed, ids, other)
        assert node > 0
        assert not len(parsed.table.paraphrases(node))


def test_more_than_one_block_of_the_real_table_size_is_refilled(tmp_path):
    entries = [((f"w{i}", f"v{i % 7}"), (f"u{i}",)) for i in range(60_000)]
    parsed = paraphrases.parse_paraphrases(write(tmp_path / "p.gz", entries))
    ids = {word: i for i, word in enumerate(parsed.words.decode().split("\n"))}
    for i in (0, 1, 30_000, 59_999):
        targets = parsed.table.paraphrases(node_of(parsed, ids, entries[i][0]))
        assert targets.tolist() == [node_of(parsed, ids, entries[i][1])]


def test_a_table_cut_short_is_named(tmp_path):
    path = write(tmp_path / "p.gz", [(("a",), ("b",))])
    with gzip.open(path, "wb") as stream:
        stream.write(b"0.5\na\nb\n0.5\na\n")
    with pytest.raises(HarnessError, match="not a METEOR paraphrase table"):
        paraphrases.parse_paraphrases(path)


@pytest.mark.parametrize("cut", [5, -12, -3])
def test_a_damaged_file_is_named(tmp_path, cut):
    path = write(tmp_path / "p.gz", [(("a",), ("b",))])
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(HarnessError, match=r"p\.gz is damaged .*reinstall"):
        paraphrases.parse_paraphrases(path)
