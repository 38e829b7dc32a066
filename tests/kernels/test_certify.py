"""The command that runs another implementation against the test vectors."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from caption_kernels_reference.certify import functions
from caption_kernels_reference.certify import vectors as certify

OTHER = """
from caption_kernels_reference.certify import functions
from caption_kernels_reference.certify.functions import ptb, stem

def cider(candidates, references):
    return [value + 1e-6 for value in functions.cider(candidates, references)]

def short(candidates, references):
    return functions.rouge(candidates, references)[1:]

def fails(candidates, references):
    raise KeyError("no such\\nword")

def nothing(candidates, references):
    return [None, float("nan"), "x", 1.0]

def capitals(texts):
    return [text.upper() for text in ptb(texts)]

class Namespace:
    stem = staticmethod(stem)

number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch) -> str:
    """Name of a module of another implementation."""
    (tmp_path / "other_kernels.py").write_text(OTHER)
    monkeypatch.syspath_prepend(tmp_path)
    yield "other_kernels"
    sys.modules.pop("other_kernels", None)


def test_right_numbers_pass(module, capsys):
    assert certify.main([f"{module}:stem", "--metric", "stem", "--tolerance", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        "stem:",
        "kind",
        "of",
        "case",
        "cases",
        "values",
        "beyond",
        "largest",
        "error",
    ]
    assert lines[1].split() == ["plain", "20", "20", "0", "0"]
    assert lines[-1] == "  within 0"


def test_a_difference_is_printed_by_kind_and_fails(module, capsys):
    assert certify.main([f"{module}:cider", "--metric", "cider"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["plain", "22", "54", "54", "1e-06"]
    assert "NOT within 1e-09" in lines[-1]
    assert any("in place of" in line for line in lines)
    assert (
        certify.main([f"{module}:cider", "--metric", "cider", "--tolerance", "1e-5"])
        == 0
    )


@pytest.mark.parametrize(
    "name, metric, words",
    [
        ("short", "rouge", "values in place of"),
        ("fails", "rouge", "KeyError: 'no such"),
        ("nothing", "bleu", "None in place of"),
        ("capitals", "ptb", "in place of \"a man 's dog"),
    ],
)
def test_wrong_answers_fail_with_one_line_for_each_kind(
    module, capsys, name, metric, words
):
    assert certify.main([f"{module}:{name}", "--metric", metric]) == 1
    out = capsys.readouterr().out
    assert words in out
    assert "Traceback" not in out


def test_a_module_alone_runs_its_functions_with_names_of_metrics(module, capsys):
    assert certify.main([module, "--tolerance", "1e-5"]) == 0
    out = capsys.readouterr().out
    assert [
        line.partition(":")[0] for line in out.splitlines() if "kind of case" in line
    ] == ["ptb", "cider", "stem"]
    assert certify.main([f"{module}:Namespace.stem", "--metric", "stem"]) == 0


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "required: module:function"),
        (["other_kernels:cider"], "--metric is missing; expected one of ptb, bleu"),
        (["other_kernels:cider", "--metric", "spice"], "invalid choice: 'spice'"),
        (
            ["other_kernels:absent", "--metric", "cider"],
            "'other_kernels' has no function 'absent'",
        ),
        (
            ["other_kernels:number", "--metric", "cider"],
            "'other_kernels' has no function 'number'",
        ),
        (
            ["other_kernels", "--metric", "meteor"],
            "'other_kernels' has no function 'meteor'",
        ),
        (
            ["no_such_module:f", "--metric", "cider"],
            "cannot import 'no_such_module': ModuleNotFoundError",
        ),
        ([":f", "--metric", "cider"], "':f' is no target"),
        (["json"], "'json' has no function named as a metric"),
        (
            ["other_kernels:cider", "--metric", "cider", "--tolerance", "-1"],
            "'-1' is no tolerance",
        ),
        (
            ["other_kernels:cider", "--metric", "cider", "--tolerance", "nan"],
            "'nan' is no tolerance",
        ),
        (
            ["other_kernels:cider", "--metric", "cider", "--tolerance", "much"],
            "'much' is no tolerance",
        ),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(module, capsys, arguments, words):
    with pytest.raises(SystemExit) as exit_:
        certify.main(arguments)
    assert exit_.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert words in error


def test_missing_vectors_are_one_line(module, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(
        certify.caption_kernels, "__file__", str(tmp_path / "package" / "__init__.py")
    )
    with pytest.raises(SystemExit) as exit_:
        certify.main([f"{module}:stem", "--metric", "stem"])
    assert exit_.value.code == 2
    assert "no test vectors in" in capsys.readouterr().err


def test_help_has_the_signature_of_each_metric(capsys):
    with pytest.raises(SystemExit):
        certify.main(["--help"])
    out = capsys.readouterr().out
    for name, metric in certify.METRICS.items():
        assert f"  {name:<7} {metric.signature}" in out
        assert callable(getattr(functions, name))


@pytest.mark.slow
def test_the_command_runs_as_a_process():
    command = [
        sys.executable,
        "-m",
        "caption_kernels_reference.certify",
        "caption_kernels_reference.certify.functions:bleu",
        "--metric",
        "bleu",
        "--tolerance",
        "0",
    ]
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"CAPTION_KERNELS": "reference"},
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "within 0" in result.stdout
