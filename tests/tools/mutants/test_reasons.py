"""The reasons why a change cannot alter a result."""

from __future__ import annotations

import json


def test_every_reason_is_of_a_line_of_its_file(root):
    reasons = json.loads(
        (root / "tools" / "mutants" / "equivalent.json").read_text(encoding="utf-8")
    )
    for name in reasons:
        path, _, change = name.partition(": ")
        line = change.partition(" -> ")[0].split()
        assert " ".join(line) in " ".join(
            (root / path).read_text(encoding="utf-8").split()
        ), name
