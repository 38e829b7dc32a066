"""Captions and prompts of files by id."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness.run.captions_by_id import read_answers, read_prompts
from harness.run.file_options import FileOptions


def write_rows(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


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
