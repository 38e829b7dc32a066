"""Scores of captions: selected tokens, products and perplexities."""

from __future__ import annotations

import numpy as np

from harness_metrics.pregen.caption_scores import score_captions
from harness_metrics.pregen.tokens import flatten

TOKENS = flatten([[[(0.5, 0), (0.25, 3), (0.5, 0)], [(0.125, 1)]]])


def test_the_prefix_ends_at_the_first_token_of_another_rank():
    kinds = [("count", "none"), ("count", "filter0"), ("count", "prefix0")]
    assert score_captions(TOKENS, kinds).tolist() == [[3, 1], [1, 1], [1, 0]]


def test_a_caption_without_a_selected_token_is_impossible():
    kinds = [("prob", "prefix0"), ("pplx", "prefix0"), ("normcount", "prefix0")]
    expected = [[0.5, 0.0], [2.0, np.inf], [1 / 3, 0.0]]
    np.testing.assert_allclose(score_captions(TOKENS, kinds), expected, rtol=1e-15)
