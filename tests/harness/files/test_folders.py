"""Folders with a text file per item, and parts of files."""

from __future__ import annotations

import pytest

import harness
from harness.errors import InputError
from harness.files.forms import existing_captions, read_form
from harness.files.user_files import fingerprint


@pytest.fixture
def folder(tmp_path):
    """A function that writes the files of a folder and returns it."""

    def write(**texts):
        for name, text in texts.items():
            path = tmp_path / "d" / name.replace("__", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return tmp_path / "d"

    return write


def test_the_name_of_a_file_is_the_id(folder):
    path = folder(v10__txt="a cat\n", v2__txt="a dog", v2__jpg="", __DS_Store="x")
    form = read_form(existing_captions(path), "candidates")
    assert (form.name, form.ids) == ("folder", ("id",))
    assert [dict(row.fields) for row in form.rows] == [
        {"id": "v2", "candidates": "a dog"},
        {"id": "v10", "candidates": "a cat"},
    ]


def test_each_line_is_a_caption_and_paragraphs_are_refused(folder):
    path = folder(a__txt="a dog\nthe dog\n\n")
    assert [row.fields["references"] for row in read_form(path, "references").rows] == [
        ["a dog", "the dog"]
    ]
    path = folder(a__txt="a dog\n\non grass\n")
    with pytest.raises(
        InputError,
        match=r"a\.txt: holds paragraphs; expected one caption, or one per line",
    ):
        list(read_form(path, "candidates").rows)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"a__jpg": ""},
            "is a folder without text files; it holds 'a.jpg'; expected a file of x, "
            "or a folder with a .txt file per item",
        ),
        (
            {"a__json": "{}"},
            r"it holds 'a\.json'; expected .*: name the file, .*/d/a\.json",
        ),
        (
            {"a__txt": "x", "b__json": "{}", "c__md": ""},
            r"with 1 text file and 2 other entries \('b\.json', 'c\.md'\); "
            r"expected a text file",
        ),
        ({"a__txt": "x", "a__cap": "y"}, "has two text files of the item 'a'"),
    ],
)
def test_other_folders_are_one_clear_line(folder, files, message):
    with pytest.raises(InputError, match=message) as caught:
        existing_captions(folder(**files), "file of x")
    assert "\n" not in str(caught.value)


def test_an_empty_folder(tmp_path):
    with pytest.raises(InputError, match="is a folder without text files; it is empty"):
        existing_captions(tmp_path)


def test_folders_are_scored_on_both_sides(folder, tmp_path):
    path = folder(**{"1__txt": "a dog runs", "2__txt": "a cat sat"})
    (tmp_path / "r.json").write_text('{"1": ["a dog runs"], "2": ["the cat sat"]}')
    assert harness.score(path, tmp_path / "r.json", "bleu1")[
        "bleu1"
    ].value == pytest.approx(5 / 6)
    assert harness.score(tmp_path / "r.json", path, "bleu1")[
        "bleu1"
    ].value == pytest.approx(5 / 6)


def test_a_hash_sign_in_a_name_is_part_of_the_name(tmp_path):
    (tmp_path / "a#b.txt").write_text("a dog")
    path = existing_captions(tmp_path / "a#b.txt")
    assert [row.fields["caption"] for row in read_form(path, "candidates").rows] == [
        "a dog"
    ]
    with pytest.raises(InputError, match="no such file; did you mean 'a#b.txt'"):
        existing_captions(tmp_path / "a.txt#b")


def test_fingerprints_tell_parts_and_folders_apart(tmp_path, folder):
    file = tmp_path / "a.json"
    file.write_text('["a"]')
    path = folder(a__txt="a")
    prints = {
        fingerprint("x", [existing_captions(item)], {})
        for item in (file, f"{file}#list", f"{file}#txt", path)
    }
    assert len(prints) == 4
    before = fingerprint("x", [path], {})
    folder(b__txt="a")
    assert fingerprint("x", [path], {}) != before
