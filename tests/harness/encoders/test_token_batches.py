"""Batches by a budget of tokens, and memory that runs out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.encoders.token_batches import TokenBudget
from harness.errors import HarnessError

LENGTHS = st.lists(st.integers(1, 40), max_size=60).map(
    lambda values: np.array(values, dtype=np.int64)
)


@given(LENGTHS, st.integers(1, 200), st.booleans())
def test_every_text_is_in_one_batch_within_the_budget(lengths, tokens, equal):
    budget = TokenBudget("cpu", tokens=tokens, equal_lengths=equal)
    batches = budget.batches(lengths)
    assert sorted(k for batch in batches for k in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = lengths[batch].max()
        assert len(batch) * longest <= tokens or len(batch) == 1
        assert not equal or (lengths[batch] == longest).all()


def test_a_number_of_texts_bounds_each_batch():
    sizes = [len(b) for b in TokenBudget("cpu", 4).batches(np.full(10, 500))]
    assert sizes == [4, 4, 2]


@given(LENGTHS, st.integers(40, 200))
def test_memory_that_runs_out_divides_batches_and_is_remembered(lengths, most):
    done: list[int] = []
    sizes: list[int] = []

    def forward(rows):
        size = len(rows) * int(lengths[rows].max())
        sizes.append(size)
        if size > most:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        done.extend(rows.tolist())

    budget = TokenBudget("cuda", tokens=1000)
    budget.run(lengths, forward, "the model")
    assert sorted(done) == list(range(len(lengths)))
    # what fitted is kept to
    sizes.clear()
    done.clear()
    budget.run(lengths, forward, "the model")
    assert all(size <= most for size in sizes)


def test_a_text_that_does_not_fit_is_one_line():
    def forward(rows):
        raise MemoryError

    with pytest.raises(
        HarnessError, match="the model: out of memory with one text of 7 tokens"
    ):
        TokenBudget("cpu").run(np.array([7]), forward, "the model")


def test_other_errors_are_raised_as_they_are():
    def forward(rows):
        raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes differ"):
        TokenBudget("cpu").run(np.array([7]), forward, "the model")
