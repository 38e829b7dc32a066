"""Mutants: what is changed, what is left alone,
and that the tests run against the change.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray", reason="needs the extra 'mutants'")
pytest.importorskip("coverage", reason="needs the extra 'mutants'")

from tools.mutants.lines import ExecutedLines
from tools.mutants.mutants import mutants_of, sample, sources

SOURCE = '''"""Text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

Number = int | float


def half(x: int | None, *, up: bool = False) -> int | None:
    """Return a half."""
    if x is None or x < 0:
        raise ValueError(f"{x + 1} is negative")
    return (x + up) // 2
'''


def test_every_kind_of_change_has_a_mutant():
    changes = {m.change(SOURCE) for m in mutants_of("a.py", SOURCE)}
    line = "return (x + up) // 2"
    assert (line, "return None") in changes
    assert (line, "return (x - up) // 2") in changes
    assert (line, "return (x + up) // 3") in changes
    assert ("if x is None or x < 0:", "if x is None or x <= 0:") in changes
    assert ("if x is None or x < 0:", "if x is None and x < 0:") in changes


def test_annotations_types_and_messages_are_left_alone():
    lines = {m.change(SOURCE)[0] for m in mutants_of("a.py", SOURCE)}
    assert lines == {
        "if x is None or x < 0:",
        "return (x + up) // 2",
        "def half(x: int | None, *, up: bool = False) -> int | None:",
    }
    signature = [
        m.change(SOURCE)[1] for m in mutants_of("a.py", SOURCE) if m.line == 13
    ]
    assert "def half(x: int | None, *, up: bool = True) -> int | None:" in signature
    assert not any("int & None" in text for text in signature)


def test_a_caught_exception_is_replaced_unless_its_name_is_dotted():
    source = (
        "import json\n\ntry:\n    x = 1\nexcept (json.JSONDecodeError, "
        "OSError):\n    x = 2\n"
    )
    caught = [
        m.change(source)[1]
        for m in mutants_of("a.py", source)
        if m.operator == "ExceptionReplacer"
    ]
    assert caught == ["except (json.JSONDecodeError, CosmicRayTestingException):"]


def test_a_sample_has_one_change_of_a_place_and_every_change_is_a_program(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(SOURCE)
    mutants = mutants_of("a.py", SOURCE)
    drawn = sample(mutants, 100, 1)
    assert len({(m.line, m.column) for m in drawn}) == len(drawn)
    assert drawn == sample(mutants, 100, 1)
    assert sample(mutants, 3, 1) == drawn[:3]
    assert drawn != sample(mutants, 100, 2)
    for mutant in drawn:
        compile(mutant.code(SOURCE), "a.py", "exec")


def test_sources_without_the_excluded_ones(root):
    files = sources(root, ["harness/stats/*.py"], ["harness/stats/forms.py"])
    assert "harness/stats/permutation.py" in files
    assert not {"harness/stats/forms.py", "harness/stats/__init__.py"} & set(files)


def test_reasons_name_files_of_the_repository(root):
    reasons = json.loads(
        (root / "tools/mutants/equivalent.json").read_text(encoding="utf-8")
    )
    for name, reason in reasons.items():
        assert (root / name.partition(": ")[0]).is_file(), name
        assert len(reason) > 20, name


@pytest.mark.slow
def test_the_tests_that_execute_a_line_run_against_its_mutants(root, tmp_path):
    def call(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", *arguments, "--out", str(tmp_path)],
            cwd=root,
            capture_output=True,
            text=True,
        ).stdout

    call(
        "tools.mutants.lines",
        "tests/harness/stats/test_ties.py",
        "tests/harness/stats/test_combine.py",
    )

    executed = ExecutedLines(tmp_path)
    lines = (root / "harness/stats/combine.py").read_text().splitlines()
    inside = next(
        number for number, line in enumerate(lines, 1) if line.startswith("    return")
    )
    assert {
        test.partition("::")[0]
        for test in executed.find_tests("harness/stats/combine.py", inside, 60)
    } == {"tests/harness/stats/test_combine.py"}
    assert executed.find_tests("harness/stats/combine.py", inside, 0) == []

    constant = next(
        number for number, line in enumerate(lines, 1) if line.startswith("_EULER")
    )
    of_import = {
        test.partition("::")[0]
        for test in executed.find_tests("harness/stats/combine.py", constant, 60)
    }
    assert of_import == {"tests/harness/stats/test_combine.py"}

    printed = call(
        "tools.mutants.run", "--groups", "stats", "--count", "120", "--seed", "5"
    )
    counts = re.search(r"harness/stats +(\d+) mutants, +(\d+) unnoticed", printed)
    assert counts is not None, printed
    assert int(counts[2]) < int(counts[1])
