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
    read_prompts,
    read_references,
    reference_reader,
    respell,
    score_spec,
    system_labels,
)
from harness.spec.loading import load_specs

ADVICE = [
    "(name it with columns: {references: ...})",
    "(name it with columns: {id: ...}, or {id: null} numbers the rows)",
    "(choose the column with id: ...; id: null matches records and examples by "
    "position)",
    "(name it with candidates: ...)",
    "choose with system: NAME",
    "(allow_missing: true scores the others)",
    "(allow_empty: true keeps it)",
]


@pytest.fixture
def pair(tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"a": ["x y"], "b": ["z", "w"]}))
    (tmp_path / "r.json").write_text(
        json.dumps({"a": ["x", "y"], "b": ["z"], "c": ["v"]})
    )
    return str(tmp_path / "p.json"), str(tmp_path / "r.json")


def test_the_engine_finds_its_components_by_their_roles():
    assert (reference_reader(), candidate_adapter()) == ("auto", "predictions")


def test_sets_are_in_the_order_of_the_references(pair):
    sets = read_file_pair(*pair, allow=["missing"])
    assert [(item.id, item.candidates, item.references) for item in sets] == [
        ("a", ("x y",), ("x", "y")),
        ("b", ("z", "w"), ("z",)),
    ]


def test_missing_candidates_are_refused_without_permission(pair):
    with pytest.raises(InputError, match="'c'"):
        read_file_pair(*pair)


