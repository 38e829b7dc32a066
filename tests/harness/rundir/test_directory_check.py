"""What a directory may hold for a run."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness.rundir.rundir import RunDir
from tests.support.run_directories import MANIFEST, OTHER, create, finish


def test_the_same_run_is_continued_and_another_is_refused(tmp_path):
    create(tmp_path / "r").close()
    again = create(tmp_path / "r")
    assert not again.finished
    again.close()
    for digest in ("aa", "x"):
        with pytest.raises(
            InputError,
            match=rf"holds another run \(task t, abc\); this one is task u, {digest}\. "
            r"Give another folder",
        ):
            create(tmp_path / "r", {"task": "u", "digest": digest})
    finish(create(tmp_path / "r", OTHER, "fresh"))
    assert json.loads((tmp_path / "r" / "manifest.json").read_text())["digest"] == "x"


def test_a_directory_of_one_part_takes_no_other_part_of_the_run(tmp_path):
    create(tmp_path / "r", {**MANIFEST, "part": "1/2"}).close()
    create(tmp_path / "r", {**MANIFEST, "part": "1/2"}).close()
    for part, name in (("2/2", "part 2/2"), (None, "the whole run")):
        for mode in ("auto", "resume"):
            with pytest.raises(
                InputError,
                match=f"holds part 1/2, and this is {name}; give another folder, "
                "or mode='fresh' to replace it",
            ):
                create(tmp_path / "r", {**MANIFEST, "part": part}, mode)
    create(tmp_path / "r", {**MANIFEST, "part": "2/2"}, "fresh").close()
    create(tmp_path / "s", {**MANIFEST, "part": "2/2"}).close()
    with pytest.raises(InputError, match="holds part 2/2, and this is part 1/2"):
        create(tmp_path / "s", {**MANIFEST, "part": "1/2"})


def test_a_file_foreign_files_or_a_broken_manifest_are_refused(tmp_path):
    (tmp_path / "f").write_text("x")
    with pytest.raises(InputError, match="is a file; expected a folder"):
        create(tmp_path / "f")
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "manifest.json").write_text("nonsense")
    for mode in ("auto", "resume", "extend"):
        with pytest.raises(InputError, match="is no manifest of a run"):
            create(tmp_path / "r", mode=mode)
    (tmp_path / "home").mkdir()
    (tmp_path / "hidden").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    (tmp_path / "hidden" / ".hidden").write_text("dear")
    for name in ("home", "hidden"):
        with pytest.raises(InputError, match="is not empty and is no run directory"):
            create(tmp_path / name)
    for mode in ("resume", "extend"):
        with pytest.raises(InputError, match="holds no run to resume"):
            create(tmp_path / "new", mode=mode)
    finish(create(tmp_path / "r", mode="fresh"))
    assert RunDir.open(tmp_path / "r").provenance.digest == "abc"
