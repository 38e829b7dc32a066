"""Prompts of examples."""

from __future__ import annotations

import pytest

from harness.contracts import Example
from harness.errors import InputError
from harness_models.shared.inputs.prompts import fill_prompt


def test_fields_are_those_of_the_example():
    example = Example("7", ("r",), source="a text", meta={"language": "French"})
    assert fill_prompt("{id}: {source} in {language}", example) == "7: a text in French"


def test_fields_that_the_example_lacks_are_refused():
    with pytest.raises(InputError, match="example '7' has no source text for the prompt '{source}'"):
        fill_prompt("{source}", Example("7", ("r",)))
    with pytest.raises(InputError, match="asks for 'language', which example '7' does not have"):
        fill_prompt("{language}", Example("7", ("r",)))
