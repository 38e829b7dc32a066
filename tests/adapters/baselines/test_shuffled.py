"""Captions of other examples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import Adapter, Decoding, Example, Prepares, TaskView
from harness.errors import HarnessError, InputError
from harness_models.baselines.shuffled import Shuffled


def shuffled(examples, seeds=None, decoding=None, **params):
    adapter = Shuffled(**params)
    adapter.prepare(TaskView(examples, decoding or Decoding()))
    return list(
        adapter.generate(examples, decoding or Decoding(), seeds or [7] * len(examples))
    )


def examples_of(count: int) -> list[Example]:
    return [Example(f"e{i}", tuple(f"{i}-{j}" for j in range(5))) for i in range(count)]


@given(st.integers(2, 30), st.integers(0, 1000), st.integers(1, 5))
def test_the_captions_are_those_of_a_derangement(count, order, n):
    generations = shuffled(examples_of(count), order=order, n=n)
    sources = [{text.split("-")[0] for text in item.candidates} for item in generations]
    assert all(
        len(source) == 1 and str(i) not in source for i, source in enumerate(sources)
    )
    assert set().union(*sources) == {str(i) for i in range(count)}
    assert all(
        len(set(item.candidates)) == n and item.references is None
        for item in generations
    )


def test_shuffled_captions_do_not_depend_on_batches_and_order():
    examples = examples_of(9)
    adapter = Shuffled(n=2)
    adapter.prepare(TaskView(examples[::-1], Decoding()))
    single = [
        next(iter(adapter.generate([e], Decoding(), [i])))
        for i, e in enumerate(examples)
    ]
    assert single == shuffled(examples, list(range(9)), n=2)
    assert shuffled(examples, n=2, order=1) != shuffled(examples, n=2)


def test_the_number_of_captions():
    examples = examples_of(3)
    assert len(shuffled(examples)[0].candidates) == 1
    assert len(shuffled(examples, decoding=Decoding(candidates=3))[0].candidates) == 3
    assert len(shuffled(examples, n=9)[0].candidates) == 5


def test_invalid_input_is_refused():
    with pytest.raises(
        InputError,
        match="shuffled: the task has 1 example; captions of another one need at least "
        "2",
    ):
        shuffled(examples_of(1))
    with pytest.raises(HarnessError, match="the example 'e0' is not one of the task"):
        list(Shuffled().generate(examples_of(1), Decoding(), [0]))
    with pytest.raises(InputError, match="Shuffled: n is 0"):
        Shuffled(n=0)
    assert isinstance(Shuffled(), Adapter)
    assert isinstance(Shuffled(), Prepares)
