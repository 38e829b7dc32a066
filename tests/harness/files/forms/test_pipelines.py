"""Outputs of pipelines of transformers."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness.files.captions import captions as of_value
from harness.files.forms import read_form
from harness.files.forms.pipelines import PIPELINE
from harness_models.predictions.adapter import Predictions
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


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_lists_of_answers_are_lines_too(tmp_path, end):
    path = tmp_path / "a.jsonl"
    path.write_text(
        f'[{{"generated_text": "a dog"}}]\n[{{"generated_text": "b"}}]{end}'
    )
    form = read_form(path, "candidates")
    assert (form.name, form.numbered) == ("pipeline", True)
    assert captions(form) == {None: ["a dog", "b"]}


@pytest.mark.parametrize(
    "text",
    [
        '[{"generated_text": "a dog"}]\n[{"generated_text": "a"',
        '[{"generated_text": "a dog"}]\n{"generated_text": "b"}',
        '[{"generated_text": "a dog"}]\n[{"generated_text": "b", "generated_text": 1}]',
    ],
)
def test_other_lines_behind_a_list_are_no_json(tmp_path, text):
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match="not JSON at byte 3"):
        read_form(path, "candidates")


@pytest.mark.parametrize(
    "document",
    [
        {"7": [answer("a dog")], "8": [answer("a cat")]},
        [
            {"id": 7, "generated_text": [answer("a dog")]},
            {"id": 8, "generated_text": [answer("a cat")]},
        ],
        [
            {"id": 7, "output": [answer("a dog", "summary_text")]},
            {"id": 8, "output": [answer("a cat", "summary_text")]},
        ],
    ],
)
def test_answers_beside_an_id_are_captions(tmp_path, document):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    texts = Predictions(path=str(path)).captions_by_id()
    assert texts == {"7": ("a dog",), "8": ("a cat",)}


def test_an_answer_beside_its_prompt_is_the_caption():
    value = {"text": "Describe.", "generated_text": "a dog"}
    assert of_value(value, "here") == ("a dog",)
