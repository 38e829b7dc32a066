"""Records of VLMEvalKit, ms-swift and LLaMA-Factory."""

from __future__ import annotations

import pytest

from harness.files.forms.evaluations import LLAMA_FACTORY, MS_SWIFT, VLMEVALKIT
from tests.support.form_content import captions, lines, sample_of

SWIFT = {
    "response": "a dog",
    "labels": "the dog",
    "logprobs": None,
    "images": [{"bytes": None, "path": "d/42.jpg"}],
}


@pytest.mark.parametrize(
    ("role", "expected"), [("candidates", "a dog"), ("references", "the dog")]
)
def test_each_role_has_its_column(tmp_path, role, expected):
    factory = {"id": 7, "prompt": "?", "predict": "a dog", "label": "the dog"}
    records = [
        (VLMEVALKIT, {"index": 7, "answer": "the dog", "prediction": "a dog"}),
        (MS_SWIFT, {**SWIFT, "id": 7}),
        (LLAMA_FACTORY, factory),
    ]
    for form, record in records:
        sample = sample_of(tmp_path, lines(record), role)
        assert form.recognise(sample), form.name
        assert captions(form.read(sample), role) == {"7": expected}


def test_an_id_of_the_image_comes_before_the_number_of_the_row(tmp_path):
    record = {"index": 0, "image_id": 42, "question": "?", "prediction": "a dog"}
    form = VLMEVALKIT.read(sample_of(tmp_path, lines(record)))
    assert form.ids[0] == "image_id"
    assert "id" not in next(iter(form.rows)).fields


def test_the_path_of_the_first_image_is_an_id(tmp_path):
    form = MS_SWIFT.read(sample_of(tmp_path, lines(SWIFT)))
    assert form.ids == ("image",)
    assert next(iter(form.rows)).fields["image"] == "d/42.jpg"


def test_answers_without_labels_may_be_references(tmp_path):
    record = {**SWIFT, "labels": None}
    form = MS_SWIFT.read(sample_of(tmp_path, lines(record), "references"))
    assert next(iter(form.rows)).fields["references"] == "a dog"


def test_a_record_with_other_columns_is_none(tmp_path):
    sample = sample_of(tmp_path, lines({"id": 1, "response": "a dog"}))
    for form in (VLMEVALKIT, MS_SWIFT, LLAMA_FACTORY):
        assert not form.recognise(sample)
