"""Credit of judged pairs under each tie policy, and the calibrated tie threshold against an exhaustive search."""

import numpy as np
import pytest

from harness.stats.judged_pairs import calibrated_epsilon, correctness, differences

D = np.array([2.0, -1.0, 0.0, 0.0, 3.0, np.nan])
HUMAN = np.array([1.0, 1.0, -1.0, 0.0, 0.0, 1.0])


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


def test_differences_by_rounding_alone_are_ties():
    # BLEU-1 of 3 in 6 words and of 4 in 8 words, as the toolkit computes them.
    first, second = 3 / (6 + 1e-9), 4 / (8 + 1e-9)
    assert first != second
    assert differences(np.array([first, 1.0]), np.array([second, 0.9])).tolist() == [0.0, pytest.approx(0.1)]
    assert differences(np.array([0.0]), np.array([0.0])).tolist() == [0.0]


def test_the_threshold_maximises_the_accuracy():
    rng = np.random.default_rng(3)
    for _ in range(20):
        d, human = np.round(rng.normal(size=40), 1), rng.integers(-1, 2, 40).astype(float)
        epsilon = calibrated_epsilon(d, human)
        values = {e: correctness(d, human, "epsilon", e).mean() for e in (0.0, *np.abs(d))}
        assert values[epsilon] == pytest.approx(max(values.values()))
        assert epsilon == min(e for e, value in values.items() if value >= max(values.values()) - 1e-12)
    assert calibrated_epsilon(np.array([np.nan]), np.array([1.0])) == 0.0
