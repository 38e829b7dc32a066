"""Sections of reports that packages add."""

from __future__ import annotations

import json

import pytest

import harness
from harness.cli.main import main
from harness.registry import in_use

SECTION = '''

class Longest:
    """The longest caption of a run."""

    title = "Longest <caption>"

    def lines(self, run):
        yield f"longest: {self._find(run)}"

    def values(self, run):
        return [{"caption": self._find(run)}]

    def html(self, run):
        return f"<p class=longest>{self._find(run)}</p>"

    def _find(self, run):
        (system,) = run.samples.systems
        sets = system.caption_sets()
        return max((text for item in sets for text in item.candidates), key=len)


LONGEST = Longest()
'''
ENTRY = """
report_sections: {longest: {import: "mine_parts:LONGEST", summary: the longest caption}}
"""


@pytest.fixture
def longest(project):
    """A project with a section; the current directory during the test."""
    for name, text in (("mine_parts.py", SECTION), ("registry.yaml", ENTRY)):
        with (project / name).open("a") as file:
            file.write(text)
    in_use._load.cache_clear()
    return project


def test_a_section_stands_in_the_terminal_in_json_and_on_the_page(longest, capsys):
    assert main(["run", "spec.yaml", "--output", "r"]) == 0
    assert "longest: the dog 0 runs x" in capsys.readouterr().out
    assert main(["run", "spec.yaml", "--output", "r", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["longest"] == [{"caption": "the dog 0 runs x"}]
    (page,) = harness.report("r")
    text = page.read_text()
    assert "<p class=longest>the dog 0 runs x</p>" in text
    assert "Longest &lt;caption&gt;" in text


def test_the_section_of_a_key_of_specs_is_imported_for_its_runs_alone(project):
    (project / "registry.yaml").write_text(
        (project / "registry.yaml").read_text()
        + 'report_sections: {cluster: {import: "not_there:X", summary: breaks}}\n'
    )
    in_use._load.cache_clear()
    assert main(["run", "spec.yaml", "--output", "r"]) == 0
