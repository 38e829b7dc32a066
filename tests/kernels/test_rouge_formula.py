"""ROUGE-L of word lists."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caption_kernels.batches.ngram import BETA, f_measure
from caption_kernels_reference.rouge import lcs, score

words = st.lists(st.sampled_from("abc"), min_size=1, max_size=7)


def is_subsequence(part, whole):
    rest = iter(whole)
    return all(word in rest for word in part)


@given(words, words)
def test_lcs_is_the_longest_of_all_common_subsequences(a, b):
    parts = (part for k in range(len(a) + 1) for part in itertools.combinations(a, k))
    assert lcs(a, b) == max(len(part) for part in parts if is_subsequence(part, b))


@given(words, st.lists(words, min_size=1, max_size=3))
def test_scores_are_in_the_unit_interval_and_one_for_a_reference(hyp, refs):
    assert 0.0 <= score(hyp, refs) <= 1.0 + 1e-15
    assert score(refs[0], refs) == pytest.approx(1.0, abs=1e-15)


def test_precision_and_recall_come_from_different_references():
    hyp = ["a", "dog", "runs"]
    refs = [["a", "dog"], ["a", "dog", "runs", "home", "fast"]]
    # precision 2/3 and recall 1, precision 1 and recall 3/5
    singles = [score(hyp, [ref]) for ref in refs]
    assert max(singles) < 0.9
    assert score(hyp, refs) == pytest.approx(1.0, abs=1e-15)


def test_f_weighs_recall_by_beta_squared_and_is_zero_without_a_match():
    assert BETA == 1.2
    assert f_measure(
        np.array([0.5, 0.0, 0.0]), np.array([1.0, 1.0, 0.0])
    ) == pytest.approx([2.44 * 0.5 / (1.0 + 1.44 * 0.5), 0.0, 0.0])
