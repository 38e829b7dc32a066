"""METEOR's lexicon as a file on this machine, and its sources."""

from __future__ import annotations

import builtins
import errno
import gzip
import json
import logging
import os
import re
import subprocess
import sys
import threading
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

import caption_kernels
from caption_kernels.lexicon import installed as files
from tests.support.lexicon_sources import LISTS, PARAPHRASES, aligned, table_of

pytest.importorskip("caption_kernels._compiled")
DAMAGES = [
    "cut",
    "empty",
    "version",
    "zeros",
    "second half",
    "last tenth",
    "one bit",
    "longer",
]
SCORE = [
    "-m",
    "harness",
    "score",
    "c.jsonl",
    "--references",
    "r.jsonl",
    "-m",
    "meteor",
    "--json",
]
CHILD = """
import json, sys
from pathlib import Path
if sys.argv[3] == "unlocked":  # as on a file system without locks
    sys.modules["fcntl"] = None
import caption_kernels
from caption_kernels.lexicon import installed as files
build = files.build
files.build = lambda sources: print("built") or build(sources)
lexicon = files.load_lexicon(files.Sources(Path(sys.argv[1]), Path(sys.argv[2])))
print(json.dumps(caption_kernels.normalise(["Mr. a dog..."], lexicon)))
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("HARNESS_CACHE", str(folder))
    files._digest.cache_clear()
    return folder


@pytest.fixture
def sources(tmp_path, root):
    """A jar and a paraphrase table with a few entries;
    the cache is a folder of the test.
    """
    folder = tmp_path / "sources"
    folder.mkdir()
    with zipfile.ZipFile(folder / "meteor-1.5.jar", "w") as jar:
        for name, text in zip(files._LISTS, LISTS.values(), strict=True):
            jar.writestr(name, text)
    with gzip.open(folder / "paraphrase-en.gz", "wb") as table:
        table.write(table_of(PARAPHRASES))
    return files.Sources(folder / "meteor-1.5.jar", folder / "paraphrase-en.gz")


def content(lexicon):
    """Return answers of a lexicon as plain objects."""
    return aligned(lexicon, caption_kernels).statistics.tolist()


def cached(root: Path) -> Path:
    [path] = (root / "meteor").glob("*.lexicon")
    return path


def notes(caplog) -> list[str]:
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.WARNING
    ]


def test_second_start_opens_the_file_of_the_first(sources, root, monkeypatch, caplog):
    first = content(files.load_lexicon(sources))
    monkeypatch.setattr(files, "build", lambda *_: pytest.fail("built twice"))
    assert content(files.load_lexicon(sources)) == first
    assert not notes(caplog)
    assert cached(root).name.startswith(f"{files.VERSION}-")
    assert cached(root).read_bytes()[8] == files.VERSION


def damaged(whole: bytes, damage: str) -> bytes:
    """Return the bytes of a file with one kind of damage."""
    size = len(whole)
    match damage:
        case "cut":
            return whole[:-8]
        case "empty":
            return b""
        case "version":
            return whole[:8] + b"\x07" + whole[9:]
        case "zeros":
            return bytes(size)
        case "second half":
            return whole[: size // 2] + bytes(size - size // 2)
        case "last tenth":
            return whole[: -size // 10] + bytes(
                byte ^ 0x10 for byte in whole[-size // 10 :]
            )
        case "one bit":
            return (
                whole[: size // 3]
                + bytes([whole[size // 3] ^ 4])
                + whole[size // 3 + 1 :]
            )
        case "longer":
            return whole + bytes(8)
    raise AssertionError(damage)


def replace(path: Path, content: bytes) -> None:
    """Write another file of a name: lexicons that map the former one keep it."""
    path.unlink()
    path.write_bytes(content)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_file_is_built_again_with_one_note(sources, root, caplog, damage):
    expected = content(files.load_lexicon(sources))
    path = cached(root)
    whole = path.read_bytes()
    replace(path, damaged(whole, damage))
    assert content(files.load_lexicon(sources)) == expected
    [note] = notes(caplog)
    assert note == f"METEOR: its lexicon {path} is damaged; building it again"
    assert path.read_bytes() == whole
    assert [
        item.name for item in (root / "meteor").iterdir() if item.name.startswith(".")
    ] == []


@pytest.mark.parametrize("damage", ["empty", "second half", "one bit"])
def test_damaged_file_that_cannot_be_replaced_is_one_note(
    sources, root, monkeypatch, caplog, damage
):
    expected = content(files.load_lexicon(sources))
    path = cached(root)
    broken = damaged(path.read_bytes(), damage)
    replace(path, broken)
    with read_only(monkeypatch):
        assert content(files.load_lexicon(sources)) == expected
    [note] = notes(caplog)
    assert (
        f"{path} is damaged and cannot be replaced: " in note
        and "Read-only file system" in note
    )
    assert path.read_bytes() == broken


def test_lexicon_of_a_read_only_folder_is_used(sources, root, monkeypatch, caplog):
    expected = content(files.load_lexicon(sources))
    monkeypatch.setattr(files, "build", lambda _: pytest.fail("built again"))
    with read_only(monkeypatch):
        assert content(files.load_lexicon(sources)) == expected
    assert not notes(caplog)


@contextmanager
def read_only(monkeypatch):
    """Refuse to open any file for writing, as a file system does that is mounted for
    reading; permissions do not bind root.
    """
    opened = builtins.open

    def refuse(path, mode="r", *args, **kwargs):
        if set(mode) & set("wax+"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return opened(path, mode, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", refuse)
        yield


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["second half", "last tenth", "one bit"])
def test_score_with_a_damaged_lexicon_is_right_and_has_one_note(
    sources, root, tmp_path, damage
):
    package = tmp_path / "packages" / "pycocoevalcap" / "meteor"
    (package / "data").mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    sources.jar.rename(package / "meteor-1.5.jar")
    sources.paraphrases.rename(package / "data" / "paraphrase-en.gz")
    candidates = [
        {"id": k, "caption": text}
        for k, text in enumerate(
            ["a dog loved the lady", "hounds went", "Mr. dog is a lady"]
        )
    ]
    references = [
        {"id": k, "references": ["an animal that barks love ladies", "the hound goes"]}
        for k in range(3)
    ]
    for name, rows in (("c.jsonl", candidates), ("r.jsonl", references)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

    def score() -> tuple[str, str]:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(package.parent.parent), *sys.path]),
        }
        child = subprocess.run(
            [sys.executable, *SCORE],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
            check=True,
        )
        return re.sub(r"\"seconds\": [\d.e-]+", "", child.stdout), child.stderr

    expected, _ = score()
    path = cached(root)
    whole = path.read_bytes()
    replace(path, damaged(whole, damage))
    again, note = score()
    assert again == expected
    assert (
        note.count("is damaged; building it again") == 1 and len(note.splitlines()) == 1
    )
    assert path.read_bytes() == whole
    assert score() == (expected, "")


def test_file_is_written_in_the_background(sources, root, monkeypatch):
    begin = threading.Event()
    store = files._store_file
    threads = set(threading.enumerate())
    monkeypatch.setattr(
        files, "_store_file", lambda data, path: begin.wait() and store(data, path)
    )
    lexicon = files.load_lexicon(sources, in_background=True)
    assert not list((root / "meteor").glob("*.lexicon"))
    begin.set()
    for thread in set(threading.enumerate()) - threads:
        thread.join(10)
    monkeypatch.setattr(files, "build", lambda _: pytest.fail("built again"))
    assert content(files.load_lexicon(sources)) == content(lexicon)


def test_failed_background_write_is_one_note(sources, root, monkeypatch, caplog):
    def fails(data, path):
        raise OSError("no space")

    monkeypatch.setattr(files, "_store_file", fails)
    threads = set(threading.enumerate())
    files.load_lexicon(sources, in_background=True)
    for thread in set(threading.enumerate()) - threads:
        thread.join(10)
    assert len(notes(caplog)) == 1 and "no space" in notes(caplog)[0]


def test_failed_build_leaves_no_file(sources, root, monkeypatch):
    monkeypatch.setattr(files, "build", lambda sources: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        files.load_lexicon(sources)
    assert not [*(root / "meteor").glob("*.lexicon"), *(root / "meteor").glob(".*")]


def test_file_that_cannot_be_verified_is_not_kept(sources, root, monkeypatch, caplog):
    def fail(data):
        raise ValueError("changed")

    monkeypatch.setattr(files, "verify", fail)
    assert content(files.load_lexicon(sources))
    [note] = notes(caplog)
    assert "cannot be read back (changed)" in note
    assert not [
        *(root / "meteor").glob("*.lexicon"),
        *(root / "meteor").glob(".*.lexicon*"),
    ]


def test_without_a_folder_to_write_to_the_lexicon_is_held_in_memory_with_one_note(
    sources, tmp_path, monkeypatch, caplog
):
    expected = content(files.load_lexicon(sources))
    (tmp_path / "file").touch()
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    assert content(files.load_lexicon(sources)) == expected
    [note] = notes(caplog)
    assert "set HARNESS_CACHE to a folder with 100 MB free" in note


def test_without_a_home_folder_the_lexicon_is_held_in_memory_with_one_note(
    sources, monkeypatch, caplog
):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("HARNESS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    files._digest.cache_clear()
    assert content(files.load_lexicon(sources))
    [note] = notes(caplog)
    assert "home directory" in note


def test_full_disk_builds_once(sources, root, monkeypatch, caplog):
    calls = []

    def refuse(*_):
        raise OSError(28, "No space left on device")

    build = files.build
    monkeypatch.setattr(
        files, "build", lambda given: calls.append(given) or build(given)
    )
    monkeypatch.setattr(os, "fsync", refuse)
    assert content(files.load_lexicon(sources))
    assert calls == [sources]
    [note] = notes(caplog)
    assert "No space left" in note
    assert not [
        *(root / "meteor").glob("*.lexicon"),
        *(root / "meteor").glob(".*.lexicon*"),
    ]


def test_folder_depends_on_the_environment(monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", "~/x")
    assert files._folder() == Path.home() / "x/meteor"
    monkeypatch.delenv("HARNESS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert files._folder() == Path("/x/harness/meteor")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert files._folder() == Path.home() / ".cache/harness/meteor"


def test_line_about_the_work_is_written_when_it_is_done(sources):
    entered = []

    class Line:
        def __enter__(self):
            entered.append(1)

        def __exit__(self, *_):
            entered.append(2)

    files.load_lexicon(sources, building=Line())
    assert entered == [1, 2]
    files.load_lexicon(sources, building=Line())
    assert entered == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("locks", ["locked", "unlocked"])
def test_processes_that_start_together_build_one_file(sources, root, locks):
    command = [sys.executable, "-c", CHILD, *map(str, sources), locks]
    children = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    answers = [child.communicate()[0].splitlines() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    assert len({answer[-1] for answer in answers}) == 1
    assert json.loads(answers[0][-1])[0]
    if locks == "locked":
        assert sum(answer.count("built") for answer in answers) == 1
    assert cached(root).is_file()
    assert not [
        item for item in (root / "meteor").iterdir() if item.name.startswith(".")
    ]


def test_other_content_has_another_key(sources):
    before = files.content_key(sources)
    sources.paraphrases.write_bytes(sources.paraphrases.read_bytes() + b" ")
    assert files.content_key(sources) != before


def records(root: Path) -> list[Path]:
    return sorted((root / "meteor").glob("*.sha256"))


def test_hash_of_each_file_is_recorded_once(sources, root, monkeypatch):
    before = files.content_key(sources)
    files._digest.cache_clear()
    monkeypatch.setattr(
        files.hashlib, "file_digest", lambda *_: pytest.fail("read again")
    )
    assert files.content_key(sources) == before
    assert len(records(root)) == 2


def test_other_content_of_equal_size_and_modification_time_is_detected(sources):
    path = sources.paraphrases
    before = files.content_key(sources)
    status = path.stat()
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (
        status.st_size,
        status.st_mtime_ns,
    )
    assert files.content_key(sources) != before


@pytest.mark.parametrize(
    "damage", ["", "zz", "\u00e9", "00" * 32, "00" * 32 + " 1 2 3 4", "digit", "cut"]
)
def test_damaged_record_is_replaced(sources, root, damage):
    key = files.content_key(sources)
    whole = {path: path.read_bytes() for path in records(root)}
    for path, content in whole.items():
        other_digit = b"1" if content[:1] == b"0" else b"0"
        changed = {"digit": other_digit + content[1:], "cut": content[:-1]}
        path.write_bytes(changed.get(damage, damage.encode()))
    files._digest.cache_clear()
    assert files.content_key(sources) == key
    assert {path: path.read_bytes() for path in records(root)} == whole


def test_record_that_cannot_be_renamed_leaves_no_file(sources, root, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "replace", refuse)
    assert len(files.content_key(sources)) == 20
    assert not [path for path in (root / "meteor").iterdir() if path.is_file()]


@pytest.mark.parametrize("cut", [5, -12, -3])
def test_damaged_table_is_named(sources, cut):
    path = sources.paraphrases
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(
        files.DamagedSources, match=r"paraphrase-en\.gz cannot be read .*reinstall"
    ):
        files.load_lexicon(sources)


def test_table_that_is_incomplete_is_named(sources):
    with gzip.open(sources.paraphrases, "wb") as stream:
        stream.write(b"0.5\na\nb\n0.5\na\n")
    with pytest.raises(
        files.DamagedSources, match=r"paraphrase-en\.gz cannot be read .*damaged"
    ):
        files.load_lexicon(sources)


def test_table_of_several_members_is_read_whole(sources):
    expected = content(caption_kernels.Lexicon(files.build(sources)))
    table = table_of(PARAPHRASES)
    parts = [
        gzip.compress(table[:10]),
        gzip.compress(table[10:11]),
        bytes(5),
        gzip.compress(table[11:]),
        bytes(512),
    ]
    sources.paraphrases.write_bytes(b"".join(parts))
    assert content(caption_kernels.Lexicon(files.build(sources))) == expected


def test_file_that_is_not_a_jar_is_named(sources):
    wrong = files.Sources(sources.paraphrases, sources.paraphrases)
    with pytest.raises(
        files.DamagedSources, match=r"paraphrase-en\.gz cannot be read as METEOR's data"
    ):
        files.load_lexicon(wrong)


def test_jar_without_the_english_data_is_named(sources, tmp_path):
    path = tmp_path / "other.jar"
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("function/english.words", "a\n")
    with pytest.raises(files.DamagedSources, match=r"other\.jar .*english\.prefixes"):
        files.build(files.Sources(path, sources.paraphrases))


def test_file_that_is_gone_is_named(sources):
    sources.jar.unlink()
    with pytest.raises(
        files.DamagedSources, match=r"meteor-1\.5\.jar cannot be read .*No such file"
    ):
        files.load_lexicon(sources)


def test_pycocoevalcap_without_its_data_is_named(tmp_path, monkeypatch):
    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: Spec)
    with pytest.raises(
        files.MissingSources,
        match=r"METEOR needs .*meteor-1\.5\.jar, which the installed pycocoevalcap "
        r"lacks",
    ):
        files.find_sources()
    (tmp_path / "meteor").mkdir()
    (tmp_path / "meteor/meteor-1.5.jar").touch()
    with pytest.raises(files.MissingSources, match=r"paraphrase-en\.gz"):
        files.find_sources()
    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(files.MissingSources, match="pycocoevalcap"):
        files.find_sources()


def test_what_killed_processes_left_is_removed_by_the_next_one_that_writes(
    sources, root
):
    files.load_lexicon(sources)
    written = sorted(path.name for path in (root / "meteor").iterdir())
    process = int(
        subprocess.run(
            [sys.executable, "-c", "import os; print(os.getpid())"],
            capture_output=True,
            check=True,
        ).stdout
    )
    stored = [path for path in (root / "meteor").iterdir() if path.suffix != ".lock"]
    for path in stored:
        path.with_name(f".{path.name}.{process}.tmp").write_bytes(b"torn")
        path.with_name(f".{path.name}.{os.getppid()}.tmp").write_bytes(
            b"of a process that runs"
        )
        path.unlink()
    files._digest.cache_clear()
    files.load_lexicon(sources)
    running = [f".{path.name}.{os.getppid()}.tmp" for path in stored]
    assert sorted(path.name for path in (root / "meteor").iterdir()) == sorted(
        [*written, *running]
    )


def test_processes_that_run_are_told_from_those_that_have_ended():
    process = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not files._is_running(process.stdout.strip())
    assert not files._is_running(str(10**30))
    assert files._is_running(str(os.getpid()))
    assert files._is_running("no number")
