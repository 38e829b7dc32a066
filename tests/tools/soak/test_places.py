"""What the adversary plants and damages is put there and taken away,
and every change outside is seen.
"""

from __future__ import annotations

import os
import stat

import pytest

from tools.soak.places import (
    FOREIGN,
    PLANTS,
    TEARS,
    Plant,
    alter,
    changes_of,
    link_files,
    snapshot,
    tear,
    unlink_files,
    write_foreign,
)


@pytest.fixture
def run(tmp_path):
    """A folder that looks like a run directory, and one beside it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "victim.txt").write_text("precious\n")
    folder = tmp_path / "run"
    (folder / "scores").mkdir(parents=True)
    for name in ("manifest.json", "results.json", "scores/a.npz"):
        (folder / name).write_bytes(bytes(range(1, 100)))
    return folder


@pytest.mark.parametrize("kind", PLANTS)
@pytest.mark.parametrize("share", [0, 300, 600, 999])
def test_a_planted_thing_is_taken_away_and_the_file_comes_back(run, kind, share):
    before = snapshot(run)
    plant = Plant.put(kind, run, run.parent / "outside", share)
    mode = plant.path.lstat().st_mode
    is_as_planted = {"fifo": stat.S_ISFIFO, "folder": stat.S_ISDIR}.get(
        kind, lambda mode: stat.S_ISLNK(mode) or stat.S_ISREG(mode)
    )
    assert is_as_planted(mode)
    plant.take_away()
    assert not changes_of(before, snapshot(run))


def test_a_file_that_a_command_has_written_in_its_place_stays(run):
    plant = Plant.put("symlink", run, run.parent / "outside", 999)
    (run / "new").write_text("new")
    os.replace(run / "new", plant.path)
    plant.take_away()
    assert plant.path.read_text() == "new"


@pytest.mark.parametrize("how", TEARS)
def test_a_torn_file_differs_and_its_hard_link_does_not(run, how):
    before = snapshot(run)
    for path in run.rglob("*.json"):
        (run.parent / f"kept-{path.name}").hardlink_to(path)
    name = tear(run, how, 500)
    assert name
    assert changes_of(before, snapshot(run))
    kept = list(run.parent.glob("kept-*"))
    assert len(kept) == 2
    assert all(path.read_bytes() == bytes(range(1, 100)) for path in kept)


@pytest.mark.parametrize("share", [0, 10, 333, 999])
def test_one_letter_or_digit_is_altered(tmp_path, share):
    path = tmp_path / "a"
    text = b'{"Name": 19.5, "\xc3\xa4": "z"}'
    path.write_bytes(text)
    alter(path, share)
    (at,) = [
        k
        for k, pair in enumerate(zip(path.read_bytes(), text, strict=True))
        if pair[0] != pair[1]
    ]
    old, new = (chr(data[at]) for data in (text, path.read_bytes()))
    assert (old.isdigit(), old.isupper(), old.islower()) == (
        new.isdigit(),
        new.isupper(),
        new.islower(),
    ) and old.isalnum()


def test_files_become_links_and_files_again(run):
    before = snapshot(run)
    links = link_files(run, run.parent / "outside" / "linked")
    assert {path.name for path, _ in links} == {
        "manifest.json",
        "results.json",
        "a.npz",
    }
    assert all(
        path.is_symlink() and path.read_bytes() == bytes(range(1, 100))
        for path, _ in links
    )
    (run / "manifest.json").unlink()
    (run / "manifest.json").write_text("a command replaced it")
    unlink_files(links)
    assert changes_of(before, snapshot(run)) == "manifest.json"


def test_a_manifest_is_cut_off_and_never_altered(run):
    (run / "results.json").unlink()
    (run / "scores" / "a.npz").unlink()
    assert tear(run, "flipped", 0) == "manifest.json"
    assert (run / "manifest.json").read_bytes() == bytes(range(1, 50))


@pytest.mark.parametrize("kind", FOREIGN)
def test_every_change_of_a_foreign_folder_is_seen(tmp_path, kind):
    write_foreign(tmp_path / "f", kind)
    before = snapshot(tmp_path / "f")
    assert not changes_of(before, snapshot(tmp_path / "f"))
    (tmp_path / "f" / ".lock").touch()
    (tmp_path / "f" / "scores" / "holiday.txt").unlink()
    assert changes_of(before, snapshot(tmp_path / "f")) == ".lock, holiday.txt"
