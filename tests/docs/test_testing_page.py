"""docs/testing.md names tests that exist."""

from __future__ import annotations

import re


def test_every_finding_has_tests(root):
    page = (root / "docs" / "testing.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\|.*\|$",
        page.partition("## Findings of a review")[2].partition("\n## ")[0],
        re.MULTILINE,
    )[2:]
    assert len(rows) == 13
    for row in rows:
        path = ""
        names = re.findall(r"`([\w/.]*)::(\w+)`", row)
        assert names, row
        for folder, name in names:
            path = folder or path
            assert f"def {name}(" in (root / path).read_text(encoding="utf-8"), (
                f"{path}::{name}"
            )
