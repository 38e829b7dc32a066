"""Held-out references: a uniform split that depends on the seed of the example only."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import Adapter, Decoding, Example, Prepares, TaskView
from harness.errors import InputError
from harness_models.human.adapter import Human

references = st.lists(
    st.sampled_from(["a", "b", "c", "d", "e"]), min_size=4, max_size=8
).map(tuple)
seeds = st.integers(0, 2**63 - 1)


def one(example: Example, seed: int = 0, **params):
    return next(iter(Human(**params).generate([example], Decoding(), [seed])))


@given(references, seeds, st.integers(1, 3), st.sampled_from(["first", "random"]))
def test_every_reference_is_used_exactly_once(texts, seed, held_out, split):
    generation = one(Example("x", texts), seed, held_out=held_out, split=split)
    assert len(generation.candidates) == held_out
    assert Counter(generation.candidates) + Counter(generation.references) == Counter(
        texts
    )


def test_positions_of_the_held_out_references_are_told():
    generation = one(Example("x", tuple("abcdefgh")), 5, held_out=3)
    assert generation.held_out is not None
    assert tuple("abcdefgh"[i] for i in generation.held_out) == generation.candidates


def test_remaining_references_keep_their_order():
    generation = one(Example("x", tuple("abcdefgh")), 5, held_out=3)
    assert generation.references is not None
    assert list(generation.references) == sorted(generation.references)


@given(st.lists(seeds, min_size=2, max_size=5))
def test_the_result_does_not_depend_on_batches_and_order(many):
    examples = [
        Example(str(i), tuple(f"{i}{letter}" for letter in "abcde"))
        for i in range(len(many))
    ]
    adapter = Human(held_out=2)
    whole = list(adapter.generate(examples, Decoding(), many))
    single = [
        next(iter(adapter.generate([e], Decoding(), [s])))
        for e, s in zip(examples, many)
    ]
    backwards = list(adapter.generate(examples[::-1], Decoding(), many[::-1]))[::-1]
    assert whole == single == backwards


def test_every_reference_is_held_out_equally_often():
    texts = tuple("abcde")
    counts = Counter(
        one(Example("x", texts), seed).candidates[0] for seed in range(1000)
    )
    assert set(counts) == set(texts)
    # 200 expected, standard deviation 13
    assert all(140 < count < 260 for count in counts.values())


def test_references_selected_by_position():
    texts = tuple("abcde")
    assert one(Example("x", texts), split="first").candidates == ("a",)
    assert one(Example("x", texts), held_out=2, split="first").candidates == ("a", "b")
    generation = one(Example("x", texts), index=3)
    assert (generation.candidates, generation.references) == (("d",), tuple("abce"))


def test_examples_with_too_few_references_are_refused_or_skipped():
    examples = [
        Example("x", ("a", "b", "c")),
        Example("y", ("a",)),
        Example("z", ("a", "b")),
    ]
    adapter = Human(held_out=2)
    assert isinstance(adapter, Adapter)
    assert isinstance(adapter, Prepares)
    with pytest.raises(InputError) as caught:
        adapter.prepare(TaskView(examples, Decoding()))
    assert str(caught.value) == (
        "human: 2 of 3 examples have fewer than 3 references, "
        "too few to hold 2 out and keep one: 'y' (1), 'z' (2)"
        " (skip_small: true skips them)"
    )
    lenient = Human(held_out=2, skip_small=True)
    lenient.prepare(TaskView(examples, Decoding()))
    assert [
        len(item.candidates)
        for item in lenient.generate(examples, Decoding(), [0, 0, 0])
    ] == [2, 0, 0]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (
            {"held_out": 0},
            "human: held_out is 0; expected 'leave-one-out' or a whole number of at "
            "least 1",
        ),
        ({"held_out": "half"}, "human: held_out is 'half'; expected"),
        ({"split": "last"}, "human: split is 'last'; expected 'first' or 'random'"),
        (
            {"held_out": 2, "index": 0},
            "human: index is 0 with held_out 2; expected the position from 0 of a "
            "single",
        ),
        ({"index": -1}, "human: index is -1 with held_out 1"),
    ],
)
def test_parameters_out_of_range_are_refused(params, expected):
    with pytest.raises(InputError) as caught:
        Human(**params)
    assert str(caught.value).startswith(expected)


def test_fingerprints_differ():
    variants = [
        {},
        {"held_out": 2},
        {"split": "first"},
        {"index": 0},
        {"skip_small": True},
    ]
    assert len({Human(**params).fingerprint() for params in variants}) == len(variants)
    assert Human().fingerprint() == Human(held_out=1).fingerprint()
