"""Advice in the spelling of the command line and of the function."""

from __future__ import annotations

import argparse
import inspect
import re

import pytest

import harness
from harness.cli import score
from harness.cli.options import Parser
from harness.errors import InputError
from harness.run.advice_spelling import KEYWORD_SPELLING, OPTION_SPELLING, respell

ADVICE = [
    "(name it with columns: {references: ...})",
    "(name it with columns: {id: ...}, or {id: null} numbers the rows)",
    "(choose the column with id: ...; id: null matches records and examples by "
    "position)",
    "(name it with candidates: ...)",
    "choose with system: NAME",
    "(allow_missing: true scores the others)",
    "(allow_empty: true keeps it)",
    "(time_unit: seconds, hundredths or frames says which)",
    "expected seconds, or the frames of a second: fps: 25",
    "expected events: sets beside it",
    "choose id: 'n', or id: 'x y' with columns: {id: 'x y'} of the references",
]


@pytest.mark.parametrize("text", ADVICE)
def test_advice_is_what_the_command_and_the_function_accept(text):
    parser = Parser(prog="harness score")
    score.add_arguments(parser)
    assert isinstance(parser, argparse.ArgumentParser)
    option = respell(InputError(text, "f:1"), OPTION_SPELLING)
    assert option.where == "f:1"
    names = re.findall(r"--[a-z-]+", option.message)
    assert names and set(names) <= set(parser._option_string_actions)
    assert not re.search(r"\w: (\.\.\.|null|true|NAME)", option.message)
    keyword = respell(InputError(text), KEYWORD_SPELLING).message
    words = re.findall(r"(\w+)=", keyword)
    assert words and set(words) <= set(inspect.signature(harness.score).parameters)


def test_an_error_in_another_spelling_keeps_what_it_is_about():
    error = InputError(
        "choose with system: NAME or id: null", "f:1", parameter="system", value="beam"
    )
    option = respell(error, OPTION_SPELLING)
    assert (option.message, option.where) == (
        "choose with --system NAME or --id null",
        "f:1",
    )
    assert (option.parameter, option.value) == ("system", "beam")
    allowed = InputError(
        "(allow_missing: true, allow_unknown: true, allow_empty: true)"
    )
    assert (
        respell(allowed, KEYWORD_SPELLING).message
        == "(allow_missing=True, allow_unknown=True, allow_empty=True)"
    )
    assert (
        respell(allowed, OPTION_SPELLING).message
        == "(--allow-missing, --allow-unknown, --allow-empty)"
    )
