"""Records of a file with the name of its form."""

from __future__ import annotations

from harness.files.forms.form import Form
from harness.files.records import Record

ROWS = [Record("f:1", {"id": 1}), Record("f:2", {"id": 2})]


def test_the_head_leaves_all_records():
    first, form = Form("json", iter(ROWS), key="data", ids=("id",)).head()
    assert first == ROWS[0]
    assert list(form.rows) == ROWS
    assert (form.name, form.key, form.ids) == ("json", "data", ("id",))


def test_a_form_without_records_has_no_first_one():
    first, form = Form("json", []).head()
    assert first is None
    assert list(form.rows) == []


def test_what_is_left_out_is_counted_by_the_same_counter():
    form = Form("json", ROWS)
    _, other = form.head()
    other.left_out["failed requests"] = 2
    assert form.left_out == {"failed requests": 2}
