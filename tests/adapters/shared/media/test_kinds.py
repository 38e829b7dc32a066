"""Media files by name."""

from __future__ import annotations

import pytest

from harness_models.shared.media.kinds import kind_of_name, media_path


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.mp4", "video"),
        ("a.WEBM", "video"),
        ("a.ts", "video"),
        ("b.wav", "audio"),
        ("b.opus", "audio"),
        ("c.JPEG", "image"),
        ("c.webp", "image"),
        ("d", None),
        ("d.npz", None),
    ],
)
def test_kinds_are_those_of_the_suffix(name, kind):
    assert kind_of_name(name) == kind


def test_names_without_a_suffix_are_those_of_files(tmp_path):
    (tmp_path / "video7010.mp4").touch()
    (tmp_path / "7fmOlUlwoNg.flac").touch()
    (tmp_path / "plain").touch()
    assert media_path("video7010", tmp_path, "video") == tmp_path / "video7010.mp4"
    assert media_path("7fmOlUlwoNg", tmp_path, "audio") == tmp_path / "7fmOlUlwoNg.flac"
    assert media_path("video7010", tmp_path, "audio") == tmp_path / "video7010"
    assert media_path("plain", tmp_path, "audio") == tmp_path / "plain"
    assert media_path("gone.mp4", tmp_path, "video") == tmp_path / "gone.mp4"
    assert (
        media_path(str(tmp_path / "video7010"), None, "video")
        == tmp_path / "video7010.mp4"
    )
