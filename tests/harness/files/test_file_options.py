"""Options of files, and their spelling in messages."""

from __future__ import annotations

import argparse
import inspect
import re

import pytest

import harness
from harness.cli import score
from harness.cli.parser import Parser
from harness.errors import InputError
from harness.files.file_options import KEYWORD_SPELLING, OPTION_SPELLING, FileOptions, respell


def test_parameters_of_the_components():
    assert FileOptions().of_candidates() == FileOptions().of_references() == {}
    options = FileOptions(None, "said", (), "key", ("a", "b"))
    assert options.of_candidates("beam") == {"columns": {"id": None}, "candidates": "said", "system": "beam"}
    assert options.of_references() == {"columns": {"id": "key", "references": ["a", "b"]}}


ADVICE = [
    "(name it with columns: {references: ...})",
    "(name it with columns: {id: ...}, or {id: null} numbers the rows)",
    "(choose the column with id: ...; id: null matches records and examples by position)",
    "(name it with candidates: ...)",
    "choose with system: NAME",
    "(allow_missing: true scores the others)",
    "(allow_empty: true keeps it)",
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
