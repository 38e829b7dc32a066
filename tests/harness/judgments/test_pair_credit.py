"""Credit of judged pairs: policies for ties, the threshold of ties."""

import numpy as np
import pytest

from harness.contracts import JudgedCaption, JudgedItem, JudgedPair, Judgments
from harness.judgments.agreement import agreements
from harness.judgments.metric_scores import MetricScores
from harness.judgments.pair_credit import calibrated_epsilon, correctness
from harness.judgments.rows import JudgmentRows
from tests.support.judged_sets import rated_rows, spec, value

SCORES = np.array([[2.0], [1], [5], [4], [1], [1], [3], [3]])
HUMAN = np.array([1.0, 1.0, -1.0, 0.0, 0.0, 1.0])
D = np.array([1.0, -1.0, 0.0, 0.0, 3.0, np.nan])


def pair_rows(**keys):
    captions = tuple(JudgedCaption(k // 4, (str(k),)) for k in range(8))
    pairs = tuple(
        JudgedPair(first, second, (preference,), {"code": code})
        for first, second, preference, code in (
            (0, 1, 3, 1),
            (2, 3, -1, 2),
            (4, 5, 0, 1),
            (6, 7, 1, 2),
        )
    )
    judgments = Judgments(
        "f", (JudgedItem("a", ("r",)), JudgedItem("b", ("r",))), captions, pairs
    )
    keys = {"statistics": ["accuracy"], "judgments": {"form": "pairs"}, **keys}
    return JudgmentRows(judgments, spec(**keys))


@pytest.mark.parametrize(
    ("ties", "expected", "n"),
    [("half", 0.5, 3), ("wrong", 1 / 3, 3), ("skip", 0.5, 2), ("epsilon", 0.5, 4)],
)
def test_accuracy(ties, expected, n):
    result = agreements(pair_rows(ties=ties), MetricScores(SCORES), "accuracy")["all"]
    assert result.reduce(np.ones((1, 2)))[0] == pytest.approx(expected)
    assert result.n == n and result.details["ties"] == pytest.approx(1 / 3)


def test_accuracy_by_group_and_item():
    rows = pair_rows(groups={"by": "code", "labels": {1: "HC", 2: "veracity"}})
    assert rows.group_names == ("all", "HC", "veracity", "mean")
    assert [value(rows, SCORES, "accuracy", g) for g in rows.group_names] == [
        0.5,
        1.0,
        0.25,
        0.625,
    ]
    assert value(rows, SCORES, "accuracy", weights=np.array([0, 1])) == 0.5


@pytest.mark.parametrize(
    ("ties", "expected"), [("half", 2.25 / 3), ("wrong", 2 / 3), ("skip", 2.5 / 3)]
)
def test_the_credit_of_a_pair_is_the_mean_over_the_draws_in_which_it_counts(
    ties, expected
):
    second = np.array([[1.0], [0], [0], [1], [0], [0], [2], [0]])
    result = agreements(
        pair_rows(ties=ties),
        MetricScores(np.concatenate([SCORES, second], axis=1)),
        "accuracy",
    )["all"]
    assert result.reduce(np.ones((1, 2)))[0] == pytest.approx(expected)
    # the last pair is tied in one of two draws
    assert result.n == 3 and result.details["ties"] == pytest.approx(1 / 6)


def test_the_threshold_of_ties_is_that_of_all_draws():
    differences = np.array([[2.0, 2.0], [-2.0, -3.0], [0.5, 0.5], [0.25, 3.0]])
    scores = np.stack([differences, np.zeros((4, 2))], axis=1).reshape(8, 2)
    result = agreements(pair_rows(ties="epsilon"), MetricScores(scores), "accuracy")[
        "all"
    ]
    assert result.details["epsilon"] == 0.5 and result.details["ties"] == pytest.approx(
        1 / 6
    )
    assert result.reduce(np.ones((1, 2)))[0] == pytest.approx(3.5 / 4) and result.n == 4


def test_pairs_without_a_score_have_no_ties():
    result = agreements(
        pair_rows(), MetricScores(np.full_like(SCORES, np.nan)), "accuracy"
    )["all"]
    assert (result.n, result.skipped, result.details) == (
        0,
        4,
        {"ties": 0.0, "items": 0, "captions": 0},
    )
    assert np.isnan(result.reduce(np.ones((1, 2)))[0])


def test_pairs_of_rated_captions():
    rows, scores = rated_rows(statistics=["accuracy"])
    human = np.array([np.mean(c.ratings) for c in rows.judgments.captions])
    right = total = 0.0
    for i in range(36):
        for j in range(i + 1, 36):
            if i // 3 == j // 3 and human[i] != human[j]:
                total += 1
                right += (scores[i, 0] - scores[j, 0]) * (human[i] - human[j]) > 0
    assert value(rows, scores, "accuracy") == pytest.approx(right / total)


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("half", [1, 0, 0.5, np.nan, np.nan, np.nan]),
        ("wrong", [1, 0, 0, np.nan, np.nan, np.nan]),
        ("skip", [1, 0, np.nan, np.nan, np.nan, np.nan]),
        ("epsilon", [1, 0, 0, 1, 0, np.nan]),
    ],
)
def test_policies(ties, expected):
    np.testing.assert_array_equal(correctness(D, HUMAN, ties), expected)


def test_draws_are_columns():
    both = correctness(np.stack([D, -D], axis=1), HUMAN, "half")
    np.testing.assert_array_equal(both[:, 0], correctness(D, HUMAN, "half"))
    np.testing.assert_array_equal(both[:3, 1], [0, 1, 0.5])


def test_the_threshold_maximises_the_accuracy():
    rng = np.random.default_rng(3)
    for _ in range(20):
        d = np.round(rng.normal(size=40), 1)
        human = rng.integers(-1, 2, 40).astype(float)
        epsilon = calibrated_epsilon(d, human)
        values = {
            e: correctness(d, human, "epsilon", e).mean() for e in (0.0, *np.abs(d))
        }
        assert values[epsilon] == pytest.approx(max(values.values()))
        assert epsilon == min(
            e for e, value in values.items() if value >= max(values.values()) - 1e-12
        )
    assert calibrated_epsilon(np.array([np.nan]), np.array([1.0])) == 0.0


@pytest.mark.parametrize(
    ("difference", "human", "expected"),
    [
        ([1, 2], [1, 1], 0.0),
        # a tie in place of the wrong answer makes no pair correct
        ([-1, 2], [1, 1], 0.0),
        # the tie of people is beyond two equal differences
        ([-1, -1, 2], [1, 1, 0], 2.0),
        ([-1, 1, 2], [0, 0, 1], 1.0),
    ],
)
def test_a_threshold_counts_where_it_makes_more_pairs_correct(
    difference, human, expected
):
    assert (
        calibrated_epsilon(
            np.array(difference, dtype=float), np.array(human, dtype=float)
        )
        == expected
    )
