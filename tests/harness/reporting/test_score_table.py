"""The table of ``harness score``: rows, differences, remarks, bold values, CSV."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.analysis.comparisons import Comparison
from harness.analysis.rankings import BOLD_NOTE
from harness.reporting.compared_systems import Compared
from harness.reporting.score_columns import DATA_COLUMNS, SLICE_NOTE
from harness.reporting.score_table import score_table
from harness.rundir.records import ResultRecord
from tests.support.comparisons import make_comparison

DATA = tuple(column.name for column in DATA_COLUMNS)


def record(
    model: str, value: float, metric: str = "cider", **fields: Any
) -> ResultRecord:
    sizes = {"candidates": [1], "references": [5]}
    values: dict[str, Any] = {
        "higher_is_better": True,
        "ci95": (value - 1, value + 1),
        "n": 10,
        "sizes": sizes,
        **fields,
    }
    return ResultRecord(model=model, metric=metric, value=value, **values)


def comparison(
    system: str,
    difference: float | None,
    p: float | None,
    metric: str = "cider",
    **fields: Any,
) -> Comparison:
    values = {"better": "=", "n": 10, "a": difference, "b": 0.0, **fields}
    return make_comparison(
        metric=metric,
        system_a=system,
        system_b="a",
        difference=difference,
        p_value=p,
        p_holm=p,
        **values,
    )


def table(sheet):
    return [dict(zip(sheet.headers, row)) for row in sheet.rows]


def test_one_system_has_values_and_intervals_alone():
    sheet = score_table(
        [record("a", 2.0), record("a", 3.0, "trm", higher_is_better=False)]
    )
    assert list(sheet.headers) == ["metric", "system", "value", "95 % interval"]
    assert [list(row) for row in sheet.rows] == [
        ["CIDEr-D ↑", "a", "2.0000", "1.0000 … 3.0000"],
        ["TRM ↓", "a", "3.0000", "2.0000 … 4.0000"],
    ]
    assert (sheet.title, list(sheet.notes), sheet.groups) == (
        "10 examples, 1 + 5 captions (candidates + references)",
        [],
        frozenset(),
    )


def test_rows_are_grouped_by_metric_and_carry_the_difference_to_the_baseline():
    records = [
        record("a", 2.0),
        record("a", 1.0, "bleu4"),
        record("b", 3.0),
        record("b", 0.5, "bleu4"),
    ]
    rows = [comparison("b", 1.0, 0.01), comparison("b", -0.5, 0.5, "bleu4")]
    sheet = score_table(records, rows, "a", 1000)
    assert [
        (row["metric"], row["system"], row["difference"], row["p"])
        for row in table(sheet)
    ] == [
        ("CIDEr-D ↑", "a", "", ""),
        ("", "b", "+1.0000", "0.0100*"),
        ("BLEU-4 ↑", "a", "", ""),
        ("", "b", "-0.5000", "0.5000"),
    ]
    assert sheet.groups == {0, 2}
    # of BLEU-4 both: they do not differ significantly
    assert sheet.bold == {(1, 2), (2, 2), (3, 2)}
    assert (
        sheet.notes[0]
        == "difference: to a; p: approximate randomisation of the reported number, "
        "1000 draws"
    )
    assert sheet.notes[-1] == BOLD_NOTE


def test_p_by_holm_has_a_column_only_where_several_comparisons_share_the_level():
    records = [record("a", 3.0), record("b", 2.0), record("c", 1.0)]
    rows = [
        comparison("b", -1.0, 0.01, a=2.0, b=3.0),
        comparison("c", -2.0, 0.3, a=1.0, b=3.0),
    ]
    two = score_table(records[:2], rows[:1], "a", 1000)
    three = score_table(records, rows, "a", 1000)
    assert "p (Holm)" not in two.headers and "*: p of at most 0.05" in two.notes
    assert "p" not in two.secondary, (
        "the only column of p-values stays in a narrow terminal"
    )
    assert [row["p"] for row in table(three)] == ["", "0.0100", "0.3000"]
    assert [row["p (Holm)"] for row in table(three)] == [
        "",
        "0.0100*",
        "0.3000",
    ] and "p" in three.secondary
    assert "*: p (Holm) of at most 0.05" in three.notes
    names = two.data[0]
    assert dict(zip(names, two.data[2]))["p_holm"] == 0.01, "the CSV has both"


def test_the_baseline_is_found_by_its_label_wherever_it_stands():
    records = [
        record(label, value, "vocabulary")
        for label, value in (("b", 7.0), ("a", 5.0), ("c", 4.0))
    ]
    untested = {
        "difference": None,
        "p": None,
        "metric": "vocabulary",
        "note": "cannot be resampled",
        "better": "not tested",
    }
    rows = [replace(comparison(system, **untested), system_b="b") for system in "ac"]
    assert [row["difference"] for row in table(score_table(records, rows, "b"))] == [
        "",
        "-2.0000",
        "-3.0000",
    ]


def test_bold_values_of_several_systems_need_the_tests_of_all_pairs():
    records = [record("a", 3.0), record("b", 2.0), record("c", 1.0)]
    for p, bold in ((0.01, {(0, 2)}), (0.2, {(0, 2), (1, 2)})):
        rows = [
            comparison("b", -1.0, p, a=2.0, b=3.0),
            comparison("c", -2.0, 0.01, a=1.0, b=3.0),
        ]
        assert score_table(records, rows, "a").bold == frozenset()
        last = replace(comparison("c", -1.0, 0.3, a=1.0, b=2.0), system_b="b")
        sheet = score_table(records, rows, "a", compared=Compared([*rows, last]))
        assert sheet.bold == bold
    assert "adjusted for the 2 comparisons of a metric" in sheet.notes[0]
    assert (
        score_table(records, rows, "a", compared=Compared([], note="too slow")).notes[
            -1
        ]
        == "not in bold: too slow"
    )


def test_the_best_of_a_metric_where_lower_is_better():
    records = [
        record("a", 3.0, higher_is_better=False),
        record("b", 2.0, higher_is_better=False),
    ]
    assert score_table(
        records, [comparison("b", -1.0, 0.01, higher_is_better=False)], "a"
    ).bold == {(1, 2)}


def test_values_that_cannot_be_tested_have_a_numbered_remark():
    records = [record("a", 5.0, "vocabulary"), record("b", 7.0, "vocabulary")]
    row = comparison(
        "b", None, None, "vocabulary", note="cannot be resampled", better="not tested"
    )
    sheet = score_table(records, [row], "a")
    last = table(sheet)[1]
    assert (last["difference"], last["p"], last["note"]) == ("+2.0000", "–", "(1)")
    assert sheet.notes[-1] == "(1) cannot be resampled"
    assert score_table(records, [], "a").notes[-1] == "(1) no test: no common scores"


def test_set_metrics_of_different_sizes_are_not_compared():
    other = {"candidates": [2], "references": [5]}
    records = [
        record("a", 1.0, level="set"),
        record("b", 2.0, level="set", sizes=other),
    ]
    for rows in (
        [comparison("b", 1.0, 0.001, better="sizes differ", sizes_differ=True)],
        [],
    ):
        sheet = score_table(records, rows, "a")
        assert [row["set"] for row in table(sheet)] == ["1 + 5", "2 + 5"]
        assert (table(sheet)[1]["difference"], table(sheet)[1]["p"]) == ("–", "–")
        assert sheet.notes[-1] == "(1) sizes differ: not comparable"
        assert sheet.bold == frozenset()


def test_metrics_of_single_examples_are_compared_whatever_the_sizes():
    records = [
        record("a", 1.0),
        record("b", 2.0, sizes={"candidates": [2], "references": [5]}),
    ]
    sheet = score_table(records, [], "a")
    assert [row["difference"] for row in table(sheet)] == ["", "+1.0000"]
    assert sheet.notes[-1] == "(1) no test: no common scores"


def test_missing_scores_and_common_examples_are_counted():
    records = [record("a", 1.0), record("b", 2.0, n=8, skipped=2)]
    sheet = score_table(records, [comparison("b", 1.5, 0.2, n=8)], "a")
    assert list(sheet.notes[-2:]) == [
        "(1) difference on 8 common examples",
        "(2) 2 of 10 without a score",
    ]
    assert table(sheet)[1]["note"] == "(1), (2)"
    assert table(score_table(records, [], "a"))[1]["difference"] == "–"


def test_one_example_is_no_test():
    sheet = score_table(
        [record("a", 1.0, n=1), record("b", 2.0, n=1)],
        [comparison("b", 1.0, 1.0, n=1)],
        "a",
    )
    assert (table(sheet)[1]["difference"], table(sheet)[1]["p"]) == ("+1.0000", "–")
    assert sheet.notes[-1] == "(1) no test: one example"
    assert sheet.title.startswith("1 example,")


def test_an_undefined_value_is_never_the_best():
    records = [record("a", float("nan"), n=0, skipped=10), record("b", 2.0)]
    sheet = score_table(records, [], "a")
    assert table(sheet)[0]["value"] == "–"
    assert sheet.bold == frozenset()


def test_permutation_p_values_have_their_own_columns():
    sheet = score_table([record("a", 1.0, p_value=0.25, p={"harmonic_mean": 0.5})])
    assert table(sheet)[0]["permutation p"] == "0.2500"
    assert table(sheet)[0]["harmonic p"] == "0.5000"


def test_the_data_hold_full_digits():
    records = [record("a", 1 / 3), record("b", 2 / 3)]
    row = comparison("b", 1 / 3, 0.01, ci95=(0.1, 0.5))
    head, first, second = score_table(records, [row], "a").data
    assert tuple(head) == DATA
    assert {len(head), len(first), len(second)} == {len(DATA)}
    values = dict(zip(DATA, second))
    assert (
        values["value"],
        values["difference"],
        values["difference_ci_low"],
        values["n_compared"],
    ) == (2 / 3, 1 / 3, 0.1, 10)
    assert (values["candidates"], values["references"], values["baseline"]) == (
        "1",
        "5",
        "a",
    )
    assert dict(zip(DATA, first))["difference"] is None


def test_slices_follow_all_examples_metric_by_metric():
    records = [
        record(name, 2.0, metric) for metric in ("cider", "bleu4") for name in "ab"
    ]
    records += [
        record(
            name,
            1.0,
            metric,
            slice=part,
            n=4,
            sizes={"candidates": [1], "references": [4]},
        )
        for metric in ("cider", "bleu4")
        for name in "ab"
        for part in ("d=x", "d=y")
    ]
    rows = [
        comparison("b", 1.0, 0.01),
        *(
            comparison("b", 0.5, p, slice=part, n=4)
            for part, p in (("d=x", 0.03), ("d=y", 0.2))
        ),
    ]
    sheet = score_table(records, rows, "a", 1000)
    cells = table(sheet)
    assert [
        (row["metric"], row["slice"], row["system"], row["n"]) for row in cells[:6]
    ] == [
        ("CIDEr-D ↑", "all", "a", "10"),
        ("", "", "b", "10"),
        ("", "d=x", "a", "4"),
        ("", "", "b", "4"),
        ("", "d=y", "a", "4"),
        ("", "", "b", "4"),
    ]
    assert [row["p (Holm)"] for row in cells[:6]] == [
        "",
        "0.0100*",
        "",
        "0.0300*",
        "",
        "0.2000",
    ]
    assert sheet.groups == {0, 6}
    assert sheet.title == "10 examples, 1 + 5 captions (candidates + references)"
    assert SLICE_NOTE in sheet.notes
    assert (
        "p (Holm) of slices: adjusted for the 2 comparisons of a metric in all 2 "
        "slices together" in sheet.notes
    )
    value = list(sheet.headers).index("value")
    # not told apart in the second slice
    assert {i for i, k in sheet.bold if k == value} == {1, 3, 4, 5}
    assert sheet.data[0] == ["slice", *DATA]
    assert [row[0] for row in sheet.data[1:7]] == [
        "all",
        "all",
        "d=x",
        "d=x",
        "d=y",
        "d=y",
    ]
