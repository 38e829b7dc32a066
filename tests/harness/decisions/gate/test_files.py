"""Results of a gate as a table, JUnit XML, Markdown and a page."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from xml.etree import ElementTree

import pytest

from harness.decisions.gate.files import gate_markdown, gate_page, gate_table, junit
from harness.decisions.gate.result import GateResult, GateRow


def row(
    metric="rouge", text="", system="m", p_pass=0.01, p_fail=1.0, better=True
) -> GateRow:
    return GateRow(
        metric,
        system,
        text,
        1200,
        0.52,
        0.53,
        0.01,
        0.004,
        0.016,
        0.02,
        p_pass,
        p_fail,
        900.0,
        better,
    )


PASSED = row()
FAILED = row("cider", "language=<de>", p_pass=1.0, p_fail=0.001)
UNDECIDED = row("trm(rouge)", p_pass=0.3, p_fail=0.7, better=False)
RESULT = GateResult([PASSED, FAILED, UNDECIDED])


def test_the_table_has_a_row_per_metric_and_slice():
    table = gate_table(RESULT)
    cells = [[cell.text for cell in cells] for cells in table.cells()]
    assert (
        len(cells) == 3
        and len(cells[0]) == len(table.headers) == len(table.alignment) == 9
    )
    assert cells[0] == [
        "ROUGE-L (COCO) ↑",
        "all",
        "1,200",
        "0.5300",
        "0.5200",
        "0.0100",
        "0.0040 … 0.0160",
        "0.0200",
        "passed",
    ]
    assert [line[-1] for line in cells] == ["passed", "failed", "undecided"]
    assert cells[1][1] == "language=<de>" and cells[2][0].endswith("↓")
    assert "one-sided" in table.notes[0]


def test_notes_name_the_methods_and_the_examples_that_are_not_compared():
    rows = [
        replace(PASSED, method="betting within 0 to 1"),
        replace(FAILED, method="betting within 0 to 10"),
        UNDECIDED,
    ]
    table = gate_table(
        GateResult(rows, ["not compared: 3 examples of new that old lacks"])
    )
    assert table.notes[1:] == (
        "bounds: betting within 0 to 1 (ROUGE-L (COCO)); "
        "betting within 0 to 10 (CIDEr-D); none (TRM (ROUGE-L))",
        "not compared: 3 examples of new that old lacks",
    )


def test_a_row_without_bounds_has_a_dash_and_one_with_half_of_them_has_it():
    bounds = [(-inf, inf), (-inf, 0.2), (0.0, 0.25)]
    table = gate_table(
        GateResult([replace(UNDECIDED, low=low, high=high) for low, high in bounds])
    )
    assert [cells[6].text for cells in table.cells()] == [
        "–",
        "-inf … 0.2000",
        "0.0000 … 0.2500",
    ]


def test_junit_has_the_note_of_a_row():
    suite = ElementTree.fromstring(
        junit(
            GateResult([replace(UNDECIDED, note="same outputs on all 9 examples")]),
            False,
        )
    )
    assert (suite.findtext(".//system-out") or "").endswith(
        "n = 1200, same outputs on all 9 examples"
    )


def test_several_systems_have_a_column():
    table = gate_table(GateResult([PASSED, row(system="other")]))
    assert table.headers[0] == "system" and [
        cells[0].text for cells in table.cells()
    ] == ["m", "other"]
    assert len(table.alignment) == len(table.headers) == 10


@pytest.mark.parametrize(
    ("fails", "failures", "skipped"), [(False, 1, 1), (True, 2, 0)]
)
def test_junit_is_xml_that_other_programs_read(fails, failures, skipped):
    suite = ElementTree.fromstring(junit(RESULT, fails))
    assert suite.tag == "testsuite" and suite.get("name") == "harness gate"
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped")} == {
        "tests": "3",
        "failures": str(failures),
        "skipped": str(skipped),
    }
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == [
        "ROUGE-L (COCO) all",
        "CIDEr-D language=<de>",
        "TRM (ROUGE-L) all",
    ]
    assert all(
        case.get("classname") == "m"
        and "margin 0.02" in (case.findtext("system-out") or "")
        for case in cases
    )
    assert cases[0].find("failure") is None and cases[0].find("skipped") is None
    failure = cases[1].find("failure")
    assert failure is not None and failure.get("message", "").startswith(
        "failed: worse by 0.01, bounds 0.004 and 0.016"
    )
    undecided = cases[2].find("failure" if fails else "skipped")
    assert undecided is not None and undecided.get("message", "").startswith(
        "undecided"
    )


def test_markdown_shows_names_as_they_are():
    text = gate_markdown(
        GateResult([replace(FAILED, slice="a_b=<de>", note="same [outputs]")])
    )
    first, _, table = text.partition("\n\n")
    assert (
        first
        == r"**harness gate failed: CIDEr-D in a\_b=\<de> is worse by more than its "
        r"margin**"
    )
    assert text.endswith("\n- CIDEr-D in a\\_b=\\<de>: same \\[outputs\\]\n")
    assert "| CIDEr-D ↑" in table and "failed" in table


def test_the_page_escapes_what_runs_name():
    page = gate_page(GateResult([replace(FAILED, note="<script>alert(1)</script>")]))
    assert page.startswith("<!doctype html>") and ">Gate: failed</h1>" in page
    assert "<script>alert" not in page and "language=&lt;de&gt;" in page
    assert (
        '<p class="verdict">Failed: CIDEr-D in language=&lt;de&gt; '
        "is worse by more than its margin.</p>" in page
    )


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([PASSED], "passed: ROUGE-L (COCO) is not worse by more than its margin"),
        ([PASSED] * 3, "passed: none of 3 rows is worse by more than its margin"),
        (
            [PASSED, FAILED],
            "failed: CIDEr-D in language=<de> is worse by more than its margin",
        ),
        (
            [FAILED, PASSED, FAILED],
            "failed: 2 of 3 rows are worse by more than their margins",
        ),
        (
            [PASSED, UNDECIDED],
            "undecided: the examples do not tell whether TRM (ROUGE-L) "
            "is worse by more than its margin",
        ),
        (
            [UNDECIDED] * 2,
            "undecided: the examples do not tell whether 2 of 2 rows are worse by "
            "more than their margins",
        ),
    ],
)
def test_the_headline_is_one_short_sentence(rows, sentence):
    result = GateResult(rows)
    assert result.headline == sentence
    assert gate_markdown(result, " (counts as pass)").startswith(
        f"**harness gate {sentence.replace('<', chr(92) + '<')} (counts as pass)**"
    )


def test_remarks_say_what_would_decide():
    assert GateResult([PASSED, UNDECIDED]).remarks == [
        "about 900 examples would decide"
    ]
    assert GateResult([replace(PASSED, note="same outputs")]).remarks == [
        "ROUGE-L (COCO): same outputs"
    ]
