"""Caption sets of lists, mappings and files."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness.run.text_sets import caption_sets, sets_of

CANDIDATES = {"a": ["x"], "b": [" "]}
REFERENCES = {"a": ["x", "y"], "c": ["z"]}


def test_lists_become_numbered_caption_sets():
    one, other = caption_sets([["a", "b"], ["c"]], [["d"], ["e", "f"]])
    assert (one.id, one.candidates, one.references) == ("0", ("a", "b"), ("d",))
    assert other.references == ("e", "f")


def test_mappings_are_joined_by_id():
    sets = sets_of(
        {"x": ["a"], "y": ["b"]}, {"y": ["c"], "x": ["d"]}, allow_missing=False
    )
    assert {item.id: (item.candidates, item.references) for item in sets} == {
        "x": (("a",), ("d",)),
        "y": (("b",), ("c",)),
    }


@pytest.mark.parametrize(
    "pair", [("p.json", [["a"]]), ([["a"]], {"1": "a"}), ({"1": "a"}, "r.json")]
)
def test_values_of_two_kinds_are_refused(pair):
    with pytest.raises(
        InputError,
        match="candidates and references are both paths, both mappings or both lists",
    ):
        sets_of(*pair, allow_missing=False)


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        ([["a"]], [], "1 example has candidates but 0 have references$"),
        (
            ["a dog"],
            ["the dog", "one dog"],
            r"but 2 have references; of the references of one example, "
            r"pass \[references\]$",
        ),
        (
            ["a", "b"],
            [["x", "y"]] * 3,
            r"2 examples have candidates but 3 have references; "
            r"of lists .* pass list\(zip\(\*references\)\)",
        ),
        (["a", "b"], [["x"]] * 3, "2 examples have candidates but 3 have references$"),
        (
            ["a", "b"],
            [["x", "y", "z"]] * 3,
            "2 examples have candidates but 3 have references$",
        ),
        ([], [], "there are no examples"),
        (
            ["a dog", ["a cat"]],
            [["a dog"], ["a cat"]],
            "candidates: example 1: is a list, example 0 is a text; expected one kind",
        ),
        ([7], [["a dog"]], "expected a text or a list of texts; found 7"),
        ([[]], [["a"]], "the list is empty"),
        (
            "a dog",
            [["a"]],
            "expected a list with one list of texts, or one text, per example",
        ),
    ],
)
def test_mistakes_name_their_place(candidates, references, message):
    with pytest.raises(InputError, match=message):
        caption_sets(candidates, references)


@pytest.mark.parametrize("form", ["mappings", "files", "list of files"])
@pytest.mark.parametrize(
    ("allow", "message"),
    [
        (
            {"allow_missing": False, "allow_unknown": True, "allow_empty": True},
            r"'c' \(allow_missing=True ",
        ),
        ({"allow_missing": True, "allow_empty": True}, r"'b' \(allow_unknown=True "),
        ({"allow_missing": True, "allow_unknown": True, "allow_empty": True}, None),
    ],
)
def test_ids_of_one_side_are_allowed_by_name(tmp_path, form, allow, message):
    values = (CANDIDATES, REFERENCES)
    if form != "mappings":
        files = [tmp_path / "c.json", tmp_path / "r.json"]
        for file, content in zip(files, values):
            file.write_text(json.dumps(content))
        values = (str(files[0]), files[1] if form == "files" else [files[1]])
    if message is None:
        assert [
            (item.id, item.candidates, item.references)
            for item in sets_of(*values, **allow)
        ] == [("a", ("x",), ("x", "y"))]
        return
    with pytest.raises(InputError, match=message):
        sets_of(*values, **allow)


def test_a_blank_candidate_of_a_file_is_refused_unless_it_is_allowed(tmp_path):
    files = [tmp_path / "c.json", tmp_path / "r.json"]
    for file, content in zip(files, ({"a": [" "]}, {"a": ["x"]})):
        file.write_text(json.dumps(content))
    with pytest.raises(InputError, match="allow_empty=True"):
        sets_of(*files, allow_missing=False)
    (item,) = sets_of(*files, allow_missing=False, allow_empty=True)
    assert item.candidates == (" ",)


@pytest.mark.parametrize("candidates", [{}, {"a": ["x"]}])
def test_mappings_without_an_id_of_both_have_no_examples(candidates):
    with pytest.raises(InputError, match="there are no examples"):
        sets_of(candidates, {"b": ["y"]}, allow_missing=True, allow_unknown=True)


@pytest.mark.parametrize(
    "references", [[], ["missing.json"], [7], ["c.json", "missing.json"]]
)
def test_lists_that_are_no_files_are_no_paths(tmp_path, monkeypatch, references):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.json").write_text('{"a": ["x"]}')
    with pytest.raises(InputError, match="are both paths, both mappings or both lists"):
        sets_of("c.json", references, allow_missing=False)
