import numpy as np

from harness_metrics.bases.relabeled import evaluate_labels, observed_labels


def test_observed_labels_put_candidates_first():
    assert observed_labels(2, 3).tolist() == [[True, True, False, False, False]]


def test_blocks_of_labels_do_not_change_values():
    examples, prepared = np.arange(6.0).reshape(2, 3), []

    def prepare(row):
        prepared.append(row.tolist())
        return lambda labels: labels @ row

    labels = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    expected = examples @ labels.T
    assert np.array_equal(evaluate_labels(examples, labels, 2, prepare), expected)
    assert prepared == examples.tolist()  # once per example, whatever the number of blocks
    assert evaluate_labels(examples[:0], labels, 2, prepare).shape == (0, 3)
