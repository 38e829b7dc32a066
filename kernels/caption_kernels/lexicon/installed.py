"""METEOR's lexicon of the installed pycocoevalcap: built once on a machine,
mapped into memory afterwards.

Its data, which have their own licences, are no part of this package: word lists in the
jar of METEOR 1.5, and a table of paraphrases. The lexicon is one file,
``$HARNESS_CACHE`` (else ``$XDG_CACHE_HOME/harness``, else ``~/.cache/harness``)
``/meteor/VERSION-KEY.lexicon``, where KEY is a hash of the sources. It is written under
another name, read back and renamed, so it is complete or absent. Its header holds a
checksum of all other bytes, which every process compares before it maps the file: a
damaged file is built again. Processes that start at the same time wait for the lock of
the first; on a file system without locks each of them builds the file, and all have the
same content. Without a folder to write to, the lexicon is built in memory.
"""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import logging
import mmap
import os
import threading
import time
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import (
    AbstractContextManager,
    ExitStack,
    contextmanager,
    nullcontext,
    suppress,
)
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from caption_kernels import Lexicon, ParaphraseReader
from caption_kernels.lexicon.file_format import VERSION, finish_lexicon, verify
from caption_kernels.lexicon.word_lists import read_lists

if TYPE_CHECKING:
    from typing_extensions import Buffer

log = logging.getLogger(__name__)

_REINSTALL = "pip install --force-reinstall --no-deps pycocoevalcap"
_LISTS = (
    "function/english.words",
    "nonbreaking/english.prefixes",
    "synonym/english.exceptions",
    "synonym/english.synsets",
)
_BLOCK = 1 << 18
"""Bytes of the compressed table that are inflated at a time: the result, four times as
long, stays in the processor's cache.
"""
_BLOCKS_AHEAD = 8
"""Blocks that are inflated ahead of the one that is parsed."""
_writing = threading.Lock()
"""Held while a file is written: its threads have the name of their process in common.
"""
_NOT_STORED = (
    "METEOR: its lexicon is built anew in each process: %s; "
    "set HARNESS_CACHE to a folder with 100 MB free"
)


class MissingSources(ImportError):
    """pycocoevalcap is not installed, or lacks its METEOR files;
    the message is one line.
    """


class DamagedSources(ValueError):
    """A file of pycocoevalcap cannot be read, or not as METEOR's data;
    the message is one line.
    """


class Sources(NamedTuple):
    """Paths of the two files of pycocoevalcap that hold the data."""

    jar: Path
    paraphrases: Path


