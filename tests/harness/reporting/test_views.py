"""Series of a view: one metric against another, and decoding fields that a record
leaves at their defaults.
"""

import math
import sys

import pytest

from harness.errors import HarnessError
from harness.reporting.views import (
    NOT_PUBLISHED,
    OTHER_DATA,
    add_published_rows,
    number_table,
    quantity,
    series,
    split_quantity,
    view_table,
)
from harness.rundir.records import ResultRecord, lookup
from harness.spec.models import ViewSpec
from harness.spec.published import PublishedTable

TABLE = PublishedTable.model_validate(
    {
        "source": "a paper",
        "rows": [
            {
                "label": "A",
                "title": "theirs",
                "task": "t",
                "values": {"x": 1.0, "y": "< 0.5"},
            },
            {
                "label": "A",
                "title": "of another set",
                "task": "u",
                "values": {"x": 9.0},
            },
            {"title": "alone", "values": {"y": 2.0}},
        ],
    }
)
ROWS = [("A", (1.5, 0.2)), ("B", (3.0, math.nan))]


def record(metric, model, value, **decoding):
    return ResultRecord(
        metric=metric, model=model, value=value, decoding=decoding, task="t"
    )


RESULTS = [
    record("cr", "a", 1.0),
    record("nrr", "a", -1.0),
    record("cr", "a", 3.0, temperature=0.5),
    record("nrr", "a", -3.0, temperature=0.5),
    record("cr", "b", 2.0),
    record("nrr", "b", float("nan")),
]


def test_two_metrics_of_a_model_and_decoding_against_each_other():
    (a,) = series(RESULTS, "metric:nrr", "cr", "model")  # b lacks a number
    assert (a.label, a.x, a.y) == ("a", (-3.0, -1.0), (3.0, 1.0))
    (ungrouped, *_) = series(RESULTS, "metric:cr", "nrr", "model_params.pair")
    assert ungrouped.label == "a"
    with pytest.raises(HarnessError, match="did you mean 'nrr'"):
        series(RESULTS, "metric:nr", "cr", "model")


def test_the_metric_of_the_axis_is_its_own_wherever_it_stands():
    records = [
        record("nrr", "a", -1.0),
        record("cr", "a", 1.0),
        record("more", "a", 7.0),
    ]
    rows = series(records, "metric:nrr", ["cr", "more"], "model")
    assert [(row.label, row.x, row.y) for row in rows] == [
        ("cr a", (-1.0,), (1.0,)),
        ("more a", (-1.0,), (7.0,)),
    ]


def test_several_quantities_or_no_group_name_the_quantity():
    labels = [
        [row.label for row in series(RESULTS, "decoding.temperature", y, by)]
        for y, by in ((["cr", "nrr"], "model"), (["cr"], None))
    ]
    assert labels == [["cr a", "cr b", "nrr a", "nrr b"], ["cr"]]


def test_a_decoding_field_that_is_not_recorded_has_its_default():
    assert lookup(RESULTS[0], "decoding.temperature") == 1.0
    assert lookup(RESULTS[0], "decoding.nothing") is None
    (a, *_) = series(RESULTS, "decoding.temperature", "cr", "model")
    assert a.x == (0.5, 1.0)


def test_quantities_of_the_combined_p_values():
    means = {"mean": 0.4, "mean_log": -1.2}
    p = {
        **means,
        "calibrated": 0.5,
        "log_calibrated": math.log(0.5),
        "harmonic_mean": 0.25,
        "log_harmonic_mean": math.log(0.25),
    }
    tested = ResultRecord(
        metric="m",
        model="a",
        value=1.0,
        p_value=0.5,
        p={**p, "harmonic_mean_test": 0.75, "fisher": 0.6},
    )
    expected = {
        "p": 0.5,
        "log p": math.log(0.5),
        "harmonic p": 0.25,
        "log harmonic p": math.log(0.25),
        "combined p": 0.75,
        "fisher p": 0.6,
    }
    expected |= {"mean p": 0.4, "log mean p": math.log(0.4), "mean log p": -1.2}
    for what, value in expected.items():
        assert split_quantity(f"{what}:m") == (what, "m")
        assert quantity(tested, what) == (pytest.approx(value), None)
    for what in expected:
        assert math.isnan(quantity(RESULTS[0], what)[0])


def test_quantities_of_time():
    timed = ResultRecord(metric="m", model="a", value=1.0, n=10, seconds=4.0)
    assert (quantity(timed, "seconds"), quantity(timed, "per second")) == (
        (4.0, None),
        (2.5, None),
    )
    value, ends = quantity(
        ResultRecord(metric="m", model="a", value=1.0, n=10), "per second"
    )
    assert math.isnan(value) and ends is None


