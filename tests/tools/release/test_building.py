"""Building: tracked files, the date of the source."""

from __future__ import annotations

import subprocess

from tools.release.building import sha256, source_date, tracked_files


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True
    )


def test_only_tracked_files_that_exist_are_built(tmp_path, monkeypatch):
    git(tmp_path, "init", "-q")
    for name in ("a.py", "b.py", "ä b.txt", "untracked.py"):
        (tmp_path / name).write_text(name)
    git(tmp_path, "add", "a.py", "b.py", "ä b.txt")
    git(tmp_path, "commit", "-q", "-m", "x", "--date", "2001-02-03T04:05:06Z")
    (tmp_path / "b.py").unlink()
    assert sorted(tracked_files(tmp_path)) == ["a.py", "ä b.txt"]
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert int(source_date(tmp_path)) > 10**9
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "315532800")
    assert source_date(tmp_path) == "315532800"


def test_the_hash_of_a_file(tmp_path):
    (tmp_path / "x").write_bytes(b"abc")
    assert sha256(tmp_path / "x").startswith("ba7816bf8f01cfea")