def find_sources() -> Sources:
    """Return the paths of the data; raise :class:`MissingSources` where pycocoevalcap
    is not installed or lacks one of them.
    """
    spec = importlib.util.find_spec("pycocoevalcap")  # without importing it
    if spec is None or not spec.submodule_search_locations:
        raise MissingSources(
            "METEOR needs the package 'pycocoevalcap', which is not installed: "
            "pip install 'caption-kernels[meteor]'"
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / "meteor"
    sources = Sources(folder / "meteor-1.5.jar", folder / "data" / "paraphrase-en.gz")
    for path in sources:
        if not path.is_file():
            raise MissingSources(
                f"METEOR needs {path}, which the installed pycocoevalcap lacks: "
                f"{_REINSTALL}"
            )
    return sources


@cache
def installed_lexicon() -> Lexicon:
    """Return the lexicon of the installed pycocoevalcap,
    loaded once per process (see :func:`load_lexicon`).
    """
    return load_lexicon(find_sources(), in_background=True)


def load_lexicon(
    sources: Sources,
    *,
    building: AbstractContextManager[object] | None = None,
    in_background: bool = False,
) -> Lexicon:
    """Return the lexicon of the source files, built if no file holds it.

    Parameters
    ----------
    sources : Sources
    building : context manager, optional
        Entered while the lexicon is built, for a line that says so.
    in_background : bool
        Return a lexicon that was built before its file is written; the process ends
        when it is.

    Raises
    ------
    DamagedSources
        If a source file is damaged or cannot be read.
    """
    key = content_key(sources)
    building = building or nullcontext()
    damage = ""
    try:
        path = _folder() / f"{VERSION}-{key}.lexicon"
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return _map_file(path)
        except FileNotFoundError:
            pass
        except ValueError:
            damage = f"{path} is damaged and cannot be replaced: "
        return _build_under_lock(sources, path, building, in_background)
    except (OSError, RuntimeError) as error:
        # no folder to write to; RuntimeError: no home folder
        with building:
            return _held_in_memory(build(sources), f"{damage}{error}")


def _build_under_lock(
    sources: Sources,
    path: Path,
    building: AbstractContextManager[object],
    in_background: bool,
) -> Lexicon:
    with ExitStack() as lock:
        lock.enter_context(_hold_lock(path.with_suffix(".lock")))
        try:
            return _map_file(path)  # another process may have built it meanwhile
        except FileNotFoundError:
            pass
        except ValueError:
            log.warning("METEOR: its lexicon %s is damaged; building it again", path)

        started = time.monotonic()
        with building:
            data = build(sources)
        log.info(
            "METEOR: built its lexicon %s in %.1f s", path, time.monotonic() - started
        )

        if in_background:
            # Flushing 100 MB to the disk takes a third of a second. Other processes
            # wait for the lock until it is done.
            lexicon = Lexicon(data)
            threading.Thread(
                target=_store_and_release,
                args=(data, path, lock.pop_all()),
                daemon=False,
            ).start()
            return lexicon

        try:
            return _store_file(data, path)
        except OSError as error:
            return _held_in_memory(data, str(error))


def _store_and_release(data: Buffer, path: Path, lock: ExitStack) -> None:
    with lock:
        try:
            _store_file(data, path)
        except OSError as error:
            log.warning(_NOT_STORED, error)


def _held_in_memory(data: Buffer, reason: str) -> Lexicon:
    log.warning(_NOT_STORED, reason)
    return Lexicon(data)


def _folder() -> Path:
    """Return the folder of the lexicon and of the hashes of its sources; raise
    RuntimeError if the user has no home folder.
    """
    if root := os.environ.get("HARNESS_CACHE"):
        with suppress(ValueError):  # a null byte
            root = os.path.expanduser(root)
        return Path(root) / "meteor"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "harness" / "meteor"


def _map_file(path: Path) -> Lexicon:
    """Return the lexicon of a file; raise ValueError if a byte of it is damaged."""
    with open(path, "rb") as stream:
        verify(stream)
        return Lexicon(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def _store_file(data: Buffer, path: Path) -> Lexicon:
    """Write a file atomically and return its lexicon, which has been read back."""
    with _scratch_of(path) as scratch:
        with open(scratch, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        try:
            lexicon = _map_file(scratch)
        except ValueError as error:
            raise OSError(f"{path} cannot be read back ({error})") from error
        os.replace(scratch, path)
    return lexicon


@contextmanager
def _scratch_of(path: Path) -> Iterator[Path]:
    """Yield the name under which this process writes a file before it renames it,
    ``.NAME.PROCESS.tmp``.

    What killed processes left under such names is removed before, and the name at the
    end where it is still there.
    """
    with _writing:
        for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
            if not _is_running(left.name.rpartition(".tmp")[0].rpartition(".")[2]):
                left.unlink(missing_ok=True)
        scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            yield scratch
        finally:
            with suppress(OSError):
                scratch.unlink(missing_ok=True)


def _is_running(process: str) -> bool:
    """Return True unless no process of this machine has the number."""
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except (ValueError, OSError):  # no number, or a process of another user
        return True
    return True


@contextmanager
def _hold_lock(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on ``path``; the operating system releases it when the
    process ends.
    """
    try:
        import fcntl
    except ImportError:  # a system without file locks relies on the atomic rename
        yield
        return
    with open(path, "w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("METEOR: another process is building its lexicon; waiting for it")
            fcntl.flock(stream, fcntl.LOCK_EX)
        except OSError:
            log.debug("no file locks under %s", path.parent)
        yield


def content_key(sources: Sources) -> str:
    """Return 20 hexadecimal digits of a hash of both files.

    The hash of each file is recorded beside the lexicon. A file with the recorded
    inode, size, modification time and change time is not read again; no program can set
    the change time back.
    """
    digest = hashlib.sha256()
    for path in sources:
        with _reading(path):
            status = path.stat()
            digest.update(
                _digest(
                    path,
                    (
                        status.st_ino,
                        status.st_size,
                        status.st_mtime_ns,
                        status.st_ctime_ns,
                    ),
                )
            )
    return digest.hexdigest()[:20]


@cache
def _digest(path: Path, status: tuple[int, ...]) -> bytes:
    """Return the SHA-256 of a file; ``status`` identifies its present content."""
    record = None
    state = " ".join(map(str, status))
    # no record or a damaged one: hash the file
    with suppress(OSError, ValueError, RuntimeError):
        record = (
            _folder()
            / f"{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:20]}.sha256"
        )
        text, _, checksum = record.read_text(encoding="ascii").rpartition(" ")
        hexadecimal, _, recorded_state = text.partition(" ")
        if recorded_state == state and checksum == _checksum(text):
            return bytes.fromhex(hexadecimal)
    with open(path, "rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").digest()
    if record is not None:
        text = f"{digest.hex()} {state}"
        _write_record(record, f"{text} {_checksum(text)}")
    return digest


def _checksum(text: str) -> str:
    """Return the CRC-32 of a record as eight hexadecimal digits."""
    return f"{zlib.crc32(text.encode()):08x}"


def _write_record(path: Path, text: str) -> None:
    """Write a small file atomically; a folder that is not writable is reported when the
    lexicon is built.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _scratch_of(path) as scratch:
            scratch.write_text(text, encoding="ascii")
            os.replace(scratch, path)
    except OSError as error:
        log.debug("%s cannot be written: %s", path, error)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Context that turns what a damaged source file raises into
    :class:`DamagedSources`.
    """
    try:
        yield
    except (
        OSError,
        EOFError,
        ValueError,
        KeyError,
        zlib.error,
        zipfile.BadZipFile,
    ) as error:
        raise DamagedSources(
            f"{path} cannot be read as METEOR's data ({error}): {_REINSTALL}"
        ) from error


def build(sources: Sources) -> Buffer:
    """Return the lexicon of the source files;
    raise :class:`DamagedSources` if one is damaged.
    """
    with _reading(sources.jar), zipfile.ZipFile(sources.jar) as jar:
        texts = [jar.read(name) for name in _LISTS]
    table = ParaphraseReader()
    blocks = _inflate_blocks(sources.paraphrases)
    with ThreadPoolExecutor(1) as inflater, ThreadPoolExecutor(1) as list_reader:
        # Inflating and the table's reader release the interpreter lock: the lists are
        # read beside them.
        lists = list_reader.submit(read_lists, *texts)
        with _reading(sources.paraphrases):
            ahead = deque(
                inflater.submit(next, blocks, None) for _ in range(_BLOCKS_AHEAD)
            )
            while (block := ahead.popleft().result()) is not None:
                ahead.append(inflater.submit(next, blocks, None))
                table.feed(block)
        with _reading(sources.jar):
            word_lists = lists.result()
        with _reading(sources.paraphrases):
            return finish_lexicon(table, word_lists)


def _inflate_blocks(path: Path) -> Iterator[bytes]:
    """Yield the contents of a gzip file; raise EOFError if it is cut."""
    member = zlib.decompressobj(wbits=31)
    with open(path, "rb") as stream:
        while data := stream.read(_BLOCK):
            while data:
                if member.eof:
                    data = data.lstrip(b"\0")  # padding behind a member
                    if not data:
                        break
                    member = zlib.decompressobj(wbits=31)
                yield member.decompress(data)
                data = member.unused_data
    if not member.eof:
        raise EOFError("it ends inside the compressed data")
