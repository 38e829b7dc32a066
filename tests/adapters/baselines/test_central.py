"""The central reference: smallest mean distance to the others, repeated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import (
    Adapter,
    Decoding,
    Example,
    Prepares,
    TaskView,
    TextDistance,
)
from harness.errors import HarnessError, InputError, UnknownName
from harness_models.baselines.central import Central

EXAMPLE = Example("x", ("aaaa", "a", "aaa"))


class Length(TextDistance):
    """Difference of lengths; a shorter hypothesis costs 1.5 times as much, so the
    distance is not symmetric.
    """

    name = "length"

    def pairwise(self, texts):
        sizes = np.array([len(text) for text in texts], dtype=float)
        more = sizes[:, None] - sizes[None, :]
        return np.where(more > 0, more, -1.5 * more)


sets = st.lists(
    st.lists(st.text("a", min_size=1, max_size=9), min_size=1, max_size=6).map(tuple),
    min_size=1,
    max_size=6,
)


@given(sets)
def test_the_central_reference_has_the_smallest_mean_distance_as_hypothesis(many):
    examples = [Example(str(i), texts) for i, texts in enumerate(many)]
    for example, generation in zip(examples, central(examples, n=1)):
        texts = example.references
        d = Length().pairwise(texts)
        totals = [sum(d[i][j] for j in range(len(texts))) for i in range(len(texts))]
        assert generation.candidates == (texts[totals.index(min(totals))],)


def central(examples, decoding=None, **params):
    adapter = Central(distance=Length(), **params)
    adapter.prepare(TaskView(examples, decoding or Decoding()))
    return list(adapter.generate(examples, decoding or Decoding(), [0] * len(examples)))


def test_the_caption_is_repeated_and_the_references_remain():
    generation = central([EXAMPLE])[0]
    assert generation.candidates == ("aaa",) * 10
    assert generation.references == EXAMPLE.references
    assert central([EXAMPLE], Decoding(candidates=3))[0].candidates == ("aaa",) * 3
    assert central([EXAMPLE], Decoding(candidates=3), n=2)[0].candidates == ("aaa",) * 2


def test_held_out():
    assert central([EXAMPLE], held_out=True)[0].references == ("aaaa", "a")
    with pytest.raises(
        InputError, match="central: 1 of 1 examples have fewer than 2 references"
    ):
        central([Example("y", ("a",))], held_out=True)
    assert central([Example("y", ("a",))])[0].candidates == ("a",) * 10


@pytest.mark.equal_bits
def test_the_result_does_not_depend_on_batches():
    examples = [
        Example(str(i), tuple("a" * (1 + (i * j) % 7) for j in range(1, 5)))
        for i in range(9)
    ]
    adapter = Central(distance=Length())
    adapter.prepare(TaskView(examples, Decoding()))
    whole = list(adapter.generate(examples, Decoding(), [0] * 9))
    assert whole == [
        next(iter(adapter.generate([e], Decoding(), [1]))) for e in examples
    ]


def test_an_example_outside_of_the_task_is_refused():
    assert isinstance(Central(distance=Length()), Adapter)
    assert isinstance(Central(distance=Length()), Prepares)
    with pytest.raises(HarnessError, match="the example 'x' is not one of the task"):
        list(Central(distance=Length()).generate([EXAMPLE], Decoding(), [0]))


def test_distance_by_name():
    with pytest.raises(
        UnknownName, match=r"unknown distance 'rogue'; did you mean 'rouge'\?"
    ):
        Central(distance="rogue")
    assert "rouge" in Central(distance="rouge").fingerprint()


@pytest.mark.parametrize("n", [0, -1, "2", True, 1.5])
def test_a_count_out_of_range_is_refused(n):
    with pytest.raises(InputError, match="Central: n is"):
        Central(distance=Length(), n=n)
