"""The words of a run: verb, section, kind of task."""

import json
from pathlib import Path

import pytest
from caption_vocabulary.counts import Vocabulary
from caption_vocabulary.section import VOCABULARY

import harness
from harness.cli.main import main
from harness.errors import InputError

SPEC = """\
task: said
word_lists:
  captions: r.json
  lists:
    colours: red green
    numbers: one two
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {"1": ["a red dog", "two dogs"], "2": ["a green cat", "a cat"]}
    Path("r.json").write_text(json.dumps(texts))
    Path("said.yaml").write_text(SPEC)
    return tmp_path


def test_a_task_of_word_lists_runs(folder):
    run = harness.evaluate("said.yaml", output="r")
    values = [record.value for record in run.records]
    assert values == [0.5, 0.25]
    text = str(run)
    assert "word-share" in text and "vocabulary of people: 7 different words" in text


def test_an_empty_list_is_refused_with_its_line(folder):
    Path("said.yaml").write_text(SPEC.replace("red green", '""'))
    with pytest.raises(
        InputError, match=r"said.yaml:5: the list 'colours' has no words"
    ):
        harness.evaluate("said.yaml")


def test_the_verb_is_a_function_too(folder, capsys):
    harness.evaluate("said.yaml", output="r")
    assert main(["vocabulary", "r"]) == 0
    printed = capsys.readouterr().out
    result = harness.vocabulary("r")
    assert str(result) == printed.rstrip("\n")
    assert main(["vocabulary", "r", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == result.to_dict()
    assert result.to_arrow().to_pylist() == [
        {"system": "people", "captions": 4, "words": 10, "distinct": 7, "shared": 1.0}
    ]


def test_the_section_is_on_the_page(folder):
    run = harness.evaluate("said.yaml", output="r")
    assert VOCABULARY.values(run) == Vocabulary.of(run).to_dict()["systems"]
    (page,) = harness.report("r", output="page.html")
    assert "Vocabulary" in page.read_text(encoding="utf-8")
