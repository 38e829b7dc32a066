"""Options of several verbs."""

from __future__ import annotations

import argparse
import json
import math

import numpy as np
import pytest

from harness.cli.options import (
    Parser,
    add_json,
    add_list,
    add_registry,
    print_json,
    use_registry,
)
from harness.errors import HarnessError
from harness.registry import current


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_registry(parser)
    add_json(parser)
    return parser.parse_args(arguments)


def test_defaults_and_repetition():
    assert vars(parse()) == {"registry": [], "json": False}
    assert vars(parse("--registry", "a", "--registry", "b", "--json")) == {
        "registry": ["a", "b"],
        "json": True,
    }


def test_files_are_added_to_the_registry(project):
    (project / "more.yaml").write_text(
        'provider: more\nmetrics: {other: {import: "mine_parts:Length"}}\n'
    )
    use_registry(parse())
    assert not any(entry.name == "other" for entry in current().entries("metrics"))
    use_registry(parse("--registry", "more.yaml"))
    assert current().get("metrics", "other").full_name == "more/other"


def test_json_is_ascii_without_nan_and_keeps_the_order_of_keys(capsys):
    print_json(
        {
            "b": math.nan,
            "a": np.float64(0.5),
            "c": "é",
            "d": math.inf,
            "e": np.arange(2),
        }
    )
    text = capsys.readouterr().out
    assert text.isascii()
    assert list(json.loads(text).items()) == [
        ("b", None),
        ("a", 0.5),
        ("c", "é"),
        ("d", "inf"),
        ("e", [0, 1]),
    ]


@pytest.mark.parametrize("value", ["-1,1", "-1%", "-.5", "-3"])
def test_a_value_that_begins_as_a_negative_number_is_no_option(value):
    parser = Parser(prog="harness verb")
    add_list(parser, "--bounds", "LOW,HIGH", "a range")
    parser.add_argument("file")
    assert parser.parse_args(["--bounds", value, "a.json"]).bounds == [value]
    with pytest.raises(HarnessError, match="no option '-x1'"):
        parser.parse_args(["--bounds", "-x1", "a.json"])
