"""The lexicon's cache on disk: one folder of ``.npy`` arrays and word lists, named after the content it was made from.

Layout: ``$HARNESS_CACHE`` (else ``$XDG_CACHE_HOME/harness``, else ``~/.cache/harness``) ``/meteor/FORMAT-KEY/``; ``meta.json`` holds the
size and CRC-32 of every other file and is written last. A folder is built under a temporary name and renamed, so it is whole
or absent; a folder that does not agree with its ``meta.json`` is put aside and built anew. Processes that start together wait
for the first one's lock; where the file system has no locks, the last rename wins and all have the same content.
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
from harness.plugins.meteor.lexicon.lexicon import Lexicon, Sources, find_sources, read_jar, read_paraphrases
from harness.plugins.meteor.lexicon.paraphrases import ParaphraseTable

log = logging.getLogger(__name__)

FORMAT = 1
"""Raised whenever the layout or the meaning of a file changes."""

_ARRAYS = ("synset_starts", "synset_ids", *ParaphraseTable._fields)


class DamagedCache(Exception):
    """The folder is not what its ``meta.json`` says; it is rebuilt."""


def cache_root() -> Path:
    """The folder under which caches are kept; see the module's docstring. Raises :class:`HarnessError` for a user without a home."""
    own, base = os.environ.get("HARNESS_CACHE"), os.environ.get("XDG_CACHE_HOME")
    try:
        if own:
            return Path(own).expanduser()
        return (Path(base) if base else Path.home() / ".cache") / "harness"
    except RuntimeError as error:
        raise HarnessError(f"no folder for caches ({error}): set HARNESS_CACHE to one with 150 MB free") from error


def exists(path: Path) -> bool:
    """Whether there is such a file; what may not be looked at is not there."""
    try:
        return path.exists()
    except OSError:
        return False


@cache
def load() -> Lexicon:
    """The lexicon of the installed pycocoevalcap, mapped once per process; builds the cache when there is none that fits.

    Raises :class:`~harness.errors.HarnessError` or :class:`~harness.errors.MissingExtra` when the data is missing or damaged.
    """
    return load_cached(find_sources())


def load_cached(sources: Sources) -> Lexicon:
    """The lexicon from the cache, which is built first when it is missing or damaged."""
    folder = _folder(sources)
    lexicon = _try_read(folder)
    if lexicon is not None:
        return lexicon
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.with_name(folder.name + ".lock")):
            lexicon = _try_read(folder)  # another process may have built it meanwhile
            if lexicon is None:
                build(sources, folder)
                lexicon = read(folder)
    except OSError as error:
        raise HarnessError(
            f"METEOR cannot write its cache {folder} ({error.strerror or error}): set HARNESS_CACHE to a folder with 150 MB free"
        ) from error
    return lexicon


def _folder(sources: Sources) -> Path:
    return cache_root() / "meteor" / f"{FORMAT}-{content_key(sources)}"


def content_key(sources: Sources) -> str:
    """20 hexadecimal digits of the hash of both files.

    Files that have not changed since they were last hashed are not read again: their hashes are kept beside the caches, one note a
    path. Unchanged: same inode, size, time of writing and time of change, of which the last cannot be set back.
    """
    digest = hashlib.sha256()
    for path in sources:
        status = path.stat()
        digest.update(_digest(path, (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)))
    return digest.hexdigest()[:20]


@cache
def _digest(path: Path, status: tuple[int, ...]) -> bytes:
    """Hash of a file as it is now."""
    note = cache_root() / "meteor" / f"{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:20]}.sha256"
    state = " ".join(map(str, status))
    try:
        known, _, of = note.read_text(encoding="ascii").partition(" ")
        if of == state and len(known) == 2 * hashlib.sha256().digest_size:
            return bytes.fromhex(known)
    except (OSError, ValueError):
        pass  # not noted yet, or damaged: hashed anew
    with open(path, "rb") as stream:
        found = hashlib.file_digest(stream, "sha256").digest()
    _note(note, f"{found.hex()} {state}")
    return found


def _note(path: Path, text: str) -> None:
    """Write a small file whole; a cache folder that cannot be written to is told of when the lexicon is built."""
    scratch = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(text, encoding="ascii")
        os.replace(scratch, path)
    except OSError as error:
        log.debug("%s cannot be written: %s", path, error)
        with suppress(OSError):
            scratch.unlink(missing_ok=True)


def build(sources: Sources, folder: Path) -> None:
    """Write the cache folder: whole, or not at all."""
    started = time.monotonic()
    log.info("METEOR: building the lexicon cache in %s (once, about 15 s)", folder)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        _write(sources, scratch)
        if folder.exists():
            os.rename(folder, scratch / "replaced")
        try:
            os.rename(_shell(scratch), folder)
        except OSError:
            if not folder.exists():  # otherwise a process without locks was faster, with the same content
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    log.info("METEOR: lexicon cache ready after %.1f s", time.monotonic() - started)


def _shell(scratch: Path) -> Path:
    return scratch / "cache"


def _write(sources: Sources, scratch: Path) -> None:
    folder = _shell(scratch)
    folder.mkdir()
    jar = read_jar(sources.jar)
    table, words = read_paraphrases(sources.paraphrases)
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
    block = memoryview(bytearray(1 << 20))  # one buffer for all: fresh ones cost more than the sum
    with open(path, "rb", buffering=0) as stream:
        while count := stream.readinto(block):
            crc = zlib.crc32(block[:count], crc)
            size += count
    return [size, crc]


def _try_read(folder: Path) -> Lexicon | None:
    if not exists(folder):
        return None
    try:
        return read(folder)
    except DamagedCache as error:
        log.warning("METEOR: the lexicon cache %s is damaged (%s); building it anew", folder, error)
        return None


def read(folder: Path) -> Lexicon:
    """Map a cache folder; raises :class:`DamagedCache` when a file is missing, short or altered."""
    try:
        files = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["files"]
        with ThreadPoolExecutor(2) as pool:
            found = dict(zip(files, pool.map(_size_and_crc, [folder / name for name in files])))
        if changed := [name for name, expected in files.items() if found[name] != expected]:
            raise DamagedCache(f"{changed[0]} has changed")
        mapped = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in _ARRAYS}
        arrays = {
            name: array.view(np.ndarray) for name, array in mapped.items()
        }  # slices of a memmap cost ten times more
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
    """Hold an exclusive lock on ``path``; the operating system frees it when the process dies."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: the rename decides
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