def test_the_logarithm_of_a_p_value_below_the_range_of_floats_is_that_of_the_record():
    for p in (sys.float_info.min, 0.0):
        small = ResultRecord(
            metric="m", model="a", p_value=p, p={"log_calibrated": -5000.0}
        )
        assert quantity(small, "log p") == (-5000.0, None)


def test_the_table_of_a_view_has_rounded_texts_and_data_in_full():
    rows = [
        ("cider", (0.123456, math.nan)),
        ("bleu", (None, 12345.678)),
        ("published", (0.5, "< 1")),
    ]
    table = number_table(
        ViewSpec(plot="table", title="T", note="a note"), "model", ("a", "b"), rows
    )
    assert table.data == [
        ["model", "a", "b"],
        ["cider", 0.123456, ""],
        ["bleu", "", 12345.678],
        ["published", 0.5, "< 1"],
    ]
    assert table.rows == [
        ["cider", "0.1235", ""],
        ["bleu", "", "12345.68"],
        ["published", "0.5000", "< 1"],
    ]
    assert (table.title, table.notes, table.alignment) == ("T", ["a note"], "lrr")


def test_tables_of_views_have_names_and_data_code_labels():
    records = [
        record("bleu4", "a", 0.5),
        record("trm(meteor)", "a", 0.25),
        record("mine", "a", 1.0),
    ]
    table = view_table(
        ViewSpec(plot="table", x="metric", y="*", by="model", reference={"bleu4": 0.4}),
        records,
    )
    assert table.headers == ["metric", "BLEU-4", "TRM (METEOR)", "mine"]
    assert table.rows == [
        ["a", "0.5000", "0.2500", "1.0000"],
        ["published", "0.4000", "", ""],
    ]
    assert table.data[0] == ["metric", "bleu4", "trm(meteor)", "mine"]
    table = view_table(
        ViewSpec(plot="table", x="model", y=["bleu4", "p:trm(meteor)"]), records
    )
    assert (table.title, table.headers) == ("BLEU-4, p:TRM (METEOR)", ["model", "a"])
    assert table.rows == [["BLEU-4", "0.5000"], ["p:TRM (METEOR)", ""]]
    assert [row[0] for row in table.data] == ["model", "bleu4", "p:trm(meteor)"]
    table = view_table(
        ViewSpec(plot="table", x="model", y="bleu4"), [record("bleu4", "bleu4", 0.5)]
    )
    assert table.headers == ["model", "bleu4"], "a model may be called as a metric is"
    (prompted,) = [record("bleu4", "a", 0.5, prompt="bleu4")]
    table = view_table(
        ViewSpec(plot="table", x="decoding.prompt", y="bleu4"), [prompted]
    )
    assert table.headers == ["decoding.prompt", "bleu4"], (
        "and so may a value of an axis"
    )
    table = view_table(
        ViewSpec(plot="table", x="metric:bleu4", y="mine", by="model"), records
    )
    assert table.headers[0] == "metric:BLEU-4"


def test_theirs_below_ours_with_the_difference():
    labels = [label for label, _ in add_published_rows(ROWS, ("x", "y"), TABLE, "t")]
    assert labels == [
        "A",
        "published: theirs",
        "ours − published",
        "B",
        "published",
        "published: alone",
    ]
    rows = add_published_rows(ROWS, ("x", "y"), TABLE, "t")
    assert rows[1][1] == (1.0, "< 0.5")
    assert rows[2][1] == ("+0.5000", "")
    assert rows[4][1] == (NOT_PUBLISHED, NOT_PUBLISHED)
    assert rows[5][1] == (NOT_PUBLISHED, 2.0)


def test_a_row_for_every_row():
    table = PublishedTable.model_validate(
        {"source": "s", "rows": [{"label": "*", "values": {"x": 2.0}}]}
    )
    rows = add_published_rows(ROWS, ("x", "y"), table, "t")
    assert [values[0] for label, values in rows if label.startswith("ours")] == [
        "-0.5000",
        "+1.0000",
    ]


def test_a_task_without_published_values():
    table = PublishedTable.model_validate(
        {"source": "s", "rows": [{"label": "A", "task": "u", "values": {"x": 2.0}}]}
    )
    rows = add_published_rows(ROWS, ("x", "y"), table, "t")
    assert [label for label, _ in rows] == ["A", "B", "published"]
    assert rows[-1][1] == (OTHER_DATA, OTHER_DATA)


def test_published_rows_are_those_of_the_task_of_the_run():
    view = ViewSpec(plot="table", x="metric", y="*", by="model", reference=TABLE)
    table = view_table(view, [record("x", "A", 1.5)])
    assert [row[0] for row in table.rows] == [
        "A",
        "published: theirs",
        "ours − published",
        "published: alone",
    ]
    assert table.rows[1][1:] == ["1.0000"] and table.rows[2][1:] == ["+0.5000"]
    assert view_table(view.model_copy(update={"reference": {}}), []).rows == []
