"""Caption sets and specs from a file of candidates and a file of references."""

from __future__ import annotations

import argparse
import inspect
import json
import re

import pytest

import harness
from harness.cli import score
from harness.cli.options import Parser
from harness.errors import HarnessError, InputError
from harness.run.file_pair import (
    KEYWORD_SPELLING,
    OPTION_SPELLING,
    FileOptions,
    candidate_adapter,
    file_labels,
    read_answers,
    read_file_pair,
    reference_reader,
    respell,
    score_spec,
)
from harness.spec.loading import load_specs


@pytest.fixture
def pair(tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"a": ["x y"], "b": ["z", "w"]}))
    (tmp_path / "r.json").write_text(json.dumps({"a": ["x", "y"], "b": ["z"], "c": ["v"]}))
    return str(tmp_path / "p.json"), str(tmp_path / "r.json")


def test_the_engine_finds_its_components_by_their_roles():
    assert (reference_reader(), candidate_adapter()) == ("auto", "predictions")


def test_sets_are_in_the_order_of_the_references(pair):
    sets = read_file_pair(*pair, allow=["missing"])
    assert [(item.id, item.candidates, item.references) for item in sets] == [
        ("a", ("x y",), ("x", "y")), ("b", ("z", "w"), ("z",)),
    ]  # fmt: skip


def test_missing_candidates_are_refused_without_permission(pair):
    with pytest.raises(InputError, match="'c'"):
        read_file_pair(*pair)


def test_answers_of_one_system_of_a_file(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps({"id": "a", "candidates": {"one": ["x", ""], "two": ["y"]}}))
    assert read_answers(str(path), FileOptions(systems=("one",))) == {"a": ("x", "")}


def test_the_spec_of_two_files_has_the_options_as_places(pair):
    candidates, references = pair
    located = score_spec([candidates], references, ["cider", "bleu:n=2"], p_value="exact", seed=3, limit=1, allow=["missing"])
    (loaded,) = load_specs(located)
    assert (loaded.spec.task, loaded.spec.seed, loaded.spec.limit) == ("score p.json", 3, 1)
    assert loaded.spec.metrics == [{"cider": {}}, {"bleu": {"n": 2}}]
    assert loaded.spec.models == [{"predictions": {"path": candidates, "allow_missing": True, "label": "p"}}]
    (strict,) = load_specs(score_spec([candidates], references, ["cider"]))
    assert strict.spec.models == [{"predictions": {"path": candidates, "allow_missing": False, "label": "p"}}]
    assert loaded.spec.significance.method == "exact"
    places = [loaded.where(*key) for key in (("metrics", 1), ("dataset", "path"), ("models", 0), ("seed",), ("views",))]
    assert places == ["-m bleu:n=2", "--references", f"--candidates {candidates}", "--seed", "harness score"]


def test_every_file_is_a_model_and_a_metric_under_two_names_is_one(pair):
    candidates, references = pair
    located = score_spec([candidates, references], references, ["CIDEr,rouge", "ROUGE_L", "bleu:n=2", "bleu"])
    (loaded,) = load_specs(located)
    assert [next(iter(model.values()))["label"] for model in loaded.spec.models] == ["p", "r"]
    assert loaded.spec.metrics == [{"CIDEr": {}}, {"rouge": {}}, {"bleu": {"n": 2}}, {"bleu": {}}]


def test_no_file_is_refused(pair):
    with pytest.raises(HarnessError, match="no file of candidates"):
        score_spec([], pair[1], ["cider"])


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["pred.json"], ["pred"]),
        (["a/pred.json.gz", "b/pred.jsonl", "c/other.v2.parquet"], ["a/pred", "b/pred", "other.v2"]),
        (["x/a/pred.json", "y/a/pred.json", "y/b/pred.json"], ["x/a/pred", "y/a/pred", "b/pred"]),
        (["pred.json", "pred.jsonl"], ["pred.json", "pred.jsonl"]),
        (["pred.json", "pred.json"], ["pred", "pred #2"]),
        (["/tmp/.json", "beam=5, T=0.7.json"], [".json", "beam=5, T=0.7"]),
    ],
)
def test_labels_from_names(files, expected):
    assert file_labels(files) == expected


def test_labels_of_the_caller():
    assert file_labels(["a.json", "b.json"], ["ours", "theirs"]) == ["ours", "theirs"]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["one"], "1 label for 2 files of candidates; expected one label per file"),
        (["one", "two", "three"], "3 labels for 2 files"),
        (["one", "one"], "the label 'one' occurs 2 times"),
        (["one", " "], "a label is empty"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels, message):
    with pytest.raises(HarnessError, match=message):
        file_labels(["a.json", "b.json"], labels)


def test_parameters_of_the_components():
    assert FileOptions().of_candidates() == FileOptions().of_references() == {}
    options = FileOptions(None, "said", (), "key", ("a", "b"))
    assert options.of_candidates("beam") == {"columns": {"id": None}, "candidates": "said", "system": "beam"}
    assert options.of_references() == {"columns": {"id": "key", "references": ["a", "b"]}}


ADVICE = [
    "(name it with columns: {references: ...})",
    "(name it with columns: {id: ...}, or {id: null} numbers the rows)",
    "(choose the column with id: ...; id: null matches records and examples by position)",
    "(name it with candidates: ...)",
    "choose with system: NAME",
    "(allow_missing: true scores the others)",
    "(allow_empty: true keeps it)",
]


@pytest.mark.parametrize("text", ADVICE)
def test_advice_is_what_the_command_and_the_function_accept(text):
    parser = Parser(prog="harness score")
    score.add_arguments(parser)
    assert isinstance(parser, argparse.ArgumentParser)
    option = respell(InputError(text, "f:1"), OPTION_SPELLING)
    assert option.where == "f:1"
    names = re.findall(r"--[a-z-]+", option.message)
    assert names and set(names) <= set(parser._option_string_actions)
    assert not re.search(r"\w: (\.\.\.|null|true|NAME)", option.message)
    keyword = respell(InputError(text), KEYWORD_SPELLING).message
    words = re.findall(r"(\w+)=", keyword)
    assert words and set(words) <= set(inspect.signature(harness.score).parameters)
