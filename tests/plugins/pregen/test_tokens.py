"""Nested and flat token probabilities and ranks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import TokenScores
from harness.errors import InputError
from harness_metrics.pregen.tokens import FlatTokens, flatten, from_token_scores

token = st.tuples(st.floats(0.0, 1.0), st.integers(0, 3))
datasets = st.lists(
    st.lists(st.lists(token, min_size=1, max_size=4), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


def nested(tokens: FlatTokens) -> list:
    """The probabilities and the marks of rank 0 as nested lists."""
    pairs = list(zip(tokens.probabilities.tolist(), tokens.top.tolist()))
    captions = [
        pairs[start:stop]
        for start, stop in zip(tokens.captions[:-1], tokens.captions[1:])
    ]
    return [
        captions[start:stop]
        for start, stop in zip(tokens.images[:-1], tokens.images[1:])
    ]


@given(datasets)
def test_flat_arrays_hold_the_nested_values(dataset):
    expected = [
        [[(p, rank == 0) for p, rank in caption] for caption in image]
        for image in dataset
    ]
    tokens = flatten(dataset)
    assert nested(tokens) == expected
    assert tokens.lengths.tolist() == [
        len(caption) for image in dataset for caption in image
    ]
    assert flatten(tokens) is tokens


@given(datasets, st.data())
def test_images_can_be_taken_in_any_order_and_repeatedly(dataset, data):
    order = data.draw(
        st.lists(st.integers(0, len(dataset) - 1), min_size=1, max_size=5)
    )
    assert nested(flatten(dataset).take(np.array(order))) == nested(
        flatten([dataset[k] for k in order])
    )


def test_token_scores_equal_probabilities_and_ranks():
    scores = [
        [TokenScores(np.log([0.5, 0.25]), np.array([0, 3]))],
        [TokenScores(np.array([-np.inf]), np.array([1]))],
    ]
    tokens = from_token_scores(scores)
    np.testing.assert_allclose(tokens.probabilities, [0.5, 0.25, 0.0])
    np.testing.assert_allclose(tokens.log2, [-1, -2, -np.inf])
    assert tokens.top.tolist() == [True, False, False]
    assert (tokens.captions.tolist(), tokens.images.tolist()) == ([0, 2, 3], [0, 1, 2])


def test_token_scores_of_unequal_length_are_refused():
    with pytest.raises(
        InputError,
        match=r"^image 0, caption 1: log_probs have shape \(1,\) and ranks \(2,\)",
    ):
        from_token_scores(
            [
                [
                    TokenScores(np.array([-1.0]), np.array([0])),
                    TokenScores(np.array([-1.0]), np.array([0, 1])),
                ]
            ]
        )


@pytest.mark.parametrize(
    "dataset, message",
    [
        (
            [[[(0.5, 0)], [(0.5, 0), (1.5, 0)]]],
            r"image 0, caption 1, token 1: probability 1.5, "
            r"expected a number in \[0, 1\]",
        ),
        (
            [[[(0.5, 0)]], [[(-0.1, 0)]]],
            "image 1, caption 0, token 0: probability -0.1",
        ),
        ([[[(math.nan, 0)]]], "probability nan"),
        ([[[(0.5, -1)]]], "rank -1.0, expected an integer of at least 0"),
        ([[[(0.5, 0.5)]]], "rank 0.5"),
        ([[[(0.5, math.nan)]]], "rank nan"),
        ([[[(0.5, math.inf)]]], "rank inf"),
        ([[[(0.5, 0)], []]], "image 0, caption 1: the caption has no tokens"),
        ([[[(0.5, 0)]], []], "image 1: the image has no captions"),
        ([], "the data set has no images"),
        (
            [[[(0.5, 0), (0.5,)]]],
            r"image 0, caption 0, token 1: found \(0.5,\), expected a \(probability, "
            r"rank\) pair",
        ),
        ([[[(0.5, "x")]]], "expected a .probability, rank. pair"),
        ([[[0.5, 0.5]]], "token 0: found 0.5"),
        ([0.5], "images -> captions -> tokens"),
    ],
)
def test_invalid_data(dataset, message):
    with pytest.raises(InputError, match=message) as error:
        flatten(dataset)
    assert "\n" not in str(error.value)
