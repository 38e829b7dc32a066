"""Labels of files: names, folders where names are equal, endings where folders are equal."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.run.file_labels import file_labels


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
