"""Accuracies of choices against loops over the definitions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness_metrics.choice import choices


def winoground(scores):
    """Return the three scores of one group of two,
    as section 3.2 of the paper words them.
    """
    (c0_i0, c1_i0), (c0_i1, c1_i1) = scores
    text = c0_i0 > c1_i0 and c1_i1 > c0_i1
    image = c0_i0 > c0_i1 and c1_i1 > c1_i0
    return float(text), float(image), float(text and image)


@given(
    st.lists(
        st.lists(st.integers(-3, 0), min_size=4, max_size=4), min_size=1, max_size=6
    )
)
def test_group_scores_are_those_of_the_paper(rows):
    scores = np.array(rows, dtype=float).reshape(-1, 2, 2)
    result = choices.score_groups(scores)
    expected = np.array([winoground(group) for group in scores.tolist()])
    np.testing.assert_array_equal(
        np.stack([result["text"], result["image"], result["group"]], axis=1), expected
    )


def test_groups_of_three_compare_every_pair():
    scores = np.full((1, 3, 3), -5.0)
    scores[0, range(3), range(3)] = -1.0
    assert [values.tolist() for values in choices.score_groups(scores).values()] == [
        [1.0]
    ] * 3
    # caption 2 is better than caption 0 on image 0, and better there than on its own
    # image
    scores[0, 0, 2] = -0.5
    assert [values.tolist() for values in choices.score_groups(scores).values()] == [
        [0.0],
        [0.0],
        [0.0],
    ]
    scores[0, 0, 2], scores[0, 2, 2] = -2.0, -3.0
    assert [values.tolist() for values in choices.score_groups(scores).values()] == [
        [1.0],
        [0.0],
        [0.0],
    ]


def test_arranged_restores_the_matrix():
    matrix = np.arange(9.0).reshape(3, 3)
    rows = [matrix[i, choices.option_order(i, 3)] for i in range(3)]
    np.testing.assert_array_equal(choices.arrange_groups(rows, 3)[0], matrix)


def test_ties_and_undefined_scores_are_wrong():
    rows = [
        np.array([-1.0, -1.0]),
        np.array([np.nan, -1.0]),
        np.array([-np.inf, -np.inf]),
        np.array([-1.0, -np.inf]),
    ]
    assert choices.mark_correct(rows).tolist() == [0.0, 0.0, 0.0, 1.0]


def test_shortest_shares_ties_and_chance_counts_options():
    lengths = [np.array([2, 2, 5]), np.array([5, 2, 2]), np.array([1, 2, 3, 4])]
    assert choices.shortest(lengths).tolist() == [0.5, 0.0, 1.0]
    assert choices.chance(lengths).tolist() == [1 / 3, 1 / 3, 0.25]
