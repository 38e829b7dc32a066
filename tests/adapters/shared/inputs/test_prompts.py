"""Prompts of examples."""

from __future__ import annotations

import time

import pytest

from harness.contracts import Example
from harness.errors import InputError
from harness_models.shared.inputs.prompts import fill_prompt


def test_fields_are_those_of_the_example():
    example = Example(
        "7",
        ("r",),
        source="a {text}",
        meta={"language": "French", "n": 3, "tone of voice": "dry"},
    )
    assert (
        fill_prompt("{id}: {source} in {language}, {n}, {tone of voice}", example)
        == "7: a {text} in French, 3, dry"
    )


def test_braces_are_written_twice():
    example = Example("7", ("r",), meta={"key": "{id}"})
    assert (
        fill_prompt('{{"id": {id}}} {{id}} {key} {{{id}}}', example)
        == '{"id": 7} {id} {id} {7}'
    )


def test_a_source_that_the_example_lacks_is_refused():
    with pytest.raises(
        InputError, match="has '{source}'; the fields of example '7' are {id}"
    ):
        fill_prompt("{source}", Example("7", ("r",)))


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("{lang}", "{lang}"),
        ("{id.foo}", "{id.foo}"),
        ("{id.__class__.__mro__}", "{id.__class__.__mro__}"),
        ("{id[0]}", "{id[0]}"),
        ("{id:>3000000000}", "{id:>3000000000}"),
        ("{id!r}", "{id!r}"),
        ("{}", "{}"),
        ("{0}", "{0}"),
        ("a { b", "{ b"),
        ("a } b", "}"),
        ("{id:{id}}", "{id:"),
    ],
)
def test_anything_else_in_braces_is_refused_with_the_permitted_names(prompt, found):
    started = time.monotonic()
    with pytest.raises(InputError) as caught:
        fill_prompt(
            prompt, Example("7", ("r",), source="s", meta={"language": "French"})
        )
    assert str(caught.value) == (
        f"the prompt {prompt!r} has '{found}'; the fields of example '7' are {{id}}, "
        f"{{language}}, {{source}}; a brace is written twice"
    )
    assert time.monotonic() - started < 1
