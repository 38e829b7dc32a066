"""Exports of Label Studio."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness.files.forms import read_form
from tests.support.form_content import captions, task


def test_cancelled_annotations_are_counted(tmp_path):
    cancelled = task(1, "bad", cancelled=True)
    cancelled["annotations"] += task(1, "a dog", "the dog")["annotations"]
    (tmp_path / "f").write_text(
        json.dumps([cancelled, task(2, "a cat"), task(3, "x", cancelled=True)])
    )
    form = read_form(tmp_path / "f", "references")
    assert captions(form, "references") == {"1": ["a dog", "the dog"], "2": "a cat"}
    assert form.left_out == {
        "cancelled annotations": 2,
        "tasks without an annotation": 1,
    }


def test_fields_of_label_studio_that_the_user_chooses_between(tmp_path):
    first = task(1, "a dog", name="short")
    first["annotations"][0]["result"] += task(1, "a dog on grass", name="long")[
        "annotations"
    ][0]["result"]
    (tmp_path / "f").write_text(json.dumps([first]))
    with pytest.raises(
        InputError,
        match="has texts in 2 fields, 'short', 'long'; "
        "name one of them as the column of captions",
    ):
        list(read_form(tmp_path / "f", "references").rows)
    assert captions(
        read_form(tmp_path / "f", "references", ["long"]), "references"
    ) == {"1": "a dog on grass"}
