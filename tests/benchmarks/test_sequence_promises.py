"""The sequences of many runs at once, as the promises measure them,
against the library.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.promises import sequences
from benchmarks.promises.populations import CLUSTERS, MEAN_ZERO
from harness.stats.anytime import betting_looks


@pytest.mark.parametrize("reach", [None, 1.0])
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(
    "population", [*MEAN_ZERO, *sequences.UNEVEN], ids=lambda item: item.name
)
def test_paths_are_those_of_the_library(population, reach, paired):
    values = population.draw(np.random.default_rng(0), (2, 450))
    paths = sequences.find_paths(values, reach=reach, paired=paired)
    sequences.check_paths(paths, values, None, reach, paired)
    assert (
        paths.excludes(0.0).shape == (2, 450) and not paths.excludes(0.0)[:, :199].any()
    )


@pytest.mark.parametrize("reach", [None, 5.0])
@pytest.mark.parametrize("clusters", CLUSTERS, ids=lambda item: item.name)
def test_paths_of_clusters_are_those_of_the_library(clusters, reach):
    sums, sizes = sequences.draw_clusters(clusters, np.random.default_rng(1), 2, 400)
    sequences.check_paths(
        sequences.find_paths(sums, sizes, reach), sums, sizes, reach, True
    )


def test_a_wrong_path_is_noticed():
    values = np.random.default_rng(2).standard_normal((1, 300))
    plain = sequences.find_paths(values)
    with pytest.raises(AssertionError):
        sequences.check_paths(
            sequences.Paths(plain.value, 1.01 * plain.radius), values, None, None, True
        )


def test_values_are_counted_where_they_occur_first():
    assert sequences.count_values(
        np.array([[3.0, 1.0, 3.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0, 5.0]])
    ).tolist() == [
        [1, 2, 2, 3, 3],
        [1, 1, 1, 1, 2],
    ]


def test_evidence_of_bets_is_that_of_the_library():
    values = np.random.default_rng(3).uniform(-1, 1, (1, 80)) + 0.2
    (look,) = betting_looks(values[0], np.ones(80), 1.2, [80], ends=False)
    assert min(
        1.0, np.exp(-sequences.betting_evidence(values, 1.2, 1.2)[0].max())
    ) == pytest.approx(look.p_value)


def test_looks_of_until_end_with_the_data():
    assert sequences.batch_ends(450).tolist() == [200, 400, 450]
