"""Tables of paired comparisons."""

from __future__ import annotations

from dataclasses import replace

from harness.analysis.comparisons import RankedSystem
from harness.reporting.comparison_tables import HEADERS, cluster_table, comparison_table, pair_tables
from tests.support.comparisons import make_comparison

ROW = make_comparison(
    metric="bleu4",
    system_a="one",
    system_b="two",
    higher_is_better=True,
    a=0.25,
    b=0.2,
    difference=0.05,
    ci95=[0.01, 0.09],
    p_value=0.012,
    p_holm=0.024,
    p_bh=0.012,
    p_bootstrap=0.02,
    sign_p_value=0.2,
    a_larger=7,
    ties=2,
    b_larger=3,
    n=12,
    left_out=0,
    better="A",
    note="",
    draws=1000,
    exact=False,
)
UNTESTED = replace(
    ROW,
    metric="mauve",
    a=None,
    b=None,
    difference=None,
    ci95=None,
    p_value=None,
    p_holm=None,
    p_bh=None,
    p_bootstrap=None,
    sign_p_value=None,
    better="not tested",
    note="cannot be resampled",
    draws=0,
)


def test_a_pair_is_a_table_with_a_row_per_metric():
    (sheet,) = pair_tables([ROW, UNTESTED])
    assert sheet.title == "A = one   B = two"
    assert sheet.rows[0] == [
        "BLEU-4 ↑", "0.2500", "0.2000", "0.0500", "0.0100 … 0.0900", "0.0120", "0.0240", "0.0120", "0.2000", "7/2/3", "one",
    ]  # fmt: skip
    assert sheet.rows[1][4] == "–" and sheet.rows[1][-1] == "not tested"
    assert sheet.notes == ["MAUVE: cannot be resampled", "12 examples; p: approximate randomisation, 1,000 draws"]


def test_files_name_the_systems_of_several_pairs():
    sheet = comparison_table([ROW, replace(ROW, system_b="three")])
    assert list(sheet.headers[:3]) == ["system A", "system B", "metric"]
    assert len(sheet.alignment) == len(sheet.headers) == len(HEADERS) + 2
    header, first, _ = sheet.data
    assert dict(zip(header, first))["low"] == 0.01
    assert comparison_table([ROW]).title == "A = one, B = two"


def test_a_ranking_has_letters():
    sheet = cluster_table("bleu4", True, [RankedSystem("one", 0.25, "a", 1, 0), RankedSystem("two", 0.2, "b", 0, 1)])
    assert sheet.title == "BLEU-4 ↑"
    assert list(sheet.rows[1]) == ["two", "0.2000", "b", "0", "1"]


def test_examples_that_are_left_out_are_counted():
    (sheet,) = pair_tables([ROW, replace(ROW, metric="cider", left_out=3)])
    assert sheet.notes[0] == "up to 3 examples are missing or undefined for one system and left out"
