"""Rows of comparisons as a list with a short representation."""

from __future__ import annotations

import numpy as np
import pytest

from harness.analysis.comparisons import Comparisons, with_verdict
from harness.reporting.comparison_tables import pair_tables
from tests.support.comparisons import make_comparison


def row(metric, better):
    return make_comparison(metric=metric, better=better)


def test_the_list_is_its_rows():
    rows = [row("one", "A"), row("two", "=")]
    assert Comparisons(rows) == rows
    assert (
        repr(Comparisons(rows))
        == "<comparisons of 1 pairs by 2 metrics: 1 of 2 significant>"
    )


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        (
            {
                "p_value": 0.0425,
                "p_holm": 0.1275,
                "ci95": [-0.0682, -0.0069],
                "draws": 10_000,
            },
            "= by p Holm, over all pairs",
        ),
        (
            {"p_value": 0.2, "p_holm": 0.2, "ci95": [0.01, 0.3], "draws": 10_000},
            "= by the p-value of approximate randomisation",
        ),
        (
            {"p_value": 0.06, "p_holm": 0.3, "ci95": [0.01, 0.3]},
            "= by the p-value of the test",
        ),
        (
            {
                "p_value": 0.01,
                "p_holm": 0.01,
                "ci95": [0.01, 0.3],
                "higher_is_better": None,
            },
            "neither direction is better",
        ),
    ],
)
def test_equality_beside_an_interval_without_zero_says_what_decided(fields, word):
    given = {"difference": float(np.mean(fields["ci95"])), "note": "", **fields}
    row = with_verdict(make_comparison(**given))
    assert row.better == "=" and word in row.note and "does not hold 0" in row.note
    (table,) = pair_tables([row], full=False)
    assert table.rows[0][-1] == "=" and any(word in note for note in table.notes)
    noted = with_verdict(make_comparison(**{**given, "note": "equalised"}))
    assert noted.note == f"equalised; {row.note}"


@pytest.mark.parametrize(
    ("fields", "better"),
    [
        ({"p_holm": 0.3, "ci95": [-0.1, 0.3]}, "="),
        ({"p_holm": 0.3, "ci95": [0.0, 0.3]}, "="),
        ({"p_holm": 0.3, "ci95": None}, "="),
        ({"p_holm": 0.03, "ci95": [0.1, 0.3]}, "A"),
        ({"p_holm": None, "ci95": [0.1, 0.3]}, "not tested"),
    ],
)
def test_other_verdicts_have_no_such_note(fields, better):
    row = with_verdict(
        make_comparison(difference=0.1, note="", p_value=fields["p_holm"], **fields)
    )
    assert (row.better, row.note) == (better, "")


def test_the_file_has_the_fields_that_are_known():
    stored = make_comparison(difference=0.5, ci95=[0.25, 0.75]).to_dict()
    assert (stored["difference"], stored["ci95"]) == (0.5, [0.25, 0.75])
    assert list(stored)[:3] == ["metric", "system_a", "system_b"]
    assert not {"better", "p_holm", "p_bh", "forced", "signature"} & set(stored)
    compared = make_comparison(
        better="A", p_holm=0.01, p_bh=0.01, forced=("data",)
    ).to_dict()
    assert list(compared)[-4:] == ["forced", "p_holm", "p_bh", "better"]
    assert compared["forced"] == ["data"]
