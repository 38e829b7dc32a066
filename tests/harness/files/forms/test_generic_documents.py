"""Generic forms of JSON documents."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.forms.generic_documents import JSON, JSON_LINES, LIST, MAPPING
from tests.support.form_content import captions, sample_of


def test_a_document_is_recognised_by_one_form(tmp_path):
    documents = [
        (MAPPING, {"1": "a dog"}),
        (LIST, ["a dog", ["a cat", "the cat"]]),
        (JSON, [{"image_id": 1, "caption": "a dog"}]),
        (JSON_LINES, {"image_id": 1, "caption": "a dog"}),
    ]
    for kind, document in documents:
        sample = sample_of(tmp_path, document)
        fitting = [form.name for form, _ in documents if form.recognise(sample)]
        assert fitting == [kind.name]


def test_a_list_below_a_key_keeps_the_key_and_the_places(tmp_path):
    form = LIST.read(sample_of(tmp_path, {"outputs": ["a dog", "a cat"], "n": 2}))
    assert (form.key, form.numbered) == ("outputs", True)
    assert [row.where.rpartition("/")[2] for row in form.rows] == [
        "file: outputs: record 1",
        "file: outputs: record 2",
    ]


def test_nan_is_refused_where_captions_hold_none(tmp_path):
    for kind, text in (
        (MAPPING, '{"1": NaN}'),
        (JSON, '[{"id": 1, "caption": NaN}]'),
        (JSON_LINES, '{"id": 1, "caption": NaN}'),
    ):
        with pytest.raises(InputError, match="NaN"):
            list(kind.read(sample_of(tmp_path, text)).rows)


def test_an_object_is_read_as_ids_where_the_user_says_so(tmp_path):
    form = MAPPING.read(sample_of(tmp_path, {"id": "a dog", "caption": "a cat"}))
    assert captions(form) == {"id": "a dog", "caption": "a cat"}
    with pytest.raises(InputError, match="found a list; expected an object of ids"):
        MAPPING.read(sample_of(tmp_path, ["a dog"]))
