"""Generic forms of tables and lines."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.files.forms import read_form
from harness.files.forms.generic_tables import (
    CSV,
    FLICKR,
    PAIRS,
    PARQUET,
    TEXT,
    TSV,
    VIDEO_LINES,
)
from tests.support.form_content import sample_of


def fields(form):
    return [dict(row.fields) for row in form.rows]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("image,caption\n1,a dog\n", CSV),
        ("image;caption\n1;a dog\n", CSV),
        ("image\tcaption\n1\ta dog\n", TSV),
        ("1.jpg#0\ta dog\n", FLICKR),
        ("1\ta dog\n", PAIRS),
        ("a dog\na cat\n", TEXT),
    ],
)
def test_text_has_one_form(tmp_path, content, kind):
    sample = sample_of(tmp_path, content)
    forms = (CSV, TSV, FLICKR, PAIRS, TEXT, VIDEO_LINES, PARQUET)
    assert [form for form in forms if form.recognise(sample)] == [kind]
    assert kind.read(sample).numbered == (kind is TEXT)


def test_every_line_of_msvd_has_an_id(tmp_path):
    lines = "vid_4_2 a dog\nvid_7_3 a cat\n"
    assert VIDEO_LINES.recognise(sample_of(tmp_path, lines))
    assert not VIDEO_LINES.recognise(sample_of(tmp_path, lines + "a bus\n"))
    assert not VIDEO_LINES.recognise(sample_of(tmp_path, lines, name="f.csv"))


def test_parquet_by_its_content(tmp_path):
    pq.write_table(pa.table({"id": [1], "caption": ["a dog"]}), tmp_path / "x")
    form = read_form(tmp_path / "x", "candidates")
    assert (form.name, fields(form)) == ("parquet", [{"id": 1, "caption": "a dog"}])


def test_cells_are_texts_and_an_empty_cell_is_an_empty_text(tmp_path):
    sample = sample_of(tmp_path, 'id,caption\n1,"a, b"\n2,\n')
    assert fields(CSV.read(sample)) == [
        {"id": "1", "caption": "a, b"},
        {"id": "2", "caption": ""},
    ]
    sample = sample_of(tmp_path, 'id\tcaption\n1\t"a" b\n', name="f.tsv")
    assert fields(TSV.read(sample)) == [{"id": "1", "caption": '"a" b'}]
