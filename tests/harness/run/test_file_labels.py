"""Labels of files and of the systems in them."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.run.file_labels import file_labels, system_labels


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
