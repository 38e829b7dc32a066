"""Sentences of a corpus mixed with noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_metrics.discrepancy.mixing import draw

SENTENCES = [["a"], ["b", "c"], ["a", "b", "c", "c", "a"]]


@given(st.integers(0, 1000))
def test_without_noise_every_draw_is_a_sentence(seed):
    assert draw(SENTENCES, "xyz", 0.0, 5, np.random.default_rng(seed)) in SENTENCES


@given(st.integers(0, 1000), st.sampled_from([1, 4, "same"]))
def test_noise_has_the_length_and_the_words(seed, length):
    noise = draw(SENTENCES, "xyz", 1.0, length, np.random.default_rng(seed))
    assert set(noise) <= set("xyz")
    assert len(noise) == length if length != "same" else len(noise) in (1, 2, 5)


def test_share_of_noise():
    rng = np.random.default_rng(0)
    draws = [draw(SENTENCES, "xyz", 0.3, 3, rng) for _ in range(4000)]
    assert np.mean([sentence not in SENTENCES for sentence in draws]) == pytest.approx(
        0.3, abs=0.03
    )
