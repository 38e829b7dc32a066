"""The catalogue of built-in components: every name is documented,
every summary is one plain line.
"""

from __future__ import annotations

import re

import pytest

from harness.cli.main import VERBS
from harness.registry import current
from harness.registry.component_kinds import KINDS
from harness.registry.manifest_files import BUILT_IN

QUESTION_WORDS = (
    "What",
    "Where",
    "Whether",
    "Who",
    "Which",
    "When",
    "Why",
    "How",
    "Does",
    "Do ",
    "Is ",
)


def built_in(kind):
    return [entry for entry in current().entries(kind) if entry.provider == BUILT_IN]


@pytest.fixture(scope="module")
def pages(root):
    return "\n".join(
        page.read_text(encoding="utf-8") for page in (root / "docs").rglob("*.md")
    )


@pytest.mark.parametrize(
    "kind", ["metrics", "adapters", "readers", "distances", "embeddings"]
)
def test_every_name_is_documented(kind, pages):
    missing = [
        entry.name
        for entry in built_in(kind)
        if not re.search(rf"(?<![\w-]){re.escape(entry.name)}(?![\w-])", pages)
    ]
    assert not missing


# no built-in format or executor is in a manifest
@pytest.mark.parametrize("kind", [*KINDS, "commands", "trainers"])
def test_every_summary_is_one_plain_line(kind):
    entries = built_in(kind)
    assert entries
    for entry in entries:
        assert 3 <= len(entry.summary) <= 120, entry.name
        assert "\n" not in entry.summary, entry.name
        assert not entry.summary.startswith(QUESTION_WORDS), entry.name
        assert not entry.summary.endswith((".", "?")), entry.name


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_components_have_the_same_summary(kind):
    summaries = [entry.summary for entry in built_in(kind)]
    assert len(set(summaries)) == len(summaries)


def test_every_metric_has_a_question_with_a_section_in_the_index(root):
    index = (root / "docs/metrics/README.md").read_text(encoding="utf-8")
    for entry in built_in("metrics"):
        assert entry.question, entry.name
        section = index.partition(f"\n## {entry.question}\n")[2].partition("\n## ")[0]
        assert f"`{entry.name}`" in section, entry.name


def test_every_verb_is_in_the_list_of_commands(root):
    commands = (root / "docs" / "commands.md").read_text(encoding="utf-8")
    assert not [verb for verb in VERBS if f"harness {verb}" not in commands]
