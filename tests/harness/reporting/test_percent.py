"""Values times 100: of the metrics whose manifests say so,
in every number of a table and in no other.
"""

from __future__ import annotations

import math

import pytest

from harness.registry import current
from harness.registry.display_names import is_percent
from harness.reporting.percent import (
    percent_comparisons,
    percent_note,
    percent_record,
    with_note,
)
from harness.reporting.score_table import score_table
from harness.reporting.table import Percent, Table, interval_text, number, signed_text
from harness.rundir.records import ResultRecord
from tests.support.comparisons import make_comparison


def record(metric, value, **fields):
    return ResultRecord(
        model="a", metric=metric, value=value, higher_is_better=True, n=9, **fields
    )


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("bleu4", True),
        ("meteor", True),
        ("rouge", True),
        ("cider", True),
        ("cider(plain)", True),
        ("cider[df=resampled]", True),
        ("spice", True),
        ("bertscore", True),
        ("trm(cider)", False),
        ("caption-length", False),
        ("perplexity(token)", False),
        ("mmd(minilm)", False),
        ("distinct2", False),
        ("mine", False),
    ],
)
def test_which_metrics_are_times_100(label, expected):
    assert is_percent(label) is expected


def test_no_metric_without_an_upper_bound_of_1_or_10_is_a_percentage():
    for entry in current().entries("metrics"):
        if entry.percent and entry.name not in ("ter",) and not entry.extra:
            low, high = current().create("metrics", entry.name).spec.bounds
            assert (low, high) in ((0.0, 1.0), (0.0, 10.0)), entry.name


def test_numbers_have_two_decimals_and_full_digits_in_data():
    value = Percent.of(0.0812345)
    assert (number(value), signed_text(value), signed_text(Percent.of(-0.2))) == (
        "8.12",
        "+8.12",
        "-20.00",
    )
    assert interval_text((Percent.of(0.5), Percent.of(1.25))) == "50.00 … 125.00"
    assert (number(Percent(math.nan)), str(value)) == ("–", "8.12345")


def test_value_and_interval_of_a_record():
    scaled = percent_record(record("cider", 0.811, ci95=(0.8, 0.82), p_value=0.04))
    assert (scaled.value, scaled.ci95, scaled.p_value) == (
        pytest.approx(81.1),
        (pytest.approx(80), pytest.approx(82)),
        0.04,
    )
    assert percent_record(record("cider", 0.5)).ci95 is None
    length = record("caption-length", 9.5, ci95=(9.0, 10.0))
    assert percent_record(length) is length


def test_numbers_of_a_comparison():
    first, second = percent_comparisons(
        [
            make_comparison(
                metric="bleu4",
                a=0.3,
                b=0.2,
                difference=0.1,
                ci95=(0.05, 0.15),
                p_value=0.01,
            ),
            make_comparison(
                metric="caption-length", a=9.0, b=8.0, difference=1.0, ci95=None
            ),
        ]
    )
    assert [first.a, first.b, first.difference, *first.ci95] == pytest.approx(
        [30, 20, 10, 5, 15]
    )
    assert first.p_value == 0.01
    assert (second.a, second.difference, second.ci95) == (9.0, 1.0, None)


def test_the_difference_of_a_table_is_times_100_too():
    records = [
        record("bleu4", 0.2, ci95=(0.1, 0.3)),
        ResultRecord(model="b", metric="bleu4", value=0.25, n=9, higher_is_better=True),
    ]
    row = make_comparison(
        metric="bleu4",
        system_a="b",
        system_b="a",
        a=0.25,
        b=0.2,
        difference=0.05,
        p_value=0.5,
        p_holm=0.5,
        n=9,
    )
    table = score_table(
        [*map(percent_record, records)], percent_comparisons([row]), "a", 100
    )
    cells = [dict(zip(table.headers, cells)) for cells in table.rows]
    assert [(row["value"], row["difference"]) for row in cells] == [
        ("20.00", ""),
        ("25.00", "+5.00"),
    ]


def test_a_line_says_which_values_are_times_100():
    both = [record("bleu4", 0.2), record("caption-length", 9.0)]
    assert percent_note(both) == "values × 100: BLEU-4; as they are: Caption length"
    assert percent_note(both[:1]) == "values × 100: BLEU-4"
    assert (
        percent_note(both[1:]) == "no values × 100: Caption length are not reported so"
    )
    assert with_note(Table(["a"], [["b"]], "l", notes=["c"]), both[:1]).notes == [
        "values × 100: BLEU-4",
        "c",
    ]
