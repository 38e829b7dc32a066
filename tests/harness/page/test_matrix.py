"""The matrix: columns by question, rows, shares of the scale,
marks of the best cluster, CSV.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.analysis.pairs import ComparedRun
from harness.page.groups import (
    Clusters,
    Group,
    clusters_of,
    groups_of,
    system_key,
)
from harness.page.matrix import OTHER, Cell, matrix_of, table_rows
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable

SCALE = [
    ("people", "harness/human"),
    ("others", "harness/shuffled"),
    ("more people", "human"),
    ("a", "echo"),
]
"""Models and their adapters."""


def group(*names: str):
    (only,) = groups_of([(name, Run.open(name)) for name in names])
    return only


def with_records(run: Run, **changes):
    """The run with its records changed: model -> fields."""
    records = tuple(
        replace(record, **changes.get(record.model, {})) for record in run.records
    )
    return groups_of([("r", replace(run, records=records))])[0]


def test_rows_columns_and_scale(finished):
    matrix = matrix_of(group(finished()), Clusters())
    (column,) = matrix.columns
    assert (column.metric, column.question, column.higher_is_better, column.has_p) == (
        "length",
        OTHER,
        True,
        True,
    )
    assert [(row.model, row.role) for row in matrix.rows][1:] == [
        ("two", ""),
        ("people", "people"),
        ("others", "floor"),
    ]
    assert (matrix.has_runs, matrix.has_decodings, matrix.has_p) == (False, False, True)


def test_a_share_is_the_way_from_the_floor_to_people(finished):
    run = Run.open(finished())
    matrix = matrix_of(
        with_records(
            run, people={"value": 6.0}, others={"value": 2.0}, two={"value": 5.0}
        ),
        Clusters(),
    )
    shares = {row.model: row.cells[0].share for row in matrix.rows if row.cells[0]}
    assert (shares["people"], shares["others"], shares["two"]) == (1.0, 0.0, 0.75)
    cell = next(row for row in matrix.rows if row.model == "two").cells[0]
    assert (
        cell is not None
        and cell.share_text == "75 %"
        and set(cell.ticks) == {"people", "floor"}
    )


def test_bars_lie_within_the_column_and_undefined_values_have_none(finished):
    run = Run.open(finished())
    changed = with_records(
        run,
        two={"value": 1.0, "ci95": (0.0, 10.0)},
        people={"value": float("nan"), "ci95": None},
    )
    cells = {row.model: row.cells[0] for row in matrix_of(changed, Clusters()).rows}
    assert (cells["two"].low, cells["two"].width, cells["two"].dot) == (
        0.0,
        100.0,
        10.0,
    )
    assert (cells["people"].low, cells["people"].width, cells["people"].share) == (
        0.0,
        0.0,
        None,
    )


@pytest.mark.parametrize(
    ("leads", "expected"),
    [
        ((True, True, False, False), ["one", "two"]),
        ((True,) * 4, 4),
        ((False,) * 4, []),
    ],
)
def test_the_leading_systems_are_marked_also_where_all_lead(finished, leads, expected):
    name = finished()
    keys = [
        system_key(0, system.model, system.decoding_key)
        for _, system in group(name).systems
    ]
    matrix = matrix_of(
        group(name),
        Clusters(leading={"length": {key for key, lead in zip(keys, leads) if lead}}),
    )
    marked = [
        row.model.split(" <")[0]
        for row in matrix.rows
        if row.cells[0] and row.cells[0].best
    ]
    assert marked == expected or len(marked) == expected


def test_results_of_token_scores_join_the_row_of_their_model(finished):
    run = Run.open(finished())
    first = run.records[0]
    extra = replace(
        first,
        metric="perplexity",
        level="model",
        decoding={"strategy": "none"},
        sizes=None,
    )
    matrix = matrix_of(
        groups_of([("r", replace(run, records=(*run.records, extra)))])[0], Clusters()
    )
    assert len(matrix.rows) == 4
    assert [row.cells[1] is not None for row in matrix.rows] == [
        True,
        False,
        False,
        False,
    ]


def test_csv_has_numbers_in_full(finished):
    rows = table_rows(group(finished()))
    assert len(rows) == 5 and rows[0][:5] == (
        "run",
        "task",
        "model",
        "decoding",
        "metric",
    )
    values = dict(zip(rows[0], rows[2]))
    assert values["model"] == "two" and values["n"] == 5 and values["sizes"] == "2 + 2"


def test_clusters_of_a_run_with_one_system_are_empty(finished):
    assert clusters_of(group(finished(models=[{"echo": {}}]))) == Clusters()


def run_of(*records: ResultRecord, metrics=(), models=()) -> Run:
    """A run without captions: its records, labels of metrics and their names, labels of
    models and their adapters.
    """
    content = {
        "task": "t",
        "metrics": [
            {"label": label, "name": name, "params": {}, "signature": signature}
            for label, name, signature in metrics
        ],
        "models": [
            {"label": label, "adapter": adapter, "params": {}, "fingerprint": "f"}
            for label, adapter in models
        ],
    }
    return Run(Provenance(content), records, SampleTable.empty())


def matrix(*records: ResultRecord, **content):
    return matrix_of(
        Group((ComparedRun(run_of(*records, **content), name="r"),)), Clusters()
    )


def record(model: str, metric: str = "m", value: float = 1.0, **values) -> ResultRecord:
    return ResultRecord(model=model, metric=metric, value=value, **values)


def cell(share: float | None = None, letters: str = "", **values) -> Cell:
    return Cell(
        record("a", "cider", 0.5, n=9, **values),
        letters,
        best=False,
        low=0,
        width=0,
        dot=0,
        ticks={},
        share=share,
    )


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (cell(), "CIDEr-D 0.5000 · 9 examples"),
        (
            cell(ci95=(0.25, 0.75), interval_note="held fixed"),
            "CIDEr-D 0.5000 · 95 % interval 0.2500 … 0.7500 (held fixed) · 9 examples",
        ),
        (cell(interval_note="few"), "CIDEr-D 0.5000 · no interval: few · 9 examples"),
        (
            cell(p_value=0.012, p_note="is no reason"),
            "CIDEr-D 0.5000 · p 0.0120 · 9 examples",
        ),
        (
            cell(p_note="reads a scene"),
            "CIDEr-D 0.5000 · no p-value: the metric reads a scene · 9 examples",
        ),
        (
            cell(
                0.5,
                "ab",
                p_value=0.012,
                p_method="exact",
                p={"harmonic_mean": 0.25},
                skipped=2,
            ),
            "CIDEr-D 0.5000 · p 0.0120 (exact) · harmonic p 0.2500 · 9 examples, "
            "2 without a score · "
            "50 % of the way from shuffled captions to people · cluster ab",
        ),
    ],
)
def test_the_tooltip_of_a_cell_says_what_is_known_of_its_value(shown, expected):
    assert shown.hint == expected


def test_values_have_a_place_from_the_smallest_to_the_largest_and_undefined_ones_none():
    shown = matrix(
        record("a", value=3.0),
        record("b", value=1.0),
        record("c", value=math.nan),
        record("d", value=1.5, ci95=(1.0, 2.5)),
    )
    cells = [row.cells[0] for row in shown.rows]
    assert [(cell.placed, cell.low, cell.width, cell.dot) for cell in cells] == [
        (True, 100.0, 0.0, 100.0),
        (True, 0.0, 0.0, 0.0),
        (False, 0.0, 0.0, 0.0),
        (True, 0.0, 75.0, 25.0),
    ]
    assert [cell.share_text for cell in cells] == [""] * 4
    alone = matrix(record("a", value=5.0)).rows[0].cells[0]
    assert (alone.low, alone.width, alone.dot) == (0.0, 0.0, 0.0)


def test_columns_are_grouped_by_question_and_those_without_one_come_last():
    shown = matrix(
        record("a", "mine"),
        record("a", "distinct2"),
        record("a", "c", signature="cider|df:corpus"),
        record("a", "bleu1"),
        metrics=[
            ("bleu1", "bleu1", "b"),
            ("cider", "cider", "cider|df:corpus"),
            ("distinct2", "distinct", "d"),
        ],
    )
    assert [column.metric for column in shown.columns] == [
        "c",
        "bleu1",
        "distinct2",
        "mine",
    ], "a metric is found by its signature too"
    assert shown.questions == [
        ("Does a caption agree with its references?", 2),
        ("How varied are the candidates?", 1),
        (OTHER, 1),
    ]
    assert shown.has_questions and not matrix(record("a")).has_questions
    assert [column.summary for column in shown.columns][
        1
    ] == "BLEU-1" and shown.columns[3].summary == ""


def test_a_metric_has_the_question_of_its_own_entry_wherever_that_stands():
    shown = matrix(
        record("a", "first", signature="z|1"),
        record("a", "other", signature="m|1"),
        metrics=[("other", "distinct", "m|1"), ("first", "bleu1", "z|1")],
    )
    questions = {column.metric: column.question for column in shown.columns}
    assert questions == {
        "first": "Does a caption agree with its references?",
        "other": "How varied are the candidates?",
    }


def test_questions_of_a_project_are_heads_of_columns(project):
    registry = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        registry.replace("summary: words,", 'summary: words, question: "Which words?",')
    )
    shown = matrix(record("a", "length"), metrics=[("length", "mine/length", "length")])
    assert shown.questions == [("Which words?", 1)] and shown.has_questions


def test_the_scale_has_the_first_system_of_each_end():
    values = {"people": 6.0, "others": 2.0, "more people": 8.0, "a": 5.0}
    shown = matrix(
        *(record(model, value=value) for model, value in values.items()), models=SCALE
    )
    assert shown.has_ticks
    assert [row.role for row in shown.rows] == ["people", "floor", "people", ""]
    assert [row.cells[0].ticks for row in shown.rows] == [
        {"people": 66.7, "floor": 0.0}
    ] * 4
    assert [row.cells[0].share_text for row in shown.rows] == [
        "100 %",
        "0 %",
        "150 %",
        "75 %",
    ]


def test_without_both_ends_apart_there_is_no_share():
    people = record("people", value=2.0)
    others = record("others", value=2.0)
    a = record("a", value=5.0)
    for records, ticks in (
        ((people, a), True),
        ((people, others, a), True),
        ((a,), False),
    ):
        shown = matrix(*records, models=SCALE)
        assert shown.has_ticks is ticks
        assert [row.cells[0].share for row in shown.rows] == [None] * len(records)


def sized(model: str, candidates: int, **values) -> ResultRecord:
    return record(
        model, sizes={"candidates": [candidates], "references": [5]}, **values
    )


def test_rows_of_one_set_size_share_a_scale():
    values = [
        ("a", 2, 1.0),
        ("b", 1, 10.0),
        ("c", 2, 3.0),
        ("d", 3, 7.0),
        ("e", 1, 20.0),
    ]
    shown = matrix(
        *(
            sized(model, count, value=value, level="set")
            for model, count, value in values
        )
    )
    assert [
        (facet.title, [(row.model, row.cells[0].dot) for row in facet.rows])
        for facet in shown.facets
    ] == [
        ("sets of 2 + 5 (candidates + references)", [("a", 0.0), ("c", 100.0)]),
        ("sets of 1 + 5 (candidates + references)", [("b", 0.0), ("e", 100.0)]),
        ("sets of 3 + 5 (candidates + references)", [("d", 0.0)]),
    ]
    assert not shown.has_sizes, "the titles have them"


def test_sizes_have_a_column_where_they_differ_and_no_metric_depends_on_them():
    shown = matrix(sized("a", 1), sized("b", 2))
    assert shown.has_sizes and [facet.title for facet in shown.facets] == [""]
    assert [row.sizes for row in shown.rows] == ["1 + 5", "2 + 5"]
    assert not matrix(sized("a", 1), sized("b", 1)).has_sizes


def test_a_row_has_its_run_model_and_decoding():
    runs = [run_of(record("a|b|c", decoding={"temperature": 0.5})), run_of(record("d"))]
    shown = matrix_of(
        Group(
            tuple(
                ComparedRun(run, name=name) for run, name in zip(runs, ("one", "two"))
            )
        ),
        Clusters(),
    )
    assert [(row.run, row.model, row.decoding) for row in shown.rows] == [
        ("one", "a|b|c", "T=0.5"),
        ("two", "d", ""),
    ]
    assert (shown.title, shown.has_runs, shown.has_decodings) == ("t", True, True)
    assert not matrix(record("a"), record("b")).has_decodings


def test_results_of_token_scores_join_the_first_row_of_their_model():
    decodings = [{"temperature": 0.5}, {"temperature": 0.7}]
    tokens = [
        record(model, "perplexity", level="model", decoding={"strategy": "none"})
        for model in ("b", "alone")
    ]
    shown = matrix(
        *tokens,
        *(record(model, decoding=decoding) for model in "ab" for decoding in decodings),
    )
    assert [
        (row.model, row.decoding, row.cells[0] is not None) for row in shown.rows
    ] == [
        ("a", "T=0.5", False),
        ("a", "T=0.7", False),
        ("b", "T=0.5", True),
        ("b", "T=0.7", False),
        ("alone", "none", True),
    ]
    assert [column.metric for column in shown.columns] == ["perplexity", "m"]


def test_undefined_numbers_are_empty_cells_of_the_csv():
    rows = table_rows(
        Group(
            (
                ComparedRun(
                    run_of(record("a", value=math.nan), record("b", value=0.5, n=3)),
                    name="r",
                ),
            )
        )
    )
    assert [dict(zip(rows[0], row))["value"] for row in rows[1:]] == [None, 0.5]
    assert [dict(zip(rows[0], row))["run"] for row in rows[1:]] == ["r", "r"]
