"""What verbs write beside a run is compared name by name,
and what somebody else put there is known.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tools.soak.model import State, Verb
from tools.soak.products import (
    OCCUPANTS,
    OVER,
    PRODUCTS,
    command_line,
    differences,
    earlier,
    end_when_occupied,
    input_of,
    occupy,
    output_of,
    read_tree,
    without_damaged,
    write_inputs,
)
from tools.soak.server import _judge


def test_every_verb_that_writes_beside_a_run_is_in_the_histories():
    assert {verb.name for verb in PRODUCTS} == {
        "push",
        "new-plugin",
        "label-plan",
        "arena",
        "convert",
        "warm",
    }


@pytest.mark.parametrize("verb", PRODUCTS, ids=str)
def test_a_command_writes_below_the_folder_of_its_products(verb, tmp_path):
    line = command_line(verb, tmp_path / "run", tmp_path / "made")
    assert line[0] == verb.name
    assert ("--overwrite" in line) == (
        verb in (Verb("push", OVER), Verb("convert", OVER))
    )
    if verb.name in ("arena", "warm"):  # they write into the folder of caches alone
        assert not any(str(tmp_path) in word for word in line)
    else:
        assert str(output_of(verb, tmp_path / "made")) in line
    assert (str(tmp_path / "run") in line) == (input_of(verb) is not None)


def test_what_is_replaced_was_written_from_another_input():
    verb = Verb("push", OVER)
    assert earlier(Verb("push")) is None
    assert earlier(verb) == Verb("push", "earlier")
    assert input_of(Verb("push", "earlier")) == State("done", "small")
    assert input_of(verb) == State("done", "large")
    for name in ("label-plan", "convert"):
        before = earlier(Verb(name, OVER))
        assert before is not None
        assert command_line(before, None, Path("made")) != command_line(
            Verb(name), None, Path("made")
        )


def test_trees_differ_by_what_is_left_over_missing_and_different(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "a").mkdir(parents=True)
        (tmp_path / name / "a" / "same").write_text("same")
        (tmp_path / name / "a" / "text").write_text(name)
    (tmp_path / "one" / ".out.12.tmp").touch()
    (tmp_path / "two" / "late").symlink_to("a")
    one = read_tree(tmp_path / "one")
    two = read_tree(tmp_path / "two")
    assert differences(one, one) == ""
    assert (
        differences(one, two)
        == "left over: .out.12.tmp; missing: late; different: a/text"
    )


def test_data_bases_are_equal_by_their_rows(tmp_path):
    for name, keys in (("one", "ab"), ("two", "ba"), ("three", "ac")):
        (tmp_path / name).mkdir()
        with (
            closing(sqlite3.connect(tmp_path / name / "d.sqlite")) as connection,
            connection,
        ):
            connection.execute(
                "CREATE TABLE answers (key TEXT PRIMARY KEY, checksum INTEGER, "
                "row TEXT)"
            )
            connection.executemany(
                "INSERT INTO answers VALUES (?, 1, 'x')", [(key,) for key in keys]
            )
    trees = [read_tree(tmp_path / name) for name in ("one", "two", "three")]
    assert differences(trees[0], trees[1]) == ""
    assert differences(trees[0], trees[2]) == "different: d.sqlite"
    (tmp_path / "one" / "d.sqlite").write_bytes(b"torn")
    assert "no data base" in read_tree(tmp_path / "one")["d.sqlite"]
    (tmp_path / "two" / "d.damaged").touch()
    assert without_damaged(read_tree(tmp_path / "two")) == trees[1]


@pytest.mark.parametrize("kind", OCCUPANTS)
@pytest.mark.parametrize("verb", PRODUCTS, ids=str)
def test_something_of_somebody_else_lies_at_the_output(verb, kind, tmp_path):
    made = tmp_path / "made"
    victim = tmp_path / "victim"
    made.mkdir()
    victim.write_text("precious\n")
    occupy(verb, kind, made, victim)
    assert list(made.iterdir()) == [output_of(verb, made)]
    assert end_when_occupied(verb, kind) in (0, 2)


def test_a_model_that_is_to_be_replaced_is():
    assert end_when_occupied(Verb("convert", OVER), "folder") == 0
    assert end_when_occupied(Verb("convert"), "folder") == 2
    assert end_when_occupied(Verb("push", OVER), "folder") == 2


def test_the_inputs_are_the_same_each_time(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_inputs(tmp_path / name, "http://127.0.0.1:1/v1")
    names = {"checkpoint.json", "earlier.json", "judge.json", "other.jsonl"}
    one, two = (read_tree(tmp_path / name) for name in ("one", "two"))
    assert names <= one.keys()
    assert {name: one[name] for name in names} == {name: two[name] for name in names}
    assert "packages/pycocoevalcap/meteor/data/paraphrase-en.gz" in one


def test_the_judge_answers_by_the_prompt():
    answers = {
        _judge(f"prompt {k}")["choices"][0]["message"]["content"] for k in range(20)
    }
    assert answers == {'{"better": "A"}', '{"better": "B"}', '{"better": "tie"}'}
    assert _judge("same") == _judge("same")
