"""Pages of the components: one per registry entry,
with its parameters and a hand-written guide.
"""

from __future__ import annotations

import re

import pytest

from harness.spec.schema import parameters_schema
from tools.documentation.components import KINDS, built_in, guides, page, page_name


@pytest.fixture(scope="module")
def guide(root):
    return guides(root / "docs")


@pytest.mark.parametrize("kind", KINDS)
def test_every_component_has_a_page_and_a_guide(kind, guide, root):
    entries = built_in(kind)
    assert entries
    assert len({page_name(entry) for entry in entries}) == len(entries)
    assert not [entry.name for entry in entries if (kind, entry.name) not in guide]
    for entry in entries:
        file = root / "docs" / guide[kind, entry.name]
        assert re.search(
            re.escape(entry.name.rpartition("/")[2]), file.read_text(encoding="utf-8")
        ), entry.name


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "tasks"])
def test_a_page_has_the_parameters_of_the_component(kind, guide):
    for entry in built_in(kind):
        text = page(entry, guide[kind, entry.name])
        assert text.startswith(f"# {entry.name}\n"), entry.name
        assert f"(../../{guide[kind, entry.name]})" in text
        assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == set(
            parameters_schema(entry)["properties"]
        ), entry.name


@pytest.mark.slow
def test_the_page_of_a_task_has_its_spec(guide):
    for entry in built_in("tasks"):
        text = page(entry, guide["tasks", entry.name])
        assert f"harness run {entry.name}\n" in text
        assert entry.file.read_text(encoding="utf-8").rstrip() in text
