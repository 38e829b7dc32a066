"""Tables in the terminal, and their widths."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from harness.reporting.formats.terminal import (
    console_for_tables,
    least_width,
    print_table,
    table_parts,
    terminal_grid,
)
from harness.reporting.table import Table

WIDE = Table(
    headers=[
        "metric",
        "system",
        "value",
        "95 % interval",
        "permutation p",
        "n",
        "mean\ncluster",
    ],
    rows=[
        [
            "BERTScore [MiniLM-L6] ↑",
            "a long label of a system",
            "0.1235",
            "0.1000 … 0.2000",
            "1.23e-10",
            "5000",
            "1.5",
        ]
    ],
    alignment="llrrrrr",
    title="5000 examples",
    bold=frozenset({(0, 2)}),
    marks={(0, 3): "a", (0, 6): "b"},
    secondary=("n", "mean\ncluster"),
)
SMALL = Table(
    ["long header", "b", "text"],
    [["x", "1", "a b c d e f g h i j"], ["y [red]", "22", "k"], ["z", "333", ""]],
    "lrl",
    "A title",
    ["one note", "two"],
    bold=frozenset({(0, 1)}),
    marks={(1, 1): "a"},
    groups=frozenset({1}),
)
"""Columns of 11, 4 and 19 characters, which take 40 with the gaps; the header and the
last column can be broken.
"""
AT_40 = """\
long header ┃    b ┃ text
━━━━━━━━━━━━╇━━━━━━╇━━━━━━━━━━━━━━━━━━━━
x           │    1 │ a b c d e f g h i j
────────────┼──────┼────────────────────
y [red]     │ 22 a │ k
z           │  333 │"""
AT_39 = """\
long    ┃      ┃
header  ┃    b ┃ text
━━━━━━━━╇━━━━━━╇━━━━━━━━━━━━━━━━━━━━
x       │    1 │ a b c d e f g h i j
────────┼──────┼────────────────────
y [red] │ 22 a │ k
z       │  333 │"""
AT_35 = """\
long    ┃      ┃
header  ┃    b ┃ text
━━━━━━━━╇━━━━━━╇━━━━━━━━━━━━━━━━━━━
x       │    1 │ a b c d e f g h i
        │      │ j
────────┼──────┼───────────────────
y [red] │ 22 a │ k
z       │  333 │"""
AT_27 = """\
long    ┃      ┃
header  ┃    b ┃ text
━━━━━━━━╇━━━━━━╇━━━━━━━━━━━
x       │    1 │ a b c d e
        │      │ f g h i j
────────┼──────┼───────────
y [red] │ 22 a │ k
z       │  333 │"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(table: Table, width: int) -> list[str]:
    console = Console(
        width=max(width, least_width(table)), file=io.StringIO(), color_system=None
    )
    console.print(terminal_grid(table, console.width))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


@pytest.fixture
def printed(monkeypatch):
    """Function that prints a table in a terminal of a width and returns its lines."""

    def in_terminal(table: Table, width: int) -> list[str]:
        file = Terminal()
        monkeypatch.setattr("sys.stdout", file)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
        print_table(table)
        monkeypatch.undo()
        return re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue()).splitlines()

    return in_terminal


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_a_table_is_no_wider_than_the_terminal_and_loses_no_number(printed, width):
    out = printed(WIDE, width)
    assert max(map(len, out)) <= width
    text = "\n".join(out)
    for number in ("0.1235", "0.1000 … 0.2000 a", "1.23e-10"):
        assert number in text
    assert ("5000 │" in text) == (width >= 100)
    assert (
        "left out at this width: n, mean cluster (a wider terminal has them)"
        in " ".join(text.split())
    ) == (width < 100)


def test_a_wide_terminal_has_headers_and_names_on_one_line(printed):
    out = "\n".join(printed(WIDE, 160))
    assert "95 % interval ┃ permutation p" in out
    assert "BERTScore [MiniLM-L6] ↑ │ a long label of a system" in out


def test_headers_are_broken_before_names_are_wrapped_and_those_before_columns_go():
    natural = max(map(len, lines(WIDE, 200)))
    narrower = lines(WIDE, natural - 2)
    assert max(map(len, narrower)) <= natural - 2
    assert "a long label of a system" in "\n".join(narrower)
    assert any(
        "permutation" in line and "permutation p" not in line for line in narrower
    )
    narrowest = lines(WIDE, 0)
    assert max(map(len, narrowest)) <= least_width(WIDE)
    assert "a long label of" not in "\n".join(narrowest)


def test_a_table_too_wide_without_its_secondary_columns_is_divided():
    parts = table_parts(WIDE, 60)
    assert [list(part.headers) for part in parts] == [
        ["metric", "system", "value", "95 % interval"],
        ["metric", "system", "permutation p"],
    ]
    assert all(least_width(part) <= 60 for part in parts)
    assert (
        parts[0].bold == {(0, 2)}
        and parts[0].marks == {(0, 3): "a"}
        and parts[1].bold == frozenset()
    )


def test_a_table_that_fits_is_whole_and_nothing_is_divided_below_one_column():
    assert [part.headers for part in table_parts(WIDE, least_width(WIDE))] == [
        WIDE.headers
    ]
    assert [len(part.headers) for part in table_parts(WIDE, 1)] == [3, 3, 3]
    numbers = Table(["name", "one", "two"], [["a", "1" * 30, "2" * 30]], "lrr")
    assert [list(part.headers) for part in table_parts(numbers, 40)] == [
        ["name", "one"],
        ["name", "two"],
    ]
    texts = Table(["name", "text"], [["a" * 40, "b" * 40]], "ll")
    assert table_parts(texts, 20) == [texts.select([0, 1])]


