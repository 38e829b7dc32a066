"""Tables for Typst, as text and compiled by its wheel."""

from __future__ import annotations

import pytest

from harness.reporting.formats.typst import to_typst
from harness.reporting.table import Table


def test_cells_are_strings_and_numbers_are_padded(table):
    assert to_typst(table).splitlines() == [
        "// 2 examples",
        "// difference: to a_b",
        "#[",
        '#set text(number-width: "tabular")',
        "#table(",
        "  columns: 3, align: (left, left, right,), stroke: none,",
        "  table.hline(),",
        '  table.header("metric", "system", "value"),',
        "  table.hline(stroke: 0.5pt),",
        '  "cider ↑", "a_b & co", strong("0.5") + hide("0") + box(width: 0.36em, '
        'align(left, super("a"))),',
        '  "", "50 % [x]", "−0.25" + box(width: 0.36em, align(left, super(""))),',
        "  table.hline(stroke: 0.25pt),",
        '  "trm ↓", "c", "–" + box(width: 0.36em, align(left, super(""))),',
        "  table.hline(),",
        ")",
        "]",
    ]


def test_numbers_without_decimals_powers_and_stars():
    lines = to_typst(
        Table(["p"], [["0.0412*"], ["1.23e-19*"], ["3"], ["< 1e-300"]], "r")
    ).splitlines()
    assert '  "3" + hide(".0000*"),' in lines
    assert '  "1.23 × 10" + super("−19") + "*",' in lines and '  "< 1e-300",' in lines


def test_rules_stand_between_groups_and_columns_have_room_for_their_own_marks():
    table = Table(
        ["a", "b"],
        [["x", "1.25"], ["", "2"], ["y\n\\", "3*"]],
        "rr",
        "a\n title",
        ["", "a  note"],
        frozenset({(1, 0), (1, 1)}),
        frozenset({0, 1}),
        {(0, 1): "abc", (2, 1): "d"},
    )
    lines = to_typst(table).splitlines()
    assert lines[:3] == ["// a title", "// a note", "#["]
    assert lines[5] == "  columns: 2, align: (right, right,), stroke: none,"
    assert lines[9:13] == [
        '  "x", "1.25" + hide("*") + box(width: 1.08em, align(left, super("abc"))),',
        "  table.hline(stroke: 0.25pt),",
        '  "", strong("2") + hide(".00*") + box(width: 1.08em, align(left, '
        'super(""))),',
        '  "y\\n\\\\", "3*" + hide(".00") + box(width: 1.08em, align(left, '
        'super("d"))),',
    ]


def test_typst_compiles_every_look_of_a_cell(table, lettered, artefacts):
    typst = pytest.importorskip(
        "typst", reason="the wheel typst is not installed (extra dev)"
    )
    odd = Table(
        ['a "b" \\ #x', "*b*\nc"],
        [["$1$ @x // y", "-1"], ["`z` [", "– = +"]],
        "lr",
        "a title",
        ["a note */ // $"],
    )
    for name, sheet in {"table": table, "lettered": lettered, "odd": odd}.items():
        source = artefacts / f"{name}.typ"
        source.write_text(to_typst(sheet), encoding="utf-8")
        assert typst.compile(str(source), format="pdf").startswith(b"%PDF")
        picture = typst.compile(str(source), format="svg").decode()
        assert picture.count("<use") > len(sheet.rows)  # glyphs
