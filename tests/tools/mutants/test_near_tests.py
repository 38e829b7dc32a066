"""The one place in which a copy of the sources differs from the original."""

from __future__ import annotations

import pytest

pytest.importorskip("coverage", reason="needs the extra 'mutants'")

from tools.mutants.near_tests import CHANGED, find_change


@pytest.fixture
def trees(tmp_path):
    for tree in ("original", "copy"):
        for folder in CHANGED:
            (tmp_path / tree / folder).mkdir(parents=True)
        (tmp_path / tree / "harness/a.py").write_text("x = 1\ny = 2\n")
        (tmp_path / tree / "plugins/b.py").write_text("z = 3\n")
    return tmp_path / "original", tmp_path / "copy"


def test_equal_trees_have_no_change(trees):
    assert find_change(*trees) is None


@pytest.mark.parametrize(
    ("text", "line"), [("x = 1\ny = 3\n", 2), ("x = 0\ny = 2\n", 1), ("x = 1\n", 2)]
)
def test_file_and_line_of_a_change(trees, text, line):
    (trees[1] / "harness/a.py").write_text(text)
    assert find_change(*trees) == ("harness/a.py", line)
