"""Choice of caption lengths."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness_models.o2na.lengths import (
    length_temperature,
    most_likely_lengths,
    sampled_lengths,
)


def test_most_likely_lengths_are_ordered_and_clamped():
    log_probs = torch.tensor([[0.4, 0.05, 0.3, 0.25], [0.1, 0.2, 0.3, 0.4]]).log()
    assert most_likely_lengths(log_probs, 3, max_len=4, shortest=1).tolist() == [
        [1, 2, 3],
        [3, 2, 1],
    ]
    assert most_likely_lengths(log_probs, 9, max_len=3, shortest=1).tolist() == [
        [1, 2, 2, 1],
        [2, 2, 1, 1],
    ]


@given(st.integers(1, 6), st.integers(6, 9), st.integers(0, 2**31))
def test_sampled_lengths_stay_within_their_bounds(shortest, longest, seed):
    random = np.random.default_rng(seed)
    log_probs = torch.from_numpy(random.normal(size=(2, 10))).log_softmax(-1)
    lengths = sampled_lengths(log_probs, random.random((2, 5)), 1.0, shortest, longest)
    assert lengths.shape == (2, 5)
    assert int(lengths.min()) >= shortest
    assert int(lengths.max()) <= longest


def test_sampled_lengths_have_their_probabilities():
    probabilities = torch.tensor([[0.0, 0.5, 0.2, 0.3]])
    lengths = sampled_lengths(
        probabilities.log(), (np.arange(1000)[None] + 0.5) / 1000, 1.0, 1, 9
    )
    counts = np.bincount(lengths[0].numpy(), minlength=4)
    assert counts.tolist() == [0, 500, 200, 300]


@pytest.mark.parametrize("value", [0, -1, float("inf"), "hot", True])
def test_length_temperatures_that_are_not_positive_numbers_are_refused(value):
    with pytest.raises(
        HarnessError, match="options.length_temperature must be a number above 0, found"
    ):
        length_temperature({"length_temperature": value})


def test_the_default_length_temperature_is_one():
    assert length_temperature({}) == 1.0
