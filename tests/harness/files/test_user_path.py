"""Home folders in paths: replaced, or left as they are where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InputError
from harness.files.user_files import existing
from harness.files.user_path import cache_folder, nearest_beside, user_path


def test_the_home_folder_is_replaced(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    assert (
        user_path("~/data.json")
        == user_path(Path("~/data.json"))
        == Path("/home/somebody/data.json")
    )
    assert user_path("~root/x").is_absolute()


@pytest.mark.parametrize(
    "path", ["~nobody-has-this-name/x", "~a\0b", "a/~", "~\ud800/x"]
)
def test_other_paths_stay(path):
    assert user_path(path) == Path(path)


@pytest.mark.parametrize("path", ["~nobody-has-this-name/x", "~a\0b"])
def test_a_file_of_an_unknown_user_is_refused_in_one_line(path):
    with pytest.raises(InputError, match="no such file|no possible path"):
        existing(path)


def test_the_nearest_name_beside_a_path(tmp_path):
    (tmp_path / "model").mkdir()
    assert nearest_beside(tmp_path / "modle") == "model"
    for path in (
        tmp_path / "xyz",
        tmp_path / "none" / "modle",
        tmp_path / "a\0b" / "modle",
    ):
        assert nearest_beside(path) is None


def test_variables_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder("media") == tmp_path / "media"
    monkeypatch.delenv("HARNESS_CACHE")
    assert cache_folder("media") == Path("/xdg/harness/media")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder("media") == Path.home() / ".cache/harness/media"
