"""The frame of the promises: which rates keep a goal,
and that the page shows what was measured.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.promises.__main__ import FIGURES, MARKS, PAGE, find_promises, table
from benchmarks.promises.populations import (
    CLUSTERS,
    MEAN_ZERO,
    WORSE,
    unseen_populations,
)
from benchmarks.promises.promise import Cell, Promise

ROOT = Path(__file__).parents[2]


def promise(**fields: object) -> Promise:
    return Promise(
        **{
            "name": "p",
            "sentence": "s",
            "places": ("docs/x.md",),
            "goal": 0.05,
            "measure": lambda full: [],
            **fields,
        }
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fields, hits, kept",
    [
        ({}, 58, True),  # .058 lies within two standard errors of .05
        ({}, 70, False),
        ({"exact": True}, 51, False),
        ({"goal": 0.93, "at_least": True}, 915, True),
        ({"goal": 0.93, "at_least": True}, 900, False),
        ({"goal": 0.93, "at_least": True, "exact": True}, 929, False),
    ],
)
def test_a_goal_is_kept_within_two_standard_errors_of_the_simulation(
    fields, hits, kept
):
    assert promise(**fields).holds(Cell("case", hits, 1000)) is kept


def test_the_worst_cell_is_the_one_on_the_wrong_side():
    cells = [Cell("low", 1, 100), Cell("high", 9, 100)]
    assert promise().worst(cells).case == "high"
    assert promise(at_least=True).worst(cells).case == "low"


@pytest.mark.parametrize(
    "population",
    [*MEAN_ZERO, *WORSE, *unseen_populations()],
    ids=lambda population: population.name,
)
def test_a_population_has_the_mean_that_it_states(population):
    values = population.draw(np.random.default_rng(1), (200_000,))
    error = values.std() / np.sqrt(len(values))
    assert abs(values.mean() - population.mean) <= 6 * error
    if population.bounds:
        assert (
            population.bounds[0] <= values.min()
            and values.max() <= population.bounds[1]
        )


@pytest.mark.parametrize("clusters", CLUSTERS, ids=lambda clusters: clusters.name)
def test_clusters_have_numbered_examples(clusters):
    values, numbers = clusters.draw(np.random.default_rng(1), 50)
    assert len(values) == len(numbers) and set(numbers) == set(range(50))


def test_the_page_shows_the_figures_that_are_kept():
    promises = find_promises()
    figures = json.loads((ROOT / FIGURES).read_text())
    assert set(figures) <= set(promises)
    page = (ROOT / PAGE).read_text()
    assert page.partition(MARKS[0])[2].partition(MARKS[1])[0].strip() == table(
        promises, figures
    )
