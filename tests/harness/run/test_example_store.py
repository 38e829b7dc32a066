"""Examples in memory and in a temporary file: order, slices, keys, equal ids."""

from __future__ import annotations

import hashlib
import sys

import pytest

from harness.contracts import EventSet, Example
from harness.errors import InputError
from harness.run import example_store
from harness.run.example_store import ExampleStore, example_key, example_values

EXAMPLES = [
    Example(f"e{k}", (f"r{k}", "s"), f"{k}.png", None, {"k": k} if k % 2 else {})
    for k in range(11)
]


@pytest.fixture(params=["memory", "file"])
def store(request, monkeypatch):
    monkeypatch.setattr(example_store, "BLOCK", 3)
    monkeypatch.setattr(
        example_store, "IN_MEMORY", 100 if request.param == "memory" else 4
    )
    return ExampleStore(iter(EXAMPLES))


def test_examples_come_back_in_order(store):
    assert len(store) == 11
    assert list(store) == EXAMPLES
    assert [store[k] for k in (0, 5, 10, -1)] == [EXAMPLES[k] for k in (0, 5, 10, -1)]
    assert store[2:9] == EXAMPLES[2:9]
    assert (store[1:9:3], store[1:9:2]) == (EXAMPLES[1:9:3], EXAMPLES[1:9:2])
    assert store.slice(4, 99) == EXAMPLES[4:]
    assert (store[::-1], store[1:9:3], store[2:5]) == (
        EXAMPLES[::-1],
        EXAMPLES[1:9:3],
        EXAMPLES[2:5],
    )
    assert store[-11] == EXAMPLES[0]
    for index in (11, 12, -12):
        with pytest.raises(IndexError):
            store[index]


def test_references_are_a_view(store):
    assert len(store.references) == 11
    assert list(store.references) == [e.references for e in EXAMPLES]
    assert store.references[3] == EXAMPLES[3].references
    assert store.references[3:5] == [EXAMPLES[3].references, EXAMPLES[4].references]


def test_properties_of_all_examples(store):
    assert store.reference_counts == {2}
    assert store.has_meta
    assert not ExampleStore(EXAMPLES[:1]).has_meta
    assert not store.has_events
    described = Example("v", ("a dog", EventSet(()).to_text()))
    assert ExampleStore([*EXAMPLES, described]).has_events


def test_words_of_the_references(store):
    texts = [" ".join("w" * count) for count in (5, 2, 8, 1, 3, 4, 7, 6)]
    counted = ExampleStore(
        Example(f"e{k}", tuple(texts[k : k + 2])) for k in range(0, 8, 2)
    )
    assert (counted.words, counted.longest) == (4.5, 8)
    assert ExampleStore([Example("a", ("a dog runs",))]).words == 3.0
    empty = ExampleStore([])
    assert (len(empty), empty.words, empty.longest, empty.keys.shape) == (
        0,
        0.0,
        0,
        (0, 16),
    )


def test_digests_are_those_of_the_content(store):
    assert store.key(4) == example_key(EXAMPLES[4]).hex()
    assert store.digest() == ExampleStore(EXAMPLES).digest()
    assert store.digest(2, 5) == ExampleStore(EXAMPLES[2:5]).digest()
    assert store.digest() != ExampleStore(EXAMPLES[:10]).digest()


@pytest.mark.parametrize("place", [1, 10])
def test_equal_ids_are_refused_wherever_they_are(store, monkeypatch, place):
    with pytest.raises(InputError, match="reader 'x': the id 'e0' occurs twice"):
        ExampleStore([*EXAMPLES[:place], Example("e0", ("other",))], "reader 'x'")


@pytest.mark.parametrize("repeated", [None, "e10", "e2", "e0"])
def test_ids_of_one_hash_are_not_equal_ids(store, monkeypatch, repeated):
    monkeypatch.setattr(example_store, "hash", lambda name: 7, raising=False)
    examples = sorted(EXAMPLES, key=lambda example: example.id, reverse=True)
    if repeated is None:
        assert list(ExampleStore(examples)) == examples
        assert list(ExampleStore(EXAMPLES)) == EXAMPLES
    else:
        with pytest.raises(InputError, match=f"the id '{repeated}' occurs twice"):
            ExampleStore([*examples, Example(repeated, ("other",))])


def test_metadata_that_cannot_be_stored_is_named(monkeypatch):
    monkeypatch.setattr(example_store, "IN_MEMORY", 0)
    with pytest.raises(
        InputError,
        match="the metadata of an example between 'a' and 'a' cannot be stored",
    ):
        ExampleStore([Example("a", ("r",), meta={"open": lambda: 0})])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_metadata_of_few_examples_is_kept_as_it_is(monkeypatch, count):
    monkeypatch.setattr(example_store, "BLOCK", 1)
    monkeypatch.setattr(example_store, "IN_MEMORY", 2)
    examples = [Example(str(k), ("r",), meta={"open": lambda: 0}) for k in range(count)]
    if count <= 2:
        assert list(ExampleStore(examples)) == examples
    else:
        with pytest.raises(InputError, match="between '0' and '0' cannot be stored"):
            ExampleStore(examples)


def test_a_key_does_not_depend_on_the_order_of_metadata():
    assert example_key(Example("a", ("r",), meta={"k": 1, "l": 2})) == example_key(
        Example("a", ("r",), meta={"l": 2, "k": 1})
    )


@pytest.mark.parametrize(
    "other",
    [
        Example("a", ("r", "s")),
        Example("a", ("r",), "m"),
        Example("a", ("r",), None, "s"),
        Example("b", ("r",)),
        Example("a", ("r",), meta={"k": 1}),
    ],
)
def test_a_key_depends_on_the_whole_content(other):
    assert example_key(Example("a", ("r",))) != example_key(other)
    assert len(example_key(other)) == example_store.KEY_BYTES
    text = b'["\\u00e9", ["r"], null, null, {}]'
    assert example_key(Example("é", ("r",))) == hashlib.sha256(text).digest()[:16], (
        "stored run directories have these keys"
    )


def test_the_values_of_an_example_hold_its_whole_content():
    example = Example("a", ("r",), "m.png", "source", {"k": 1})
    assert example_values(example) == ["a", ("r",), "m.png", "source", {"k": 1}]


def test_a_store_that_is_dropped_closes_its_file(store, monkeypatch):
    problems = []
    monkeypatch.setattr(sys, "unraisablehook", problems.append)
    dropped = ExampleStore(EXAMPLES)
    file = dropped._file
    del dropped
    assert (file is None or file.closed) and problems == []
