"""The closed form of leave-one-out against a classifier fitted for every text."""

import numpy as np
import pytest

from harness.stats import permutation
from harness_metrics.kernel import geometry
from harness_metrics.twosample import c2st


def refitted(points, label, ridge):
    """Balanced accuracy of ridge regression with an intercept,
    fitted without each text in turn.
    """
    size = len(points)
    n = label.sum()
    targets = np.where(label, size / n, -size / (size - n))
    centred = points - points.mean(axis=0)
    penalty = ridge * (centred**2).sum() / size
    right = []
    for i in range(size):
        rest = np.arange(size) != i
        x = np.column_stack([np.ones(size - 1), centred[rest]])
        regular = penalty * np.diag([0.0] + [1.0] * points.shape[1])
        beta = np.linalg.solve(x.T @ x + regular, x.T @ targets[rest])
        right.append(
            np.sign(np.concatenate([[1.0], centred[i]]) @ beta) == np.sign(targets[i])
        )
    right = np.array(right)
    return (right[label].mean() + right[~label].mean()) / 2


@pytest.mark.parametrize("ridge", [0.1, 1.0])
def test_leave_one_out_equals_fitting_again(ridge):
    points = np.random.default_rng(0).standard_normal((3, 7, 4))
    smooth = c2st.smoother(geometry.gram(points), ridge)
    labels = permutation.relabelings(3, 4)
    expected = [
        [refitted(example, label, ridge) for label in labels] for example in points
    ]
    np.testing.assert_allclose(c2st.accuracy(smooth, labels), expected, atol=1e-12)


def test_samples_apart_and_equal_texts():
    points = np.array([[[0.0], [0.1], [0.2], [5.0], [5.1]], [[1.0]] * 5])
    label = (np.arange(5) < 3)[None]
    values = c2st.accuracy(c2st.smoother(geometry.gram(points), 1.0), label)
    assert values[0, 0] == 1.0
    assert values[1, 0] <= 0.5
