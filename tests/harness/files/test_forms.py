"""Forms of files: what the content decides, and files that lie about their form.
docs/data-formats.md has one example of each form.
"""

from __future__ import annotations

import gzip
import json

import pytest

from harness.errors import InputError
from harness.files.forms import (
    FORMS,
    read_form,
    single_object,
)


@pytest.fixture
def form(tmp_path):
    """A function that returns name, fields of the records and ``numbered`` of a file
    with a content.
    """

    def read(content, name="file", role="candidates", names=(), kind=None):
        path = tmp_path / name
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_bytes(
            gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
        )
        result = read_form(path, role, names, kind)
        return result.name, [dict(row.fields) for row in result.rows], result.numbered

    return read


@pytest.mark.parametrize(
    ("content", "name", "count", "numbered"),
    [
        ({"1": "a"}, "mapping", 1, False),
        ({"1": None, "2": ["a", "b"]}, "mapping", 2, False),
        ({"id": "1", "caption": "a"}, "jsonl", 1, False),
        ('{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}', "jsonl", 2, False),
        ({}, "jsonl", 0, False),
        ([], "json", 0, False),
        (["a", ["b", "c"]], "list", 2, True),
        ({"outputs": ["a", "b"], "model": "m"}, "list", 2, True),
        ("image_name| comment_number| comment\n1.jpg| 0| a dog\n", "csv", 1, False),
        ("a dog\n\na cat", "txt", 3, True),
        ("a dog, brown\na cat", "txt", 2, True),
        ("1\ta dog\n2\ta cat\n\n", "pairs", 2, False),
        ("1.jpg#0\ta dog\n", "flickr", 1, False),
    ],
)
def test_the_content_decides(form, content, name, count, numbered):
    found, rows, flag = form(content)
    assert (found, len(rows), flag) == (name, count, numbered)


def test_names_of_the_user_make_a_header_or_a_record(form):
    assert form("key\tsaid\n1\ta dog\n")[0] == "pairs"
    assert form("key\tsaid\n1\ta dog\n", names=["said"])[1] == [
        {"key": "1", "said": "a dog"}
    ]
    assert form({"key": "1", "said": "a dog"})[0] == "mapping"
    assert form({"key": "1", "said": "a dog"}, names=["said"])[0] == "jsonl"


def test_windows_line_ends_and_a_byte_order_mark(form):
    assert form("\ufeffa dog\r\na cat\r\n")[1] == [
        {"caption": "a dog"},
        {"caption": "a cat"},
    ]
    assert form("\ufeffid,caption\r\n1,a dog\r\n", name="f.csv.gz")[1] == [
        {"id": "1", "caption": "a dog"}
    ]


def test_text_that_begins_with_a_bracket(form):
    assert form("[UNK] a dog\na cat\n", name="p.txt")[:1] == ("txt",)
    with pytest.raises(InputError, match="not JSON at byte 1"):
        form("[UNK] a dog\n", name="p.out")


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("", "f", "f: the file is empty"),
        ("hello", "f.json", "f.json: not JSON at byte 0"),
        ("a dog\n", "f.jsonl", "f.jsonl: not JSON at byte 0"),
        (
            "1\ta\nb\n",
            "f",
            "f:2: the line has no tab; expected an id, a tab and a caption",
        ),
        (
            "1.jpg#0\ta\nb\n",
            "f",
            "f:2: found 'b'; expected image#number, a tab and a caption",
        ),
        (
            "id,caption\n1,a,b\n",
            "f.csv",
            "f.csv:2: 3 cells; expected 2, as in the header; "
            "a cell with commas needs quotes",
        ),
        (["a", 3], "f.json", "f.json: record 1: found text; expected an object"),
    ],
)
def test_mistakes_are_one_line_with_their_place(form, content, name, message, tmp_path):
    with pytest.raises(InputError) as caught:
        form(content, name)
    assert str(caught.value).startswith(f"{tmp_path}/{message}")


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "f").write_bytes("a dog".encode("utf-16"))
    with pytest.raises(
        InputError,
        match="not UTF-8 at byte 0: .*UTF-16; convert it: "
        "iconv -f UTF-16 -t UTF-8 .*/f > NEW",
    ):
        read_form(tmp_path / "f", "candidates")


def test_a_form_by_name(form):
    assert form("id,caption\n1,a", kind="txt")[1] == [
        {"caption": "id,caption"},
        {"caption": "1,a"},
    ]

    assert {
        "mapping",
        "list",
        "csv",
        "tsv",
        "pairs",
        "flickr",
        "txt",
        "lm-eval",
        "inspect",
    } < set(FORMS)

    with pytest.raises(InputError, match="unknown format 'text'; did you mean 'txt'"):
        form("a", kind="text")
    with pytest.raises(InputError, match="found a list; expected an object of ids"):
        form([1], kind="mapping")
    with pytest.raises(InputError, match="is no log of inspect"):
        form({"a": 1}, kind="inspect")


def test_one_object_is_told_from_json_lines(tmp_path):
    path = tmp_path / "f"
    for content, expected in (
        ('{"a": 1}', {"a": 1}),
        ('{\n"a": 1}', {"a": 1}),
        ('{"a": 1}\n{"a": 2}', None),
    ):
        path.write_text(content)
        assert single_object(path) == expected
