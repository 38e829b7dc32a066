"""Every metric has a card with direction, signature, cost, pitfalls,
source and an example.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.registry import current

CARDS = Path(__file__).resolve().parents[2] / "docs" / "metrics"
PAGES = {"README", "embeddings", "judges", "ptb", "tokenisers"}
"""Pages that are no cards of metrics."""
NAMES = sorted(path.stem for path in CARDS.glob("*.md") if path.stem not in PAGES)
PARTS = {
    "direction": r"(?i)(higher|lower|more|fewer).{0,40}better|range, "
    r"better|no direction|\bdirection\b",
    "signature": r"(?i)signature",
    "cost": r"\*\*Cost|## Cost",
    "pitfalls": r"\*\*Pitfalls|## Pitfalls",
    "source": r"(19|20)\d\d|Source: none",
    "example": r"```",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_card_has_all_parts(name):
    text = (CARDS / f"{name}.md").read_text(encoding="utf-8")
    assert [
        part for part, pattern in PARTS.items() if not re.search(pattern, text)
    ] == []


def test_every_metric_is_on_the_page_of_questions_with_a_link_to_its_card():
    page = (CARDS / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w-]+)\.md\)", page))
    assert set(NAMES) <= linked
    names = [
        entry.name
        for entry in current().entries("metrics")
        if entry.provider == "harness"
    ]
    assert [name for name in names if f"`{name}`" not in page] == []
