"""The matrix: columns by question, rows, shares of the scale, marks of the best cluster, CSV."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.reporting.page.groups import Clusters, clusters_of, groups_of, open_run, system_key
from harness.reporting.page.matrix import OTHER, matrix_of, table_rows
from harness.run.finished import Run


def group(*names: str):
    (only,) = groups_of([(name, open_run(name)) for name in names])
    return only


def with_records(run: Run, **changes):
    """The run with its records changed: model -> fields."""
    records = tuple(replace(record, **changes.get(record.model, {})) for record in run.records)
    return groups_of([("r", replace(run, records=records))])[0]


def test_rows_columns_and_scale(finished):
    matrix = matrix_of(group(finished()), Clusters())
    (column,) = matrix.columns
    assert (column.metric, column.question, column.higher_is_better, column.has_p) == ("length", OTHER, True, True)
    assert [(row.model, row.role) for row in matrix.rows][1:] == [("two", ""), ("people", "people"), ("others", "floor")]
    assert (matrix.has_runs, matrix.has_decodings, matrix.has_p) == (False, False, True)


def test_a_share_is_the_way_from_the_floor_to_people(finished):
    run = Run.open(finished())
    matrix = matrix_of(with_records(run, people={"value": 6.0}, others={"value": 2.0}, two={"value": 5.0}), Clusters())
    shares = {row.model: row.cells[0].share for row in matrix.rows if row.cells[0]}
    assert (shares["people"], shares["others"], shares["two"]) == (1.0, 0.0, 0.75)
    cell = next(row for row in matrix.rows if row.model == "two").cells[0]
    assert cell is not None and cell.share_text == "75 %" and set(cell.ticks) == {"people", "floor"}


def test_bars_lie_within_the_column_and_undefined_values_have_none(finished):
    run = Run.open(finished())
    changed = with_records(run, two={"value": 1.0, "ci95": (0.0, 10.0)}, people={"value": float("nan"), "ci95": None})
    cells = {row.model: row.cells[0] for row in matrix_of(changed, Clusters()).rows}
    assert (cells["two"].low, cells["two"].width, cells["two"].dot) == (0.0, 100.0, 10.0)
    assert (cells["people"].low, cells["people"].width, cells["people"].share) == (0.0, 0.0, None)


@pytest.mark.parametrize(("leads", "expected"), [((True, True, False, False), ["one", "two"]), ((True,) * 4, 4), ((False,) * 4, [])])
def test_the_leading_systems_are_marked_also_where_all_lead(finished, leads, expected):
    name = finished()
    keys = [system_key(0, system.model, system.decoding_key) for _, system in group(name).systems]
    matrix = matrix_of(group(name), Clusters(leading={"length": {key for key, lead in zip(keys, leads) if lead}}))
    marked = [row.model.split(" <")[0] for row in matrix.rows if row.cells[0] and row.cells[0].best]
    assert marked == expected or len(marked) == expected


def test_results_of_token_scores_join_the_row_of_their_model(finished):
    run = Run.open(finished())
    first = run.records[0]
    extra = replace(first, metric="perplexity", level="model", decoding={"strategy": "none"}, sizes=None)
    matrix = matrix_of(groups_of([("r", replace(run, records=(*run.records, extra)))])[0], Clusters())
    assert len(matrix.rows) == 4
    assert [row.cells[1] is not None for row in matrix.rows] == [True, False, False, False]


def test_csv_has_numbers_in_full(finished):
    rows = table_rows(group(finished()))
    assert len(rows) == 5 and rows[0][:5] == ("run", "task", "model", "decoding", "metric")
    values = dict(zip(rows[0], rows[2]))
    assert values["model"] == "two" and values["n"] == 5 and values["sizes"] == "2 + 2"


def test_clusters_of_a_run_with_one_system_are_empty(finished):
    assert clusters_of(group(finished(models=[{"echo": {}}]))) == Clusters()