def test_a_pipe_has_all_columns_on_one_line_at_any_width(capsys, monkeypatch):
    monkeypatch.setattr(
        "harness.reporting.formats.terminal.console_for_tables",
        lambda: console_for_tables(12),
    )
    print_table(WIDE)
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "5000 examples"
    assert "BERTScore [MiniLM-L6] ↑ │ a long label of a system" in out[-1]
    assert "0.1000 … 0.2000 a │" in out[-1] and "5000" in out[-1]


def test_the_console_has_a_fixed_width_without_a_terminal():
    assert (console_for_tables().width, console_for_tables(70).width) == (160, 70)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (200, AT_40),
        (40, AT_40),
        (39, AT_39),
        (36, AT_39),
        (35, AT_35),
        (27, AT_27),
        (1, AT_27),
    ],
)
def test_headers_give_way_first_and_texts_to_ten_characters(width, expected):
    found = [line.rstrip() for line in lines(SMALL, width)]
    assert found == expected.splitlines()
    assert least_width(SMALL) == 27


def test_a_title_stands_above_and_notes_below(capsys):
    print_table(SMALL)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "A title",
        *AT_40.splitlines(),
        "one note",
        "two",
    ]


def test_the_first_column_keeps_sixteen_characters_and_empty_columns_one():
    table = Table(["name", "text", "", "n"], [["a " * 20, "b " * 20, "", "1"]], "lllr")
    assert least_width(table) == 16 + 10 + 1 + 1 + 3 * 3


def test_parts_of_a_table_stand_one_below_the_other(printed):
    numbers = Table(
        ["name", "one", "two"],
        [["a", "1" * 30, "2" * 30]],
        "lrr",
        title="T",
        notes=["a note"],
    )
    out = [line.rstrip() for line in printed(numbers, 40)]
    assert out == [
        "T",
        "name ┃                            one",
        "━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━",
        f"a    │ {'1' * 30}",
        "",
        "name ┃                            two",
        "━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━",
        f"a    │ {'2' * 30}",
        "a note",
    ]


def test_secondary_columns_go_one_by_one():
    parts = {
        width: [list(part.headers) for part in table_parts(WIDE, width)]
        for width in (least_width(WIDE), least_width(WIDE) - 1)
    }
    whole, less = parts.values()
    assert whole == [list(WIDE.headers)] and less == [
        [header for header in WIDE.headers if header != "n"]
    ]


def test_each_part_takes_as_many_columns_as_fit_exactly():
    table = Table(["name", *"abcde"], [["x", *["1" * 10] * 5]], "lrrrrr")
    for width, parts in (
        (4 + 2 * 13, ["ab", "cd", "e"]),
        (4 + 2 * 13 - 1, list("abcde")),
        (4 + 3 * 13, ["abc", "de"]),
    ):
        assert ["".join(part.headers) for part in table_parts(table, width)] == [
            f"name{part}" for part in parts
        ]
    numbers = Table(["n", "a", "b"], [["1" * 10] * 3], "rrr")
    assert [list(part.headers) for part in table_parts(numbers, 23)] == [
        ["n", "a"],
        ["n", "b"],
    ], "the first column names the rows"


def test_a_grid_is_as_narrow_as_its_numbers_where_there_is_no_room():
    console = Console(width=27, file=io.StringIO(), color_system=None)
    console.print(terminal_grid(SMALL, 1))
    assert [
        line.rstrip() for line in console.file.getvalue().splitlines()
    ] == AT_27.splitlines()  # type: ignore[attr-defined]


def test_headers_are_not_broken_at_spaces_that_hold_words_together():
    assert least_width(Table(["x", "95\u00a0%"], [["a", "1"]], "lr")) == 1 + 3 + 4


def test_columns_of_texts_have_a_smallest_width_and_others_that_of_their_numbers():
    assert least_width(Table(["a", "b"], [["x" * 30, "y" * 30]], "ll")) == 16 + 3 + 10
    assert least_width(Table(["a"], [["1"]], "r")) == 1


def test_parts_begin_with_the_first_column_and_are_filled_in_their_order():
    headers = ["name", "one", "two", "three", "four"]
    numbers = Table(headers, [["abcd", *("1" * 15 for _ in headers[1:])]], "lrrrr")
    assert [list(part.headers) for part in table_parts(numbers, 40)] == [
        ["name", "one", "two"],
        ["name", "three", "four"],
    ]
    assert len(table_parts(numbers, 39)) == 4
    ranked = Table(["rank", "one", "two"], [["1", "1" * 30, "2" * 30]], "rrr")
    assert [list(part.headers) for part in table_parts(ranked, 40)] == [
        ["rank", "one"],
        ["rank", "two"],
    ]


def widths(table: Table, width: int) -> list[int | None]:
    return [column.width for column in terminal_grid(table, width).columns]


def test_texts_lose_no_more_than_the_table_is_too_wide():
    texts = Table(["a", "b"], [["x" * 20, "y" * 17]], "ll")
    assert widths(texts, 40) == [20, 17]
    assert widths(texts, 39) == [19, 17]
    assert widths(texts, 1) == [16, 10]
    broken = Table(["text", "long header words"], [["x" * 20, "1"]], "lr")
    assert widths(broken, 35) == [20, 6], "the broken header gives the text its room"


def test_a_group_begins_behind_a_rule():
    table = Table(["a"], [["x"], ["y"], ["z"]], "l", groups=frozenset({0, 2}))
    assert [row.end_section for row in terminal_grid(table, 10).rows] == [
        False,
        True,
        False,
    ]


def test_numbers_in_a_terminal_have_no_colours(monkeypatch):
    file = Terminal()
    monkeypatch.setattr("sys.stdout", file)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    console_for_tables().print("12 files")
    assert file.getvalue() == "12 files\n"
