"""Results of promptfoo."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.forms.promptfoo import PROMPTFOO
from tests.support.form_content import captions, sample_of


def result(test, output, provider="a", prompt=0, **variables):
    return {
        "testIdx": test,
        "promptIdx": prompt,
        "vars": variables,
        "provider": {"id": provider},
        "response": {"output": output} if output is not None else {"error": "x"},
    }


def document(*results, deep=False):
    return {"results": {"results": list(results)} if deep else list(results)}


@pytest.mark.parametrize("deep", [False, True])
def test_both_levels_and_the_id_of_a_variable(tmp_path, deep):
    content = document(result(0, "a dog", image_id="42"), deep=deep)
    sample = sample_of(tmp_path, content)
    assert PROMPTFOO.recognise(sample)
    form = PROMPTFOO.read(sample)
    assert form.ids == ("id", "vars.image_id")
    assert captions(form) == {"42": "a dog"}


def test_each_provider_and_prompt_is_a_system(tmp_path):
    content = document(
        result(0, "a dog"), result(0, "a cat", prompt=1), result(0, None, "b")
    )
    form = PROMPTFOO.read(sample_of(tmp_path, content))
    assert captions(form) == {"0": {"a": ["a dog"], "a/1": ["a cat"], "b": None}}
    assert form.left_out == {"failed requests": 1}


def test_references_are_a_variable_of_a_usual_name(tmp_path):
    content = document(result(0, "a dog", reference="the dog"))
    form = PROMPTFOO.read(sample_of(tmp_path, content, "references"))
    assert captions(form, "references") == {"0": "the dog"}


def test_an_output_that_is_no_text_is_named(tmp_path):
    form = PROMPTFOO.read(sample_of(tmp_path, document(result(0, {"a": 1}))))
    with pytest.raises(InputError, match="the output is an object; expected text"):
        list(form.rows)
