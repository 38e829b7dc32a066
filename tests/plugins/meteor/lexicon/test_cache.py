"""The cache folder: whole or absent, rebuilt when damaged, shared by processes that start together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.plugins.meteor.lexicon import cache as lexicon_cache


@pytest.fixture
def root(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("HARNESS_CACHE", str(folder))
    return folder


def content(words):
    return (
        {word: words.own_synsets(word).tolist() for word in words.synset_rows},
        [np.asarray(array).tolist() for array in words.paraphrases],
        words.paraphrase_words,
        words.function_words,
    )


def cached(root: Path) -> Path:
    [folder] = [path for path in (root / "meteor").iterdir() if path.is_dir()]
    return folder


def test_the_second_start_reads_what_the_first_wrote(tiny_sources, root, monkeypatch):
    first = content(lexicon_cache.load_cached(tiny_sources))
    monkeypatch.setattr(lexicon_cache, "build", lambda *_: pytest.fail("built twice"))
    assert content(lexicon_cache.load_cached(tiny_sources)) == first


@pytest.mark.parametrize("name", ["targets.npy", "synset_ids.npy", "paraphrase_words.txt", "lists.json", "meta.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "empty"])
def test_a_damaged_cache_is_rebuilt(tiny_sources, root, caplog, name, damage):
    known = content(lexicon_cache.load_cached(tiny_sources))
    path = cached(root) / name
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        broken = {"cut": whole[:-3], "changed": bytes([whole[0] ^ 1]) + whole[1:], "empty": b""}[damage]
        path.write_bytes(broken)
    assert content(lexicon_cache.load_cached(tiny_sources)) == known
    assert "is damaged" in caplog.text
    assert path.read_bytes() == whole
    assert [item.name for item in (root / "meteor").iterdir() if item.is_dir()] == [path.parent.name]


def test_a_build_that_dies_leaves_nothing(tiny_sources, root, monkeypatch):
    monkeypatch.setattr(lexicon_cache, "read_paraphrases", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        lexicon_cache.load_cached(tiny_sources)
    assert not [path for path in (root / "meteor").iterdir() if path.is_dir()]


def test_other_content_has_another_key(tiny_sources):
    before = lexicon_cache.content_key(tiny_sources)
    tiny_sources.paraphrases.write_bytes(tiny_sources.paraphrases.read_bytes() + b" ")
    assert lexicon_cache.content_key(tiny_sources) != before


def notes(root: Path) -> list[Path]:
    return [path for path in (root / "meteor").iterdir() if path.suffix != ".lock" and path.is_file()]


def test_hashes_are_noted_once_for_each_file(tiny_sources, root, monkeypatch):
    before = lexicon_cache.content_key(tiny_sources)
    lexicon_cache._digest.cache_clear()
    monkeypatch.setattr(lexicon_cache.hashlib, "file_digest", lambda *_: pytest.fail("read again"))
    assert lexicon_cache.content_key(tiny_sources) == before
    monkeypatch.undo()
    monkeypatch.setenv("HARNESS_CACHE", str(root))
    for path in tiny_sources:
        os.utime(path, ns=(1, 1))
    assert lexicon_cache.content_key(tiny_sources) == before
    assert len(notes(root)) == 2


def test_other_content_of_the_same_size_and_time_is_seen(tiny_sources, root):
    path = tiny_sources.paraphrases
    before, status, content = lexicon_cache.content_key(tiny_sources), path.stat(), path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    assert lexicon_cache.content_key(tiny_sources) != before


@pytest.mark.parametrize("damage", ["", "zz", "\u00e9", "00" * 32, "00" * 32 + " 1 2 3 4"])
def test_a_damaged_note_is_written_anew(tiny_sources, root, damage):
    key = lexicon_cache.content_key(tiny_sources)
    whole = {path: path.read_bytes() for path in notes(root)}
    for path in whole:
        path.write_text(damage, encoding="utf-8")
    lexicon_cache._digest.cache_clear()
    assert lexicon_cache.content_key(tiny_sources) == key
    assert {path: path.read_bytes() for path in notes(root)} == whole


def test_a_note_that_cannot_be_put_in_place_leaves_nothing(tiny_sources, root, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "replace", refuse)
    assert len(lexicon_cache.content_key(tiny_sources)) == 20
    assert notes(root) == []


def test_a_folder_that_cannot_be_looked_into_is_named(tiny_sources, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    lexicon_cache.content_key(tiny_sources)
    monkeypatch.setattr(Path, "exists", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(HarnessError, match="METEOR cannot write its cache .*Permission denied"):
        lexicon_cache.load_cached(tiny_sources)


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("HARNESS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(HarnessError, match="set HARNESS_CACHE"):
        lexicon_cache.cache_root()


def test_the_folder_follows_the_environment(monkeypatch):
    monkeypatch.delenv("HARNESS_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert lexicon_cache.cache_root() == Path("/x/harness")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert lexicon_cache.cache_root() == Path.home() / ".cache/harness"


def test_a_folder_that_cannot_be_written_is_named(tiny_sources, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    with pytest.raises(HarnessError, match="METEOR cannot write its cache .*set HARNESS_CACHE"):
        lexicon_cache.load_cached(tiny_sources)


CHILD = """
import json, sys
from pathlib import Path
from harness.plugins.meteor.lexicon import cache as lexicon_cache
from harness.plugins.meteor.lexicon.lexicon import Sources
if sys.argv[3] == "unlocked":  # as on a file system without locks
    sys.modules["fcntl"] = None
words = lexicon_cache.load_cached(Sources(Path(sys.argv[1]), Path(sys.argv[2])))
print(json.dumps([sorted(words.paraphrase_words), words.paraphrases.targets.tolist()]))
"""


@pytest.mark.parametrize("locks", ["locked", "unlocked"])
def test_processes_that_start_together_agree(tiny_sources, root, locks):
    command = [sys.executable, "-c", CHILD, *map(str, tiny_sources), locks]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ}) for _ in range(2)]
    answers = [json.loads(child.communicate()[0]) for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert answers[0] == answers[1]
    assert len([path for path in (root / "meteor").iterdir() if path.is_dir()]) == 1
