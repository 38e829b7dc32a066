"""Files that a task needs and does not find."""

from __future__ import annotations

import pytest

from harness.spec.needs import find_missing

TASK = 'dataset: {reader: jsonl, path: "${CAPTIONS_HERE}/a.jsonl"}\n'
SAMPLE = """\
variants:
  - when: {exists: "${CAPTIONS_HERE}/a.jsonl"}
    dataset: {reader: jsonl, path: "${CAPTIONS_HERE}/a.jsonl"}
  - dataset: {reader: jsonl, path: sample.jsonl}
"""


@pytest.fixture
def task(tmp_path):
    return tmp_path / "task.yaml"


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (TASK, "CAPTIONS_HERE"),
        (SAMPLE, ""),
        (TASK.replace("HERE}", "HERE:-data}"), ""),
        ("dataset: {reader: jsonl, path: a.jsonl}\n", ""),
        ("dataset: [\n", ""),
    ],
)
def test_an_unset_variable_is_missing(task, monkeypatch, text, missing):
    monkeypatch.delenv("CAPTIONS_HERE", raising=False)
    task.write_text(text)
    assert find_missing(task) == missing


def test_a_folder_without_the_file_is_missing(task, tmp_path, monkeypatch):
    monkeypatch.setenv("CAPTIONS_HERE", str(tmp_path))
    task.write_text(TASK)
    assert find_missing(task) == "CAPTIONS_HERE"
    (tmp_path / "a.jsonl").write_text("{}\n")
    assert find_missing(task) == ""


def test_an_included_file_is_read_too(task, tmp_path, monkeypatch):
    monkeypatch.delenv("CAPTIONS_HERE", raising=False)
    (tmp_path / "base.yaml").write_text(TASK)
    task.write_text("include: base.yaml\n")
    assert find_missing(task) == "CAPTIONS_HERE"
