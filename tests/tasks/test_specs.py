"""Every shipped spec makes a plan: its names, parameters and axes are right, and its files are there."""

from pathlib import Path

import pytest

from harness.plan import make_plan
from harness.registry import current
from harness.spec_loading import load_specs

TASKS = Path(__file__).resolve().parents[2] / "tasks"
SPECS = sorted(path.relative_to(TASKS).as_posix() for path in TASKS.rglob("*.yaml") if path.parent.name != "parts")
"""Parts are no specs by themselves; those that include them are here."""


@pytest.mark.parametrize("name", SPECS)
def test_the_spec_makes_a_plan(name, shared, monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_DATA", str(shared / "data"))
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    loaded = load_specs(TASKS / name)
    assert loaded
    for one in loaded:
        assert make_plan(one).points


@pytest.mark.parametrize("target", ["de", "fr"])
def test_translation_goes_into_both_languages(target, shared, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(shared / "data"))
    monkeypatch.setenv("TARGET", target)
    (loaded,) = load_specs(TASKS / "translation.yaml")
    assert loaded.spec.task == f"translation-{target}"
    first = next(iter(make_plan(loaded).reader))
    assert len(first.references) == 10 and first.source


def test_every_spec_is_in_the_catalogue():
    files = {entry.file.resolve() for entry in current().entries("tasks")}
    missing = [name for name in SPECS if (TASKS / name).resolve() not in files]
    assert missing == []
