"""A form with its examples, and the check that a name of the user spares."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness.files.forms import FORMS, read_form
from harness.files.forms.form import Form
from harness.files.forms.form_kind import FormExample, FormKind
from harness.files.records import Record
from tests.support.form_content import sample_of


def test_examples_are_written_as_json():
    assert json.loads(FormExample.of_json({"1": "a"}, "keys").text) == {"1": "a"}
    example = FormExample.of_lines([{"id": 1}, {"id": 2}], "a column", "two")
    assert list(map(json.loads, example.text.splitlines())) == [{"id": 1}, {"id": 2}]
    assert (example.ids, example.title, example.is_text) == ("a column", "two", True)


def test_a_form_of_a_plugin_is_recognised_and_chosen_by_name(tmp_path):
    kind = FormKind(
        "stars",
        "lines of stars",
        lambda sample: all(line.startswith("*") for line in sample.lines),
        lambda sample: Form(
            "stars", [Record("f:1", {"caption": sample.lines[0][2:]})], numbered=True
        ),
    )
    sample = sample_of(tmp_path, "* a dog\n")
    assert read_form(sample, "candidates", further=[kind]).name == "stars"
    other = sample_of(tmp_path, "a dog\n")
    assert read_form(other, "candidates", form="stars", further=[kind]).name == "stars"


def test_a_file_of_two_readings_is_read_where_its_form_is_named(tmp_path):
    numbered = sample_of(tmp_path, "1. a dog\n2. a cat\n3. a bus\n")
    assert FORMS["txt"].check is not None
    with pytest.raises(InputError, match="begin with running numbers"):
        read_form(numbered, "candidates")
    form = read_form(numbered, "candidates", form="txt")
    assert next(iter(form.rows)).fields["caption"] == "1. a dog"
