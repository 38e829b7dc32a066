"""Sections and splits of annotation files."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness_tasks.readers.annotations import check_splits, split_names


def test_split_names():
    assert split_names(None) == ()
    assert split_names("test") == ("test",)
    assert split_names(["train", "val"]) == ("train", "val")


def test_known_splits_pass_and_unknown_ones_are_errors():
    check_splits(("test",), ["train", None, "test"], "f")
    check_splits((), [], "f")
    with pytest.raises(
        InputError,
        match=r"^f: no split 'tset'; did you mean 'test'\?; found train, test$",
    ) as caught:
        check_splits(("train", "tset"), ["train", "test", "test"], "f")
    assert caught.value.parameter == "split" and str(caught.value).endswith(
        "found train, test"
    )
    with pytest.raises(InputError, match="no split 'test'; found none"):
        check_splits(("test",), [None], "f")
