"""The cache folder of the harness."""

from __future__ import annotations

from pathlib import Path

from harness.files.cache_folder import cache_folder


def test_variables_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder("media") == tmp_path / "media"
    monkeypatch.delenv("HARNESS_CACHE")
    assert cache_folder("media") == Path("/xdg/harness/media")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder("media") == Path.home() / ".cache/harness/media"
