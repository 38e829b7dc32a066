"""Cells of tab-separated tables: quoted by some programs, plain in other files."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.errors import InputError
from harness.files.delimited import tab_separated_cells, unquoted
from harness.files.delimited_tables import delimited_rows


def cells(text, width=2):
    lines = enumerate(io.StringIO(text, newline=""), 1)
    return [row for _, row in tab_separated_cells(lines, width)]


@pytest.mark.parametrize(
    ("rows", "references"),
    [
        (
            [("1", 'a "red" bus'), ("2", "a cat")],
            [["a driver's bus", "a red bus"], ["a cat"]],
        ),
        (
            [("x", '"stop" it says'), ("y", 'says "go"')],
            [['a sign "stop"', "stop"], ["go"]],
        ),
        (
            [("7", "a tab\there"), ("8", "two\nlines")],
            [["a tab", 'a "tab" here'], ["two lines"]],
        ),
    ],
)
def test_a_table_of_pandas_gives_the_numbers_of_the_same_captions_in_json(
    tmp_path, rows, references
):
    with (
        (tmp_path / "A.tsv").open("w", newline="") as a,
        (tmp_path / "R.tsv").open("w", newline="") as r,
    ):
        csv.writer(a, delimiter="\t", lineterminator="\n").writerows(
            [("id", "caption"), *rows]
        )
        lists = [(key, str(texts)) for (key, _), texts in zip(rows, references)]
        csv.writer(r, delimiter="\t", lineterminator="\n").writerows(
            [("id", "references"), *lists]
        )

    (tmp_path / "A.json").write_text(json.dumps(dict(rows)))
    (tmp_path / "R.json").write_text(
        json.dumps({key: texts for (key, _), texts in zip(rows, references)})
    )

    ours = harness.score(tmp_path / "A.tsv", tmp_path / "R.tsv", "bleu1,chrf")
    theirs = harness.score(tmp_path / "A.json", tmp_path / "R.json", "bleu1,chrf")
    assert {name: result.value for name, result in ours.items()} == {
        name: result.value for name, result in theirs.items()
    }


def test_the_numbers_of_quoted_cells_with_quotes(tmp_path):
    (tmp_path / "A.tsv").write_text('id\tcaption\n1\t"a ""red"" bus"\n2\ta cat\n')
    (tmp_path / "R.tsv").write_text(
        'id\treferences\n1\t"[""a driver\'s bus"", \'a red bus\']"\n2\t[\'a cat\']\n'
    )
    scores = harness.score(tmp_path / "A.tsv", tmp_path / "R.tsv", "bleu1,chrf")
    assert scores["bleu1"].value == pytest.approx(1.0) and scores[
        "chrf"
    ].value == pytest.approx(0.40605842445955287)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('1\t"Hello", it says\n2\tb\n', [["1", '"Hello", it says'], ["2", "b"]]),
        ('1\t"stop\n2\tgo"\n', [["1", '"stop'], ["2", 'go"']]),
        ('1\t"go" and "stop"\n', [["1", '"go" and "stop"']]),
        ('1\t"a\nb"\n2\tc\n', [["1", "a\nb"], ["2", "c"]]),
        ('1\t"a\r\n\r\nb"\r\n2\tc\r\n', [["1", "a\r\n\r\nb"], ["2", "c"]]),
        ('1\t"a\tb ""c"""\n', [["1", 'a\tb "c"']]),
        ('"a\nb"\t1\nc\t2\n', [["a\nb", "1"], ["c", "2"]]),
        ('1\t"never closed\nb\n', [["1", '"never closed'], ["b"]]),
        ('1\t"\n2\t""\n3\t""""\n', [["1", '"'], ["2", ""], ["3", '"']]),
        ("\n1\ta\n\n", [["1", "a"]]),
    ],
)
def test_what_is_quoted_is_decided_cell_by_cell(text, expected):
    assert cells(text) == expected


def test_a_row_of_another_length_names_its_line(tmp_path):
    (tmp_path / "a.tsv").write_text('id\tcaption\n1\t"a\nb"\n2\tc\td\n')
    with pytest.raises(
        InputError, match=r"a\.tsv:4: 3 cells; expected 2, as in the header"
    ):
        list(delimited_rows(tmp_path / "a.tsv"))


plain = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1).filter(
    lambda text: text.strip()
)


many_lines = st.text(st.sampled_from('ab"\n ,'))
tabs = st.text(st.sampled_from('ab"\t ,'))


@given(st.lists(st.tuples(plain, many_lines | tabs), min_size=1, max_size=5))
def test_what_the_csv_module_quotes_is_read_back(rows):
    text = io.StringIO()
    csv.writer(
        text, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_ALL
    ).writerows(rows)
    assert cells(text.getvalue()) == [list(row) for row in rows]


@given(st.lists(st.tuples(plain, plain), min_size=1, max_size=5))
def test_what_is_joined_with_tabs_is_read_back_but_for_whole_cells_in_quotes(rows):
    rows = [
        (key.replace("\x85", ""), text) for key, text in rows if "\n" not in key + text
    ]
    text = "".join(f"{key}\t{text}\n" for key, text in rows)
    assert cells(text) == [[unquoted(key), unquoted(value)] for key, value in rows]
