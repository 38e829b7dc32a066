"""Verdicts of a gate's rows together, and the sentences on them."""

from __future__ import annotations

import json
from math import inf

import pytest

from harness.decisions.gate.result import GateResult, GateRow, gate_table


def row(p_pass, p_fail, needed=900.0, **more):
    """Return a row of ROUGE with these p-values."""
    values = {
        "metric": "rouge",
        "system": "m",
        "slice": "",
        "n": 9,
        "new": 0.5,
        "baseline": 0.5,
        "worsening": 0.0,
        "low": -0.1,
        "high": 0.1,
        "margin": 0.05,
        "higher_is_better": True,
    }
    fields = {**values, "p_pass": p_pass, "p_fail": p_fail, "needed": needed, **more}
    return GateRow(**fields)


PASSED = row(0.01, 1.0)
UNDECIDED = row(0.4, 0.6)
FAILED = row(1.0, 0.01)


def test_all_rows_have_to_pass():
    assert GateResult([PASSED, PASSED]).verdict == "passed"
    assert GateResult([PASSED, UNDECIDED]).verdict == "undecided"
    assert GateResult([UNDECIDED, FAILED, PASSED]).verdict == "failed"


@pytest.mark.parametrize(
    ("p_pass", "p_fail", "verdict"),
    [(0.05, 1.0, "passed"), (1.0, 0.05, "failed"), (0.0501, 0.0501, "undecided")],
)
def test_a_p_value_of_the_level_decides(p_pass, p_fail, verdict):
    assert row(p_pass, p_fail).verdict == verdict


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([UNDECIDED], "about 900 examples would decide"),
        ([row(0.4, 0.6, clustered=True)], "about 900 clusters would decide"),
        ([row(0.4, 0.6, inf)], "no number of examples decides"),
        (
            [row(0.4, 0.6, least=1504.0, units=9)],
            "a version without a change needs 1,504 examples to pass",
        ),
        # The hardest row decides, and the smaller number is not said.
        ([UNDECIDED, row(0.4, 0.6, 1800.2)], "about 1,801 examples would decide"),
        (
            [row(0.4, 0.6, 2000.0, least=1504.0, units=9)],
            "needs 1,504 examples to pass; about 2,000 examples would decide",
        ),
        # A version that is worse than its margin passes with no number of examples.
        (
            [row(0.4, 0.6, worsening=0.06, least=1504.0, units=9)],
            "n = 9; about 900 examples would decide",
        ),
    ],
)
def test_an_undecided_verdict_says_what_would_decide(rows, sentence):
    assert GateResult(rows).sentence.endswith(sentence)


def test_the_sentence_names_the_rows_that_decide():
    worse = row(1.0, 0.01, slice="kind=a", worsening=0.3, low=0.2, high=0.4, note="few")
    assert GateResult([PASSED, worse]).sentence == (
        "failed: ROUGE-L (COCO) in kind=a worse by 0.3 [0.2, 0.4], margin 0.05, n = 9, "
        "few"
    )
    closest = row(0.01, 1.0, metric="cider", high=0.04)
    close = GateResult([row(0.01, 1.0, high=0.01), closest])
    assert close.sentence == (
        "passed: no worsening beyond the margin in 2 rows "
        "(CIDEr-D worse by 0 [-0.1, 0.04], margin 0.05, n = 9)"
    )
    unbounded = row(0.4, 0.6, low=-inf, high=inf)
    assert "worse by 0 [no bounds], margin" in GateResult([unbounded]).sentence


@pytest.mark.parametrize(
    ("rows", "headline"),
    [
        ([PASSED], "passed: ROUGE-L (COCO) is not worse by more than its margin"),
        (
            [PASSED, PASSED],
            "passed: none of 2 rows is worse by more than its margin",
        ),
        ([FAILED, PASSED], "failed: ROUGE-L (COCO) is worse by more than its margin"),
        (
            [FAILED, PASSED, FAILED],
            "failed: 2 of 3 rows are worse by more than their margins",
        ),
        (
            [UNDECIDED],
            "undecided: the examples do not tell whether ROUGE-L (COCO) is worse by "
            "more than its margin",
        ),
    ],
)
def test_the_headline_has_no_numbers_of_the_test(rows, headline):
    assert GateResult(rows).headline == headline


def test_an_undecided_verdict_may_count_as_another():
    assert GateResult([UNDECIDED]).counts_as == ""
    counted = GateResult([UNDECIDED], undecided="pass")
    assert counted.verdict == "undecided"
    assert counted.line == f"{counted.sentence} (counts as pass)"
    assert GateResult([PASSED], undecided="pass").counts_as == ""


def test_remarks_are_those_of_the_rows():
    result = GateResult([row(0.4, 0.6, note="same outputs"), PASSED])
    assert result.remarks == [
        "about 900 examples would decide",
        "ROUGE-L (COCO): same outputs",
    ]
    assert GateResult([PASSED]).remarks == []


def test_the_table_has_a_column_of_systems_where_they_differ():
    table = gate_table(GateResult([PASSED, UNDECIDED]))
    assert table.headers[0] == "metric" and table.alignment == "llrrrrrrl"
    assert table.rows[0][0].startswith("ROUGE-L (COCO)")
    assert table.rows[0][1:3] == ["all", "9"] and table.rows[0][-1] == "passed"
    table = gate_table(GateResult([PASSED, row(0.4, 0.6, system="n")]))
    assert table.headers[0] == "system" and table.alignment == "lllrrrrrrl"
    assert [cells[0] for cells in table.rows] == ["m", "n"]
    assert gate_table(GateResult([row(0.4, 0.6, low=-inf, high=inf)])).rows[0][6] == "–"


def test_the_notes_have_the_methods_and_what_is_not_compared():
    rows = [
        row(0.01, 1.0, method="betting"),
        row(0.01, 1.0, metric="cider", method="betting", left_out=2),
        row(0.4, 0.6, metric="mauve"),
    ]
    notes = gate_table(GateResult(rows, notes=["of a log"])).notes
    assert notes[1] == "bounds: betting (ROUGE-L (COCO), CIDEr-D); none (MAUVE)"
    assert notes[2] == "of a log"
    assert notes[3].startswith("up to 2 examples have no value in the baseline")
    assert len(gate_table(GateResult([PASSED])).notes) == 2


def test_rows_and_verdicts_are_json():
    result = GateResult([PASSED, UNDECIDED], notes=("a",))
    values = json.loads(json.dumps(result.to_dict()))
    assert [item["verdict"] for item in values["rows"]] == ["passed", "undecided"]
    assert (values["verdict"], values["line"]) == ("undecided", result.line)
    assert values["notes"] == ["a"]
    assert list(result.blocks())[1] == result.line
