"""Outputs of pipelines of transformers."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.forms.pipelines import PIPELINE
from tests.support.form_content import captions, sample_of


def answer(text, name="generated_text"):
    return {name: text}


@pytest.mark.parametrize(
    "document",
    [
        [[answer("a dog")], [answer("a cat")]],
        [answer("a dog", "summary_text"), answer("a cat", "summary_text")],
        [
            [answer([{"role": "assistant", "content": "a dog"}])],
            [answer([{"role": "assistant", "content": "a cat"}])],
        ],
    ],
)
def test_answers_are_by_position(tmp_path, document):
    sample = sample_of(tmp_path, document)
    assert PIPELINE.recognise(sample)
    form = PIPELINE.read(sample)
    assert form.numbered
    assert captions(form) == {None: ["a dog", "a cat"]}


def test_several_answers_to_one_input_are_its_set(tmp_path):
    form = PIPELINE.read(sample_of(tmp_path, [[answer("a"), answer("b")]]))
    assert captions(form) == {None: [["a", "b"]]}


def test_a_record_with_an_id_is_a_record_of_usual_columns(tmp_path):
    sample = sample_of(tmp_path, [{"id": 1, "generated_text": "a dog"}])
    assert not PIPELINE.recognise(sample)


def test_an_answer_without_a_text_is_named(tmp_path):
    for document, message in (
        ([[answer("a")], [{"score": 1}]], "record 2: found an object; expected an obj"),
        ([[answer("a")], answer("b")], "record 2: found an object; expected a list"),
    ):
        with pytest.raises(InputError, match=message):
            list(PIPELINE.read(sample_of(tmp_path, document)).rows)
