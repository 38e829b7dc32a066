"""The cache folder is complete or absent, rebuilt when damaged, and shared by processes that start at the same time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.plugins.meteor.lexicon import disk_cache


@pytest.fixture
def root(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("HARNESS_CACHE", str(folder))
    return folder


def content(words):
    """Return the data of a lexicon as plain objects."""
    return (
        {word: words.listed_synsets(word).tolist() for word in words.synset_rows},
        [np.asarray(array).tolist() for array in words.paraphrases],
        words.paraphrase_words,
        words.function_words,
    )


def cached(root: Path) -> Path:
    [folder] = [path for path in (root / "meteor").iterdir() if path.is_dir()]
    return folder


def test_second_start_reads_the_folder_of_the_first(tiny_sources, root, monkeypatch):
    first = content(disk_cache.load_lexicon(tiny_sources))
    monkeypatch.setattr(disk_cache, "build_folder", lambda *_: pytest.fail("built twice"))
    assert content(disk_cache.load_lexicon(tiny_sources)) == first


@pytest.mark.parametrize("name", ["targets.npy", "synset_ids.npy", "paraphrase_words.txt", "lists.json", "meta.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "empty"])
def test_damaged_cache_is_rebuilt(tiny_sources, root, caplog, name, damage):
    expected = content(disk_cache.load_lexicon(tiny_sources))
    path = cached(root) / name
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        broken = {"cut": whole[:-3], "changed": bytes([whole[0] ^ 1]) + whole[1:], "empty": b""}[damage]
        path.write_bytes(broken)
    assert content(disk_cache.load_lexicon(tiny_sources)) == expected
    assert "is damaged" in caplog.text
    assert path.read_bytes() == whole
    assert [item.name for item in (root / "meteor").iterdir() if item.is_dir()] == [path.parent.name]


def test_failed_build_leaves_no_folder(tiny_sources, root, monkeypatch):
    monkeypatch.setattr(disk_cache, "parse_paraphrases", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        disk_cache.load_lexicon(tiny_sources)
    assert not [path for path in (root / "meteor").iterdir() if path.is_dir()]


def test_other_content_has_another_key(tiny_sources):
    before = disk_cache.content_key(tiny_sources)
    tiny_sources.paraphrases.write_bytes(tiny_sources.paraphrases.read_bytes() + b" ")
    assert disk_cache.content_key(tiny_sources) != before


def records(root: Path) -> list[Path]:
    return [path for path in (root / "meteor").iterdir() if path.suffix != ".lock" and path.is_file()]


def test_hash_of_each_file_is_recorded_once(tiny_sources, root, monkeypatch):
    before = disk_cache.content_key(tiny_sources)
    disk_cache._digest.cache_clear()
    monkeypatch.setattr(disk_cache.hashlib, "file_digest", lambda *_: pytest.fail("read again"))
    assert disk_cache.content_key(tiny_sources) == before
    monkeypatch.undo()
    monkeypatch.setenv("HARNESS_CACHE", str(root))
    for path in tiny_sources:
        os.utime(path, ns=(1, 1))
    assert disk_cache.content_key(tiny_sources) == before
    assert len(records(root)) == 2


def test_other_content_of_equal_size_and_modification_time_is_detected(tiny_sources, root):
    path = tiny_sources.paraphrases
    before, status, content = disk_cache.content_key(tiny_sources), path.stat(), path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    assert disk_cache.content_key(tiny_sources) != before


@pytest.mark.parametrize("damage", ["", "zz", "\u00e9", "00" * 32, "00" * 32 + " 1 2 3 4"])
def test_damaged_record_is_replaced(tiny_sources, root, damage):
    key = disk_cache.content_key(tiny_sources)
    whole = {path: path.read_bytes() for path in records(root)}
    for path in whole:
        path.write_text(damage, encoding="utf-8")
    disk_cache._digest.cache_clear()
    assert disk_cache.content_key(tiny_sources) == key
    assert {path: path.read_bytes() for path in records(root)} == whole


def test_record_that_cannot_be_renamed_leaves_no_file(tiny_sources, root, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "replace", refuse)
    assert len(disk_cache.content_key(tiny_sources)) == 20
    assert records(root) == []


def test_folder_that_cannot_be_inspected_is_named(tiny_sources, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    disk_cache.content_key(tiny_sources)
    monkeypatch.setattr(Path, "exists", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(HarnessError, match="METEOR cannot write its cache .*Permission denied"):
        disk_cache.load_lexicon(tiny_sources)


def test_error_without_home_directory_names_the_variable_to_set(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("HARNESS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(HarnessError, match="set HARNESS_CACHE"):
        disk_cache.cache_root()


def test_folder_depends_on_the_environment(monkeypatch):
    monkeypatch.delenv("HARNESS_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert disk_cache.cache_root() == Path("/x/harness")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert disk_cache.cache_root() == Path.home() / ".cache/harness"


def test_folder_that_cannot_be_written_is_named(tiny_sources, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    with pytest.raises(HarnessError, match="METEOR cannot write its cache .*set HARNESS_CACHE"):
        disk_cache.load_lexicon(tiny_sources)


CHILD = """
import json, sys
from pathlib import Path
from harness.plugins.meteor.lexicon import disk_cache
from harness.plugins.meteor.lexicon.sources import Sources
if sys.argv[3] == "unlocked":  # as on a file system without locks
    sys.modules["fcntl"] = None
words = disk_cache.load_lexicon(Sources(Path(sys.argv[1]), Path(sys.argv[2])))
print(json.dumps([sorted(words.paraphrase_words), words.paraphrases.targets.tolist()]))
"""


@pytest.mark.parametrize("locks", ["locked", "unlocked"])
def test_processes_that_start_at_the_same_time_build_one_folder(tiny_sources, root, locks):
    command = [sys.executable, "-c", CHILD, *map(str, tiny_sources), locks]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ}) for _ in range(2)]
    answers = [json.loads(child.communicate()[0]) for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert answers[0] == answers[1]
    assert len([path for path in (root / "meteor").iterdir() if path.is_dir()]) == 1
