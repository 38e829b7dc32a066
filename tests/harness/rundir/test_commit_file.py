"""Commits that nobody wrote."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness.rundir.file_names import COMMIT, PENDING
from harness.rundir.run_folder import RunFolder

STAMP = json.dumps({"size": 3, "sha256": "0" * 64})


@pytest.fixture
def folder(tmp_path):
    """Return a directory whose pending files replace the old ones."""
    run = RunFolder(tmp_path / "r")
    for name in ("manifest.json", "results.json"):
        run.write(name, b"old")
        run.write(f"{PENDING}/{name}", b"new")
    return run


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"moved": {}}',
        '{"moved": {"../x": null}, "removed": []}',
        '{"moved": {}, "removed": [1]}',
        '{"moved": {}, "removed": "src"}',
        '{"moved": {}, "removed": ["src"]}',
        '{"moved": {}, "removed": [".git"]}',
        '{"moved": {}, "removed": [".lock"]}',
        '{"moved": {}, "removed": ["commit.json"]}',
        '{"moved": {}, "removed": ["scores/x.npz"]}',
        f'{{"moved": {{"notes.txt": {STAMP}}}, "removed": []}}',
        '{"moved": {"results.json": null}, "removed": []}',
        '{"moved": {"results.json": {"size": 3}}, "removed": []}',
        f'{{"moved": {{"results.json": {STAMP}}}, "removed": ["results.json"]}}',
        '{"moved": {}, "removed": [], "more": []}',
        '{"moved": [], "removed": []}',
    ],
)
def test_a_commit_that_nobody_wrote_is_one_line_and_touches_nothing(folder, content):
    (folder.path / "src").mkdir()
    (folder.path / "src" / "main.py").write_text("mine")
    (folder.path / "notes.txt").write_text("mine")
    folder.write(f"{PENDING}/notes.txt", b"theirs")
    folder.write(COMMIT, content.encode())
    before = {
        str(file): file.read_bytes()
        for file in folder.path.rglob("*")
        if file.is_file()
    }
    for action in (folder.complete, lambda: folder.read("manifest.json")):
        with pytest.raises(
            InputError,
            match=r"commit\.json: is not a commit of this program.*Nothing was changed",
        ):
            action()
    assert {
        str(file): file.read_bytes()
        for file in folder.path.rglob("*")
        if file.is_file()
    } == before
