"""Containers of media files."""

from __future__ import annotations

import sys

import pytest

from harness.errors import InputError, MissingExtra
from harness_models.shared.media.container import name_of, open_container


def test_sources_are_named_by_path_or_size():
    assert (name_of("a.mp4"), name_of(b"abc")) == ("a.mp4", "3 bytes")


def test_errors_while_decoding_are_messages(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"0" * 500)
    with (
        pytest.raises(
            InputError, match=r"a\.mp4: is no image, video or sound by its content"
        ),
        open_container(tmp_path / "a.mp4", "video"),
    ):
        pass
    with (
        pytest.raises(InputError, match="no such sound"),
        open_container(tmp_path, "sound"),
    ):
        pass


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(
        MissingExtra,
        match="reading a video file needs the package 'av', "
        r".*caption-harness\[media\]",
    ):
        open_container(tmp_path / "a.mp4", "video").__enter__()
