"""Store of vectors on disk: what a model has encoded once is read again by the next
metric and the next run.

It is in use where ``HARNESS_VECTORS`` names a folder. A vector is found by the hash of
everything that can change it: weights, settings, precision, kind of device and the
text or image. The store is one database of SQLite, which keeps it whole when a process
is killed and serves several processes at once.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from harness.encoders.devices import device_kind
from harness.errors import InputError

VARIABLE = "HARNESS_VECTORS"
LIMIT_VARIABLE = "HARNESS_VECTORS_LIMIT"
FILE = "vectors.sqlite"
VERSION = 1
"""Version of the tables; kept as ``user_version`` of the database."""
LIMIT = 20 << 30
"""Default of the largest size of all vectors together in bytes."""
KEPT_SHARE = 0.9
"""Share of the limit that is left after the oldest vectors went."""
_ROWS_PER_QUERY = 500
_WAIT = 60.0
"""Seconds to wait for another process that writes."""
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class VectorStore:
    """Encoded vectors of a folder, as bytes by their keys.

    Parameters
    ----------
    folder : Path
        Folder of the store; made if needed.
    limit : int
        Largest size of all vectors together in bytes; beyond it those that were read
        longest ago go.

    Raises
    ------
    InputError
        If the folder cannot be written, or holds a store of another version.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.folder = folder
        self.limit = limit
        self.path = folder / FILE
        with self._failing():
            folder.mkdir(parents=True, exist_ok=True)
            with closing(self._connect()) as database, database:
                self._create(database)

    def _create(self, database: sqlite3.Connection) -> None:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise InputError(
                f"a store of vectors of version {version}, and this is version "
                f"{VERSION}: name another folder in {VARIABLE}, or delete this one",
                str(self.folder),
            )
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(
            "CREATE TABLE IF NOT EXISTS vectors "
            "(key BLOB PRIMARY KEY, used REAL, size INTEGER, value BLOB) WITHOUT ROWID"
        )
        database.execute("CREATE INDEX IF NOT EXISTS by_age ON vectors (used, size)")
        database.execute(f"PRAGMA user_version = {VERSION}")

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=_WAIT)

    @contextmanager
    def _failing(self) -> Generator[None]:
        """Context that turns failures of the disk and the database into errors of
        input.
        """
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            reason = str(error) or type(error).__name__
            raise InputError(
                f"the store of vectors ({VARIABLE}) cannot be used: {reason}",
                str(self.folder),
            ) from error

    def read(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the stored bytes of each key, None where there are none; what is read
        counts as new.
        """
        found: dict[bytes, bytes] = {}
        with self._failing(), closing(self._connect()) as database:
            for part in _parts(keys):
                marks = ",".join("?" * len(part))
                found.update(
                    database.execute(
                        f"SELECT key, value FROM vectors WHERE key IN ({marks})", part
                    )
                )
            now = time.time()
            with database:
                database.executemany(
                    "UPDATE vectors SET used = ? WHERE key = ?",
                    [(now, key) for key in found],
                )
        return [found.get(key) for key in keys]

    def write(self, values: Iterable[tuple[bytes, bytes]]) -> None:
        """Store bytes by their keys in one transaction, and keep to the limit.

        Raises :class:`InputError` if the disk is full; nothing is half written.
        """
        now = time.time()
        rows = [(key, now, len(value), value) for key, value in values]
        with self._failing(), closing(self._connect()) as database, database:
            database.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows
            )
            self._make_room(database)

    def _make_room(self, database: sqlite3.Connection) -> None:
        (total,) = database.execute("SELECT TOTAL(size) FROM vectors").fetchone()
        if total <= self.limit:
            return

        excess = total - KEPT_SHARE * self.limit
        oldest: list[tuple[bytes]] = []
        for key, size in database.execute(
            "SELECT key, size FROM vectors ORDER BY used, key"
        ):
            if excess <= 0:
                break
            oldest.append((key,))
            excess -= size
        database.executemany("DELETE FROM vectors WHERE key = ?", oldest)


def _parts(keys: Sequence[bytes]) -> list[Sequence[bytes]]:
    distinct = list(dict.fromkeys(keys))
    return [
        distinct[start : start + _ROWS_PER_QUERY]
        for start in range(0, len(distinct), _ROWS_PER_QUERY)
    ]


def current_store() -> VectorStore | None:
    """Return the store that ``HARNESS_VECTORS`` names, with at most
    ``HARNESS_VECTORS_LIMIT`` bytes (``500M``, ``20G``); None without it.
    """
    folder = os.environ.get(VARIABLE, "").strip()
    if not folder:
        return None
    return _store_of(folder, os.environ.get(LIMIT_VARIABLE, "").strip())


@cache
def _store_of(folder: str, limit: str) -> VectorStore:
    return VectorStore(Path(folder).expanduser(), parse_size(limit))


def parse_size(text: str) -> int:
    """Return the number of bytes of a text such as ``20G``; the default of an empty
    one. Raises :class:`InputError` for anything else.

    >>> parse_size("500M"), parse_size("1000")
    (524288000, 1000)
    """
    if not text:
        return LIMIT
    unit = _UNITS.get(text[-1].lower())
    number = text[:-1] if unit else text
    if not number.isdecimal() or not int(number):
        raise InputError(
            f"{LIMIT_VARIABLE} is {text!r}; expected a number of bytes such as 20G"
        )
    return int(number) * (unit or 1)


def encode_with_store(
    model: str,
    device: str | Sequence[str],
    items: Sequence[str],
    encode: Callable[[list[str]], np.ndarray],
) -> np.ndarray:
    """Return the vector of each item, float32, shape (T, d), from the store where it is
    there; without a store all are encoded.

    Parameters
    ----------
    model : str
        Everything but item and device that can change a vector.
    device : str or sequence of str
        Devices of the encoder, as its parameter names them.
    items : sequence of str
        Texts, or names of the contents of images.
    encode : callable
        Function from items to their vectors (M, d); those are added to the store.
    """
    if current_store() is None:
        return encode(list(items))

    def compute(missing: list[str]) -> Iterator[bytes]:
        for vector in encode(missing):
            yield np.ascontiguousarray(vector, dtype="<f4").tobytes()

    encoded = read_or_encode(f"{model}\0{device_kind(device)}", items, compute)
    return np.stack([np.frombuffer(value, dtype="<f4") for value in encoded])


def read_or_encode(
    model: str,
    items: Sequence[str],
    encode: Callable[[list[str]], Iterable[bytes]],
) -> list[bytes]:
    """Return the encoded bytes of each item, from the store where they are there.

    Parameters
    ----------
    model : str
        Everything but the item that can change its bytes.
    items : sequence of str
        Texts, or hashes of images.
    encode : callable
        Function from items to the bytes of each, which are added to the store.
    """
    store = current_store()
    if store is None:
        return list(encode(list(items)))

    keys = [_key(model, item) for item in items]
    stored = store.read(keys)
    missing = {
        key: item for key, item, value in zip(keys, items, stored) if value is None
    }
    encoded = dict(zip(missing, encode(list(missing.values())))) if missing else {}
    if encoded:
        store.write(encoded.items())
    return [
        encoded[key] if value is None else value for key, value in zip(keys, stored)
    ]


def _key(model: str, item: str) -> bytes:
    digest = hashlib.sha256(f"{VERSION}\0{model}\0".encode())
    digest.update(item.encode("utf-8", "surrogatepass"))
    return digest.digest()
