"""Candidate sets with k unique captions, m of them correct."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import Adapter, Decoding, Example, Prepares, TaskView
from harness.errors import HarnessError, InputError
from harness_models.baselines.mixed import Mixture

EXAMPLES = [Example(f"e{i}", tuple(f"{i}-{j}" for j in range(6))) for i in range(12)]
SEEDS = list(range(100, 112))
counts = st.integers(1, 6).flatmap(
    lambda k: st.tuples(st.just(k), st.integers(0, min(k, 5)))
)


def mixture(examples=EXAMPLES, seeds=SEEDS, decoding=None, **params):
    adapter = Mixture(**params)
    adapter.prepare(TaskView(examples, decoding or Decoding()))
    return list(adapter.generate(examples, decoding or Decoding(), seeds))


@given(counts, st.integers(0, 2**62), st.integers(6, 12))
def test_numbers_of_unique_and_correct_captions(cell, seed, n):
    unique, correct = cell
    generations = mixture(
        seeds=[seed + i for i in range(12)], unique=unique, correct=correct, n=n
    )
    for example, item in zip(EXAMPLES, generations):
        texts = set(item.candidates)
        correct_texts = texts & set(example.references)
        assert (len(item.candidates), len(texts), len(correct_texts)) == (
            n,
            unique,
            correct,
        )
        # each of another example
        assert (
            len({text.split("-")[0] for text in texts - correct_texts})
            == unique - correct
        )
        assert set(item.references or ()) == set(example.references) - correct_texts
        repeats = Counter(item.candidates).values()
        assert max(repeats) - min(repeats) <= 1


def test_cells_of_a_study_share_their_references():
    cells = [
        mixture(unique=k, correct=m, held_out=4)
        for k, m in [(4, 4), (4, 0), (1, 1), (2, 1)]
    ]
    assert all(
        [x.references for x in cell] == [x.references for x in cells[0]]
        for cell in cells
    )


def test_smaller_sets_are_nested():
    few = mixture(unique=2, correct=1, held_out=3)
    many = mixture(unique=6, correct=3)
    assert all(set(a.candidates) <= set(b.candidates) for a, b in zip(few, many))


def test_the_result_does_not_depend_on_batches_and_order():
    adapter = Mixture(unique=4, correct=2)
    adapter.prepare(TaskView(EXAMPLES[::-1], Decoding()))
    single = [
        next(iter(adapter.generate([e], Decoding(), [s])))
        for e, s in zip(EXAMPLES, SEEDS)
    ]
    assert single == mixture(unique=4, correct=2)
    assert mixture(unique=4, correct=2, seeds=[s + 1 for s in SEEDS]) != single


def test_repeated_references_are_held_out_last():
    examples = [Example("x", ("a", "a", "b", "c")), Example("y", ("d", "e", "f", "g"))]
    generation = mixture(examples, [1, 2], unique=3, correct=3)[0]
    assert set(generation.candidates) == {"a", "b", "c"}
    assert generation.references == ("a",)


def test_references_of_this_example_are_not_foreign():
    examples = [
        Example("x", ("same",)),
        Example("y", ("same", "same")),
        Example("z", ("other", "same")),
    ]
    adapter = Mixture(unique=1, correct=0)
    adapter.prepare(TaskView(examples, Decoding()))
    for seed in range(20):
        assert (
            next(iter(adapter.generate(examples[:1], Decoding(), [seed]))).candidates
            == ("other",) * 10
        )
    with pytest.raises(
        HarnessError, match="found 0 captions of other examples for 'z'; expected 1"
    ):
        list(adapter.generate(examples[2:], Decoding(), [0]))


def test_size_follows_the_decoding():
    assert len(mixture(unique=2)[0].candidates) == 10
    assert len(mixture(unique=2, decoding=Decoding(candidates=4))[0].candidates) == 4
    with pytest.raises(
        InputError, match="mixture: 1 candidates are too few for 2 unique captions"
    ):
        mixture(unique=2, decoding=Decoding(candidates=1))


def test_too_few_references():
    small = [*EXAMPLES, Example("s", ("a", "b"))]
    with pytest.raises(InputError) as caught:
        mixture(small, [*SEEDS, 0], unique=3, correct=2)
    assert str(caught.value) == (
        "mixture: 1 of 13 examples have fewer than 3 references, "
        "too few to hold 2 out and keep one: 's' (2) (skip_small: true skips them)"
    )
    assert (
        mixture(small, [*SEEDS, 0], unique=3, correct=2, skip_small=True)[-1].candidates
        == ()
    )

    alike = [*EXAMPLES, Example("s", ("a", "a", "a"))]
    with pytest.raises(
        InputError,
        match=r"1 of 13 examples have fewer than 2 different references: 's'",
    ):
        mixture(alike, [*SEEDS, 0], unique=3, correct=2)

    with pytest.raises(
        InputError,
        match="2 captions of other examples are needed; the task has 0 other examples",
    ):
        mixture(EXAMPLES[:1], [0], unique=2, correct=0)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"unique": 0}, "Mixture: unique is 0; expected a whole number of at least 1"),
        (
            {"unique": 2, "correct": 3},
            "mixture: correct is 3, more than the 2 unique captions",
        ),
        (
            {"unique": 2, "correct": 2, "held_out": 1},
            "mixture: held_out is 1, fewer than the 2 correct captions",
        ),
        ({"unique": 3, "n": 2}, "mixture: n is 2, too few for 3 unique captions"),
        (
            {"correct": -1},
            "Mixture: correct is -1; expected a whole number of at least 0 or null",
        ),
    ],
)
def test_parameters_out_of_range_are_refused(params, expected):
    with pytest.raises(InputError) as caught:
        Mixture(**params)
    assert str(caught.value) == expected


def test_contracts_and_fingerprints():
    assert isinstance(Mixture(), Adapter)
    assert isinstance(Mixture(), Prepares)
    variants = [
        {},
        {"unique": 4},
        {"correct": 1},
        {"n": 9},
        {"correct": 1, "held_out": 2},
        {"skip_small": True},
    ]
    assert len({Mixture(**params).fingerprint() for params in variants}) == len(
        variants
    )
