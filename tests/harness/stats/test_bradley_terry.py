"""Bradley-Terry strengths against a general optimiser, their ranks,
and the counts that they are found from.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from harness.stats.bradley_terry import count_wins, ranks, reachable, strengths


def by_optimiser(wins: np.ndarray, prior: float) -> np.ndarray:
    """Maximise the penalised likelihood written as a loop."""
    n = len(wins)

    def loss(values: np.ndarray) -> float:
        total = 0.0
        for i in range(n):
            for j in range(n):
                if i != j:
                    total += (wins[i, j] + prior / 2) * np.log1p(
                        np.exp(values[j] - values[i])
                    )
        return total + values.mean() ** 2

    result = minimize(loss, np.zeros(n), method="BFGS", options={"gtol": 1e-9})
    return result.x - result.x.mean()


@pytest.mark.parametrize(("n", "prior"), [(2, 0.0), (3, 0.0), (5, 1.0), (8, 0.5)])
def test_strengths_maximise_the_likelihood(n: int, prior: float):
    wins = np.random.default_rng(n).integers(1, 12, (n, n)).astype(float)
    np.testing.assert_allclose(
        strengths(wins, prior), by_optimiser(wins, prior), atol=1e-6
    )


def test_many_resamples_are_those_of_one():
    wins = np.random.default_rng(0).integers(0, 9, (6, 4, 4)).astype(float)
    together = strengths(wins)
    assert together.shape == (6, 4)
    np.testing.assert_allclose(together, [strengths(part) for part in wins], atol=1e-12)


def test_a_competitor_that_always_wins_is_finite_with_a_prior_alone():
    wins = np.array([[0, 50, 50], [0, 0, 25], [0, 25, 0]], dtype=float)
    values = strengths(wins)
    assert values[0] > 2 and np.isfinite(values).all()
    assert values[1] == pytest.approx(values[2])
    with pytest.raises(ValueError, match="no finite strengths"):
        strengths(wins, prior=0.0)


def test_a_circle_of_wins_connects():
    wins = np.zeros((5, 5))
    wins[np.arange(5), (np.arange(5) + 1) % 5] = 1
    np.testing.assert_allclose(strengths(wins, prior=0.0), np.zeros(5), atol=1e-9)
    wins[4, 0] = 0
    with pytest.raises(ValueError, match="no finite strengths"):
        strengths(wins, prior=0.0)


def test_equal_strengths_share_a_rank():
    assert ranks(np.array([[1.0, 1.0, 2.0, -1.0]])).tolist() == [[2, 2, 1, 4]]
    # rounding errors make no difference
    assert ranks(np.array([0.1 + 0.2, 0.3, 0.3 + 1e-6])).tolist() == [2, 2, 1]


def test_points_of_pairs_are_wins_of_systems():
    first = np.array([0, 1, 0])
    second = np.array([1, 2, 1])
    points = np.array([[1.0, 0.5, 0.0], [2.0, 0.0, 0.0]])
    wins = count_wins(first, second, np.stack([points, 1 - points]), 3)
    np.testing.assert_array_equal(wins[0], [[0, 1, 0], [1, 0, 0.5], [0, 0.5, 0]])
    assert wins.shape == (2, 3, 3) and wins[1, 0, 1] == 2 and wins[1, 1, 0] == 0


def test_paths_of_many_steps_reach():
    chain = np.eye(9, k=1, dtype=bool)
    assert reachable(chain)[0].all() and not reachable(chain)[3, 2]