def write_rows(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_the_sets_of_some_systems_are_joined(tmp_path, pair):
    rows = [
        {
            "id": key,
            "candidates": {"one": [f"{key} one"], "two": f"{key} two", "three": "x"},
        }
        for key in "abc"
    ]
    path = write_rows(tmp_path / "p.jsonl", *rows)
    expected = [(f"{key} one", f"{key} two") for key in "abc"]
    sets = read_file_pair(
        candidates=path, references=pair[1], options=FileOptions(systems=("one", "two"))
    )
    assert [item.candidates for item in sets] == expected
    with pytest.raises(InputError, match="choose with system: NAME"):
        read_file_pair(path, pair[1])


def test_empty_references_are_read_with_permission(tmp_path, pair):
    (tmp_path / "e.json").write_text(json.dumps({"a": ["x", ""], "b": ["z"]}))
    with pytest.raises(InputError, match="empty reference"):
        read_references(tmp_path / "e.json", ["missing"])
    assert [
        item.references
        for item in read_references(tmp_path / "e.json", ["missing", "empty"])
    ] == [("x", ""), ("z",)]
    sets = read_file_pair(pair[0], tmp_path / "e.json", allow=["empty"])
    assert [item.references for item in sets] == [("x", ""), ("z",)]


def test_several_files_of_references_are_joined(tmp_path, pair):
    (tmp_path / "more.json").write_text(
        json.dumps({"a": ["u"], "b": ["v"], "c": ["w"]})
    )
    examples = read_references([pair[1], tmp_path / "more.json"])
    assert [(item.id, item.references) for item in examples] == [
        ("a", ("x", "y", "u")),
        ("b", ("z", "v")),
        ("c", ("v", "w")),
    ]
    with pytest.raises(InputError):
        read_references([])


def test_columns_of_both_files_are_chosen(tmp_path):
    candidates = write_rows(
        tmp_path / "p.jsonl", {"n": 1, "id": 8, "said": "x", "candidates": "no"}
    )
    references = write_rows(
        tmp_path / "r.jsonl",
        {"key": 1, "id": 9, "one": "y", "two": "z", "references": ["no"]},
    )
    options = FileOptions("n", ("said",), (), "key", ("one", "two"))
    (item,) = read_file_pair(candidates, references, options=options)
    assert (item.id, item.candidates, item.references) == ("1", ("x",), ("y", "z"))
    assert read_answers(candidates, options) == {"1": ("x",)}


def test_prompts_are_the_texts_beside_the_answers(tmp_path):
    rows = [
        {"id": 1, "prompt": "say a", "candidates": ["x"]},
        {"id": 2, "prompt": None, "question": "say b", "candidates": ["y"]},
    ]
    asked = write_rows(
        tmp_path / "asked.jsonl", *rows, {**rows[0], "candidates": ["z"]}
    )
    assert read_prompts(asked) == {"1": "say a", "2": "say b"}
    names = write_rows(
        tmp_path / "names.jsonl",
        {"id": 1, "my": "k", "source": "say a", "candidates": ["x"]},
    )
    assert read_prompts(names, FileOptions(id="my")) == {"k": "say a"}
    assert read_prompts(names, FileOptions(id="your")) == {}
    assert (
        read_prompts(
            write_rows(tmp_path / "none.jsonl", {"id": 1, "candidates": ["x"]})
        )
        == {}
    )


def test_prompts_of_records_that_are_matched_by_position_are_numbered_as_the_answers(
    tmp_path,
):
    rows = [
        {"id": 1, "prompt": "say a", "candidates": ["x"]},
        {"id": 1, "prompt": "say b", "candidates": ["y"]},
    ]
    path = write_rows(tmp_path / "p.jsonl", *rows)
    options = FileOptions(id=None)
    assert read_answers(path, options) == {"0": ("x",), "1": ("y",)}
    assert read_prompts(path, options) == {"0": "say a", "1": "say b"}
    without = write_rows(
        tmp_path / "without.jsonl",
        *({"prompt": row["prompt"], "candidates": ["x"]} for row in rows),
    )
    assert read_prompts(without, options) == {"0": "say a", "1": "say b"}
    assert read_prompts(without) == {}


def test_different_prompts_of_an_id_are_refused_with_their_beginnings(tmp_path):
    rows = [
        {"id": 1, "prompt": "say a", "candidates": ["x"]},
        {"id": 1, "prompt": "b" * 99, "candidates": ["x"]},
    ]
    path = write_rows(tmp_path / "p.jsonl", *rows)
    with pytest.raises(InputError) as caught:
        read_prompts(path)
    assert (
        caught.value.message
        == f"the id '1' has different prompts: 'say a' and '{'b' * 59}"
    )
    assert caught.value.where == f"{path}:2"
    with pytest.raises(InputError, match="the id '1' has different prompts: 'bbb"):
        read_prompts(write_rows(tmp_path / "reversed.jsonl", *reversed(rows)))


def test_answers_of_one_system_of_a_file(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text(
        json.dumps({"id": "a", "candidates": {"one": ["x", ""], "two": ["y"]}})
    )
    assert read_answers(str(path), FileOptions(systems=("one",))) == {"a": ("x", "")}


def test_the_spec_of_two_files_has_the_options_as_places(pair):
    candidates, references = pair
    located = score_spec(
        [candidates],
        references,
        ["cider", "bleu:n=2"],
        p_value="exact",
        seed=3,
        limit=1,
        allow=["missing"],
    )
    (loaded,) = load_specs(located)
    assert (loaded.spec.task, loaded.spec.seed, loaded.spec.limit) == (
        "score p.json",
        3,
        1,
    )
    assert loaded.spec.metrics == [{"cider": {}}, {"bleu": {"n": 2}}]
    assert loaded.spec.models == [
        {"predictions": {"path": candidates, "allow_missing": True, "label": "p"}}
    ]
    (strict,) = load_specs(score_spec([candidates], references, ["cider"]))
    assert strict.spec.models == [
        {"predictions": {"path": candidates, "allow_missing": False, "label": "p"}}
    ]
    assert loaded.spec.significance.method == "exact"
    places = [
        loaded.where(*key)
        for key in (
            ("metrics", 1),
            ("dataset", "path"),
            ("models", 0),
            ("seed",),
            ("views",),
        )
    ]
    assert places == [
        "-m bleu:n=2",
        "--references",
        f"--candidates {candidates}",
        "--seed",
        "harness score",
    ]


def test_every_file_is_a_model_and_a_metric_under_two_names_is_one(pair):
    candidates, references = pair
    located = score_spec(
        [candidates, references],
        references,
        ["CIDEr,rouge", "ROUGE_L", "bleu:n=2", "bleu"],
    )
    (loaded,) = load_specs(located)
    assert [next(iter(model.values()))["label"] for model in loaded.spec.models] == [
        "p",
        "r",
    ]
    assert loaded.spec.metrics == [
        {"CIDEr": {}},
        {"rouge": {}},
        {"bleu": {"n": 2}},
        {"bleu": {}},
    ]


def test_a_metric_that_is_not_known_stays_for_the_message_of_the_run(pair):
    located = score_spec([pair[0]], pair[1], ["cidr", "cidr", "CIDER, cider"])
    assert located.data["metrics"] == [{"cidr": {}}, {"CIDER": {}}]


def test_every_system_of_every_file_is_a_model(pair):
    options = FileOptions("key", (), ("u", "v"), None, ("one", "two"))
    located = score_spec(
        ["p/a.json", "b.json"],
        ["r.json", "s.json"],
        ["cider"],
        allow=["unknown", "empty"],
        options=options,
    )
    shared = {
        "columns": {"id": "key"},
        "allow_missing": False,
        "allow_unknown": True,
        "allow_empty": True,
    }
    assert located.data["models"] == [
        {
            "predictions": {
                "path": file,
                "system": system,
                "label": f"{file[-6]}/{system}",
                **shared,
            }
        }
        for file in ("p/a.json", "b.json")
        for system in ("u", "v")
    ]
    assert located.data["dataset"] == {
        "reader": "auto",
        "path": ["r.json", "s.json"],
        "allow_empty": True,
        "columns": {"id": None, "references": ["one", "two"]},
    }
    rest = {
        name: located.data[name] for name in ("task", "significance", "seed", "limit")
    }
    assert rest == {
        "task": "score a.json, b.json",
        "significance": {"method": "none"},
        "seed": 0,
        "limit": None,
    }
    assert [located.where(("models", k)) for k in range(4)] == [
        "--candidates p/a.json"
    ] * 2 + ["--candidates b.json"] * 2
    assert [
        located.where(key) for key in (("models",), ("limit",), ("metrics", 0))
    ] == ["--candidates", "--limit", "-m cider"]


def test_references_are_strict_where_other_faults_are_allowed(pair):
    assert score_spec([pair[0]], pair[1], ["cider"], allow=["missing"]).data[
        "dataset"
    ] == {"reader": "auto", "path": pair[1]}
    located = score_spec(files=[pair[0]], references=[pair[1]], metrics=["cider"])
    assert located.data["dataset"]["path"] == pair[1], "a list of one file is that file"


def test_no_file_is_refused(pair):
    with pytest.raises(HarnessError, match="no file of candidates"):
        score_spec([], pair[1], ["cider"])


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["pred.json"], ["pred"]),
        (
            ["a/pred.json.gz", "b/pred.jsonl", "c/other.v2.parquet"],
            ["a/pred", "b/pred", "other.v2"],
        ),
        (
            ["x/a/pred.json", "y/a/pred.json", "y/b/pred.json"],
            ["x/a/pred", "y/a/pred", "b/pred"],
        ),
        (["pred.json", "pred.jsonl"], ["pred.json", "pred.jsonl"]),
        (["pred.json", "pred.json"], ["pred", "pred #2"]),
        (["/tmp/.json", "beam=5, T=0.7.json"], [".json", "beam=5, T=0.7"]),
        (
            ["/x.json", "/a/x.json", "/c/y/x.json", "/d/y/x.json"],
            ["x", "a/x", "c/y/x", "d/y/x"],
        ),
        (["/a/b/p.json", "/a/b/p.jsonl", "/a/c/p.json"], ["p.json", "p.jsonl", "c/p"]),
        (
            [".json.gz", "one.JSON", "/a/.hidden", "two.txt.csv"],
            [".json", "one", ".hidden", "two"],
        ),
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


def test_labels_of_one_and_of_three_files_that_do_not_fit():
    with pytest.raises(
        HarnessError,
        match="^2 labels for 1 file of candidates; expected one label per file, "
        "in their order$",
    ):
        file_labels(["a.json"], ["one", "two"])
    with pytest.raises(
        HarnessError,
        match="^the label 'two' occurs 2 times; expected different labels$",
    ):
        file_labels(["a.json", "b.json", "c.json"], ["one", "two", "two"])


def test_labels_of_systems():
    assert system_labels(["p.json"], ["u", "v"]) == ["u", "v"]
    assert system_labels(["a/p.json", "b/p.json"], ["u", "v"]) == [
        "a/p/u",
        "a/p/v",
        "b/p/u",
        "b/p/v",
    ]
    assert system_labels(["p.json", "q.json"], ["u", "u"]) == [
        "p/u",
        "p/u #2",
        "q/u",
        "q/u #2",
    ]
    assert system_labels(["p.json"], ["u", "v"], ["one", "two"]) == ["one", "two"]
    assert system_labels(["p.json", "q.json"], ["u"], ["one", "two"]) == ["one", "two"]
    assert system_labels(["p.json", "q.json"], [], ["one", "two"]) == ["one", "two"]
    assert system_labels(["p.json", "q.json"], []) == ["p", "q"]
    with pytest.raises(HarnessError, match="3 labels for 4 files"):
        system_labels(["p.json", "q.json"], ["u", "v"], ["one", "two", "three"])


def test_parameters_of_the_components():
    assert FileOptions().of_candidates() == FileOptions().of_references() == {}
    options = FileOptions(None, ("said",), (), "key", ("a", "b"))
    assert options.of_candidates("beam", options.column) == {
        "columns": {"id": None},
        "candidates": "said",
        "system": "beam",
    }
    assert options.of_references() == {
        "columns": {"id": "key", "references": ["a", "b"]}
    }


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


def test_an_error_in_another_spelling_keeps_what_it_is_about():
    error = InputError(
        "choose with system: NAME or id: null", "f:1", parameter="system", value="beam"
    )
    option = respell(error, OPTION_SPELLING)
    assert (option.message, option.where) == (
        "choose with --system NAME or --id null",
        "f:1",
    )
    assert (option.parameter, option.value) == ("system", "beam")
    allowed = InputError(
        "(allow_missing: true, allow_unknown: true, allow_empty: true)"
    )
    assert (
        respell(allowed, KEYWORD_SPELLING).message
        == "(allow_missing=True, allow_unknown=True, allow_empty=True)"
    )
    assert (
        respell(allowed, OPTION_SPELLING).message
        == "(--allow-missing, --allow-unknown, --allow-empty)"
    )
