"""The fast exchanges of the simulation of null sizes are those of the package."""

import numpy as np
import pytest

from benchmarks.metric_exchanges import exchange, leave_out_items
from benchmarks.metric_tests import (
    OF_SYSTEMS,
    ROWS,
    STATISTICS,
    draw_judgments,
    draw_systems,
    p_values,
    whole_set,
)
from harness.judgments.rated_agreement import CORRELATIONS
from harness.stats.jackknife import weights_without_items


@pytest.fixture
def data():
    return draw_judgments(np.random.default_rng(3), 20, 5, 1.0, 1.2)


@pytest.mark.parametrize("first", [2, 4])
@pytest.mark.parametrize("statistic", ROWS)
@pytest.mark.parametrize("units", [20, 100])
def test_exchanges_equal_the_statistic_of_exchanged_scores(
    data, statistic, first, units
):
    human, (a, b) = data[1], data[first : first + 2]
    keep = np.random.default_rng(1).integers(0, 2, (6, units)).astype(bool)
    of_rows = np.repeat(keep, 100 // units, axis=1)
    both = [
        (whole_set(statistic, x, human), whole_set(statistic, y, human))
        for x, y in zip(np.where(of_rows, a, b), np.where(of_rows, b, a))
    ]
    assert exchange(statistic, a, b, human, keep) == pytest.approx(
        np.subtract(*np.transpose(both)), abs=1e-6
    )


def test_tau_without_each_item(data):
    expected = CORRELATIONS["kendall_b"](data[5], data[1])(
        weights_without_items(20)[:, data[0]]
    )
    assert leave_out_items(data[5], data[1], 5) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_equal_metrics_are_never_told_apart(data, statistic):
    used = (
        draw_systems(np.random.default_rng(2), 20, 1.0, 1.0)
        if statistic == OF_SYSTEMS
        else data
    )
    used[3] = used[2]
    assert set(p_values(statistic, used, 2, 0).values()) == {1.0}
