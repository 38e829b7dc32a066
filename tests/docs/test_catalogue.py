"""Whatever is shipped is documented: every name of the catalogue stands in some page of docs/, every verb in the changelog or guide."""

from __future__ import annotations

import re

import pytest

from harness.cli.main import VERBS
from harness.registry import current


@pytest.fixture(scope="module")
def pages(root):
    return "\n".join(page.read_text(encoding="utf-8") for page in (root / "docs").rglob("*.md"))


@pytest.mark.parametrize("kind", ["metrics", "adapters", "readers", "distances", "embeddings"])
def test_every_name_is_documented(kind, pages):
    missing = [
        entry.name
        for entry in current().entries(kind)
        if entry.provider == "harness" and not re.search(rf"(?<![\w-]){re.escape(entry.name)}(?![\w-])", pages)
    ]
    assert not missing


def test_every_verb_is_named_in_the_readme_or_the_changelog(root):
    text = (root / "README.md").read_text(encoding="utf-8") + (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert not [verb for verb in VERBS if not re.search(rf"\b{verb}\b", text)]
