"""The verb ``env``: rows, names, and what is removed."""

from __future__ import annotations

import shutil

import pytest

import harness
from harness.errors import HarnessError


def test_an_unfinished_environment_is_not_listed(declare, uv, cache):
    declare("{requirements: [numpy]}")
    (row,) = harness.env("create", "overlap").rows
    shutil.copytree(row.folder, row.folder.with_name(f".{row.folder.name}.1.tmp"))
    assert [found.folder for found in harness.env().rows] == [row.folder]


def test_an_environment_that_is_not_there_is_not_removed(declare, uv):
    declare("{requirements: [numpy]}")
    with pytest.raises(HarnessError, match="remove overlap: the environment is not cr"):
        harness.env("remove", "overlap")


def test_an_environment_of_the_user_is_not_removed(declare, tmp_path):
    declare(f"{{path: {tmp_path / 'venv'}}}")
    with pytest.raises(HarnessError, match="your own, .*venv; nothing is removed"):
        harness.env("remove", "overlap")


def test_unknown_names_are_one_line(project):
    with pytest.raises(HarnessError, match="no action 'creat'; did you mean 'create'"):
        harness.env("creat")
    with pytest.raises(HarnessError, match="no component 'overlp' declares an environ"):
        harness.env("create", "overlp")
