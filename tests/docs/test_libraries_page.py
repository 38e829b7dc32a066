"""The programs of docs/libraries.md run."""

from __future__ import annotations

import re

import pytest

from harness.registry.torchvision_guard import guard_torchvision


def test_the_programs_run(root, capsys):
    guard_torchvision()
    pytest.importorskip("torchmetrics")
    pytest.importorskip("evaluate")
    text = (root / "docs" / "libraries.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(programs) == 2
    for program in programs:
        exec(compile(program, "docs/libraries.md", "exec"), {})
    assert "{'cider': " in capsys.readouterr().out
