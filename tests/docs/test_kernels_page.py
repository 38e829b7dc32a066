"""The programs of docs/kernels.md run."""

from __future__ import annotations

import re


def test_programs_run(root, capsys):
    text = (root / "docs" / "kernels.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(programs) == 5
    for program in programs:
        exec(compile(program, "docs/kernels.md", "exec"), {})
    assert capsys.readouterr().out.count("\n") == 5
