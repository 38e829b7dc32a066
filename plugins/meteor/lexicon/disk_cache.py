"""Cache of the lexicon on disk: a folder of ``.npy`` arrays and word lists whose name is a hash of the source files.

The first use builds the folder, later uses map its arrays into memory. Layout: ``$HARNESS_CACHE`` (else
``$XDG_CACHE_HOME/harness``, else ``~/.cache/harness``) ``/meteor/FORMAT-KEY/``. ``meta.json`` holds the size and CRC-32 of
every other file and is written last. A folder is built under a temporary name and renamed, so it is complete or absent. A
folder that does not agree with its ``meta.json`` is replaced. Processes that start at the same time wait for the lock of the
first. On a file system without locks each of them builds the folder, and all have the same content.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
import uuid
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numpy as np

from harness.errors import HarnessError
from harness.files.announcements import announced
from harness.files.user_path import user_path
from harness.plugins.meteor.lexicon.lexicon import Lexicon
from harness.plugins.meteor.lexicon.paraphrases import ParaphraseTable, parse_paraphrases
from harness.plugins.meteor.lexicon.sources import Sources, find_sources, read_jar

log = logging.getLogger(__name__)

FORMAT = 1
"""Version of the layout; increase it when the layout or the meaning of a file changes."""

_ARRAYS = ("synset_starts", "synset_ids", *ParaphraseTable._fields)


class DamagedCache(Exception):
    """The folder does not agree with its ``meta.json``."""


def cache_root() -> Path:
    """Return the folder of all caches (see the module docstring); raises :class:`HarnessError` if the user has no home directory."""
    root, base = os.environ.get("HARNESS_CACHE"), os.environ.get("XDG_CACHE_HOME")
    try:
        if root:
            return user_path(root)
        return (Path(base) if base else Path.home() / ".cache") / "harness"
    except RuntimeError as error:
        raise HarnessError(f"no folder for caches ({error}): set HARNESS_CACHE to a folder with 150 MB free") from error


def path_exists(path: Path) -> bool:
    """Return True when the path exists; a path that must not be inspected counts as absent."""
    try:
        return path.exists()
    except OSError:
        return False


@cache
def installed_lexicon() -> Lexicon:
    """Return the lexicon of the installed pycocoevalcap, loaded once per process (see :func:`load_lexicon`).

    Raises
    ------
    MissingExtra
        If pycocoevalcap is not installed.
    HarnessError
        If the data is incomplete or damaged, or the cache cannot be written.
    """
    return load_lexicon(find_sources())


def load_lexicon(sources: Sources) -> Lexicon:
    """Return the lexicon of the source files from the cache; build the cache if it is absent or damaged."""
    folder = _folder(sources)
    lexicon = _read_if_valid(folder)
    if lexicon is not None:
        return lexicon
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.with_name(folder.name + ".lock")):
            lexicon = _read_if_valid(folder)  # another process may have built it meanwhile
            if lexicon is None:
                with announced("METEOR: building its lexicon, once on this machine"):
                    build_folder(sources, folder)
                lexicon = read_folder(folder)
    except OSError as error:
        raise HarnessError(
            f"METEOR cannot write its cache {folder} ({error.strerror or error}): set HARNESS_CACHE to a folder with 150 MB free"
        ) from error
    return lexicon


def _folder(sources: Sources) -> Path:
    return cache_root() / "meteor" / f"{FORMAT}-{content_key(sources)}"


def content_key(sources: Sources) -> str:
    """Return 20 hexadecimal digits of a hash of both files.

    The hash of each file is recorded in the cache folder. A file with the recorded inode, size, modification time and change time is not
    read again; no program can set the change time back.
    """
    digest = hashlib.sha256()
    for path in sources:
        status = path.stat()
        digest.update(_digest(path, (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)))
    return digest.hexdigest()[:20]


@cache
def _digest(path: Path, status: tuple[int, ...]) -> bytes:
    """Return the SHA-256 of a file; ``status`` identifies its present content."""
    record = cache_root() / "meteor" / f"{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:20]}.sha256"
    state = " ".join(map(str, status))
    try:
        hexadecimal, _, recorded_state = record.read_text(encoding="ascii").partition(" ")
        if recorded_state == state and len(hexadecimal) == 2 * hashlib.sha256().digest_size:
            return bytes.fromhex(hexadecimal)
    except (OSError, ValueError):
        pass  # no record or a damaged one: hash the file
    with open(path, "rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").digest()
    _write_record(record, f"{digest.hex()} {state}")
    return digest


def _write_record(path: Path, text: str) -> None:
    """Write a small file atomically; a folder that is not writable is reported when the lexicon is built."""
    scratch = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(text, encoding="ascii")
        os.replace(scratch, path)
    except OSError as error:
        log.debug("%s cannot be written: %s", path, error)
        with suppress(OSError):
            scratch.unlink(missing_ok=True)


def build_folder(sources: Sources, folder: Path) -> None:
    """Write the cache folder atomically: a failure leaves no folder."""
    started = time.monotonic()
    log.info("METEOR: building the lexicon cache in %s (once, about 5 s)", folder)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        _write(sources, scratch)
        if folder.exists():
            os.rename(folder, scratch / "replaced")
        try:
            os.rename(_unfinished(scratch), folder)
        except OSError:
            if not folder.exists():  # otherwise another process has built the same content (no file locks)
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    log.info("METEOR: lexicon cache ready after %.1f s", time.monotonic() - started)


def _unfinished(scratch: Path) -> Path:
    return scratch / "cache"


def _write(sources: Sources, scratch: Path) -> None:
    folder = _unfinished(scratch)
    folder.mkdir()
    jar = read_jar(sources.jar)
    table, words = parse_paraphrases(sources.paraphrases)
    arrays = {"synset_starts": jar.synonyms.starts, "synset_ids": jar.synonyms.ids, **table._asdict()}
    for name in _ARRAYS:
        np.save(folder / f"{name}.npy", arrays[name], allow_pickle=False)
    (folder / "paraphrase_words.txt").write_bytes(words)
    (folder / "synset_words.txt").write_bytes("\n".join(jar.synonyms.words).encode("utf-8"))
    lists = {"function_words": jar.function_words, "prefixes": jar.prefixes, "exceptions": jar.exceptions}
    (folder / "lists.json").write_text(json.dumps(lists), encoding="utf-8")
    files = {path.name: _size_and_crc(path) for path in sorted(folder.iterdir())}
    (folder / "meta.json").write_text(json.dumps({"format": FORMAT, "files": files}, indent=1), encoding="utf-8")
    for path in folder.iterdir():
        with open(path, "rb") as stream:
            os.fsync(stream.fileno())


def _size_and_crc(path: Path) -> list[int]:
    crc = size = 0
    block = memoryview(bytearray(1 << 20))  # one buffer: allocation of new ones takes longer than the checksum
    with open(path, "rb", buffering=0) as stream:
        while count := stream.readinto(block):
            crc = zlib.crc32(block[:count], crc)
            size += count
    return [size, crc]


def _read_if_valid(folder: Path) -> Lexicon | None:
    if not path_exists(folder):
        return None
    try:
        return read_folder(folder)
    except DamagedCache as error:
        log.warning("METEOR: the lexicon cache %s is damaged (%s); rebuilding it", folder, error)
        return None


def read_folder(folder: Path) -> Lexicon:
    """Return the lexicon of a cache folder, memory-mapped; raises :class:`DamagedCache` if a file is missing, short or altered."""
    try:
        files = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["files"]
        with ThreadPoolExecutor(2) as pool:
            sums = dict(zip(files, pool.map(_size_and_crc, [folder / name for name in files])))
        if changed := [name for name, expected in files.items() if sums[name] != expected]:
            raise DamagedCache(f"{changed[0]} has changed")
        mapped = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in _ARRAYS}
        arrays = {
            name: array.view(np.ndarray) for name, array in mapped.items()
        }  # a memmap takes ten times as long to slice
        lists = json.loads((folder / "lists.json").read_text(encoding="utf-8"))
        synset_words, paraphrase_words = (
            (folder / f"{name}_words.txt").read_text(encoding="utf-8").split("\n") for name in ("synset", "paraphrase")
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedCache(f"{type(error).__name__}: {error}") from error
    synset_ids = arrays.pop("synset_ids")
    return Lexicon(
        function_words=frozenset(lists["function_words"]),
        prefixes=lists["prefixes"],
        exceptions=lists["exceptions"],
        synset_rows={word: row for row, word in enumerate(synset_words)},
        synset_starts=arrays.pop("synset_starts"),
        synset_ids=synset_ids,
        n_synsets=int(synset_ids.max()) + 1,
        paraphrase_words={word: i for i, word in enumerate(paraphrase_words)},
        paraphrases=ParaphraseTable(**arrays),
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on ``path``; the operating system releases it when the process ends."""
    try:
        import fcntl
    except ImportError:  # a system without file locks relies on the atomic rename
        yield
        return
    with open(path, "w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("METEOR: another process is building the lexicon cache; waiting for it")
            fcntl.flock(stream, fcntl.LOCK_EX)
        except OSError:
            log.debug("no file locks under %s", path.parent)
        yield
