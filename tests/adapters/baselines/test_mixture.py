"""k unique captions, m of them correct: diversity and correctness set apart."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.baselines.mixture import Mixture
from harness.contracts import Adapter, Decoding, Example, Prepares, TaskView
from harness.errors import HarnessError, InputError

EXAMPLES = [Example(f"e{i}", tuple(f"{i}-{j}" for j in range(6))) for i in range(12)]
SEEDS = list(range(100, 112))
counts = st.integers(1, 6).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, min(k, 5))))


def mixture(examples=EXAMPLES, seeds=SEEDS, decoding=None, **params):
    adapter = Mixture(**params)
    adapter.prepare(TaskView(examples, decoding or Decoding()))
    return list(adapter.generate(examples, decoding or Decoding(), seeds))


@given(counts, st.integers(0, 2**62), st.integers(6, 12))
def test_so_many_unique_and_so_many_correct(cell, seed, n):
    unique, correct = cell
    made = mixture(seeds=[seed + i for i in range(12)], unique=unique, correct=correct, n=n)
    for example, item in zip(EXAMPLES, made):
        texts = set(item.candidates)
        own = texts & set(example.references)
        assert (len(item.candidates), len(texts), len(own)) == (n, unique, correct)
        assert len({text.split("-")[0] for text in texts - own}) == unique - correct  # each of another example
        assert set(item.references) == set(example.references) - own
        repeats = Counter(item.candidates).values()
        assert max(repeats) - min(repeats) <= 1


def test_cells_of_a_study_share_their_references():
    cells = [mixture(unique=k, correct=m, held_out=4) for k, m in [(4, 4), (4, 0), (1, 1), (2, 1)]]
    assert all([x.references for x in cell] == [x.references for x in cells[0]] for cell in cells)


def test_smaller_sets_are_nested():
    few, many = mixture(unique=2, correct=1, held_out=3), mixture(unique=6, correct=3)
    assert all(set(a.candidates) <= set(b.candidates) for a, b in zip(few, many))


def test_neither_batches_nor_order_matter():
    adapter = Mixture(unique=4, correct=2)
    adapter.prepare(TaskView(EXAMPLES[::-1], Decoding()))
    single = [next(iter(adapter.generate([e], Decoding(), [s]))) for e, s in zip(EXAMPLES, SEEDS)]
    assert single == mixture(unique=4, correct=2)
    assert mixture(unique=4, correct=2, seeds=[s + 1 for s in SEEDS]) != single


def test_the_same_words_twice_are_held_out_last():
    examples = [Example("x", ("a", "a", "b", "c")), Example("y", ("d", "e", "f", "g"))]
    made = mixture(examples, [1, 2], unique=3, correct=3)[0]
    assert set(made.candidates) == {"a", "b", "c"}
    assert made.references == ("a",)


def test_words_said_of_this_example_too_are_not_foreign():
    examples = [Example("x", ("same",)), Example("y", ("same", "same")), Example("z", ("other", "same"))]
    adapter = Mixture(unique=1, correct=0)
    adapter.prepare(TaskView(examples, Decoding()))
    for seed in range(20):
        assert next(iter(adapter.generate(examples[:1], Decoding(), [seed]))).candidates == ("other",) * 10
    with pytest.raises(HarnessError, match="found 0 captions of other examples for 'z'; 1 are asked for"):
        list(adapter.generate(examples[2:], Decoding(), [0]))


def test_size_follows_the_decoding():
    assert len(mixture(unique=2)[0].candidates) == 10
    assert len(mixture(unique=2, decoding=Decoding(candidates=4))[0].candidates) == 4
    with pytest.raises(InputError, match="mixture: 1 candidates are asked for, too few for 2 unique captions"):
        mixture(unique=2, decoding=Decoding(candidates=1))


def test_too_few_references():
    small = [*EXAMPLES, Example("s", ("a", "b"))]
    with pytest.raises(InputError) as caught:
        mixture(small, [*SEEDS, 0], unique=3, correct=2)
    assert str(caught.value) == (
        "mixture: 1 of 13 examples have fewer than 3 references, too few to hold 2 out and keep one: 's' (2)"
        " (skip_small: true leaves them out)"
    )
    assert mixture(small, [*SEEDS, 0], unique=3, correct=2, skip_small=True)[-1].candidates == ()
    alike = [*EXAMPLES, Example("s", ("a", "a", "a"))]
    with pytest.raises(InputError, match=r"1 of 13 examples have fewer than 2 different references: 's'"):
        mixture(alike, [*SEEDS, 0], unique=3, correct=2)
    with pytest.raises(InputError, match="2 captions of other examples are asked for, but there are 0"):
        mixture(EXAMPLES[:1], [0], unique=2, correct=0)


@pytest.mark.parametrize(
    "params, expected",
    [
        ({"unique": 0}, "mixture: unique is 0; expected a whole number of at least 1"),
        ({"unique": 2, "correct": 3}, "mixture: correct is 3, more than the 2 unique captions"),
        ({"unique": 2, "correct": 2, "held_out": 1}, "mixture: held_out is 1, fewer than the 2 correct captions"),
        ({"unique": 3, "n": 2}, "mixture: n is 2, too few for 3 unique captions"),
        ({"correct": -1}, "mixture: correct is -1; expected a whole number of at least 0"),
    ],
)
def test_bad_parameters(params, expected):
    with pytest.raises(InputError) as caught:
        Mixture(**params)
    assert str(caught.value) == expected


def test_meets_the_contracts():
    assert isinstance(Mixture(), Adapter)
    assert isinstance(Mixture(), Prepares)
    kinds = [{}, {"unique": 4}, {"correct": 1}, {"n": 9}, {"correct": 1, "held_out": 2}, {"skip_small": True}]
    assert len({Mixture(**params).fingerprint() for params in kinds}) == len(kinds)
