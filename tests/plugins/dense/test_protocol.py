"""Interface of protocols, and their options."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.dense.protocol import FittedProtocol, VideoProtocol, f_measures


def test_f_measures_are_zero_for_nothing_and_undefined_for_undefined():
    precision = np.array([0.5, 0.0, np.nan, 1.0])
    recall = np.array([1.0, 0.0, 0.5, 0.0])
    found = f_measures(precision, recall)
    assert found[[0, 1, 3]] == pytest.approx([2 / 3, 0.0, 0.0])
    assert np.isnan(found[2])


def test_a_mean_over_videos_is_a_function_of_sums():
    protocol = VideoProtocol()
    sums = np.array([[3.0, 4.0], [0.0, 0.0]])
    mean, undefined = protocol.of_sums(sums)
    assert mean == 0.75
    assert np.isnan(undefined)


@pytest.mark.parametrize("base", [VideoProtocol, FittedProtocol])
def test_a_protocol_without_its_methods_says_so(base):
    with pytest.raises(NotImplementedError, match="must define scores"):
        base().scores([], None)
    if base is FittedProtocol:
        with pytest.raises(NotImplementedError, match="must define fit"):
            base().fit([], None)
