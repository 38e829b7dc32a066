"""Replies of models that several runs share: one SQLite data base of rows by key for each model and its settings.

Layout: ``FOLDER/ab/abcdef....sqlite``, one file per digest of everything that all its rows depend on. FOLDER is one of the folders of
caches (:func:`~harness.files.user_path.cache_folder`): ``answers`` for candidates of models, ``judges`` for replies of judges.
SQLite locks the file, so that processes may share it, and after a kill all rows that were added are there; each row has a checksum.
A file that is damaged is replaced.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, InputError
from harness.files.json_text import parse_json
from harness.files.user_path import cache_folder

_log = logging.getLogger(__name__)

SETTING = "HARNESS_ANSWERS"
"""Environment variable: ``servers`` (default), ``all`` or ``none``."""
CHOICES = ("servers", "all", "none")
LOCK_SECONDS = 60.0
"""Time to wait for another process."""
KEYS_PER_QUERY = 500


def is_shared(counts_usage: bool) -> bool:
    """Return True where answers of a model are shared between runs, by :data:`SETTING`.

    Parameters
    ----------
    counts_usage : bool
        True for a model whose requests are counted, that of a server for example.
    """
    choice = os.environ.get(SETTING, "").strip().lower() or "servers"
    if choice not in CHOICES:
        raise InputError(f"{SETTING} is '{choice}'; expected {', '.join(CHOICES)}", value=choice)
    return choice == "all" or (choice == "servers" and counts_usage)


class ReplyStore:
    """Rows of one model by key.

    Parameters
    ----------
    kind : str
        Folder of caches.
    digest : str
        Hash of everything that all rows depend on.
    folder : Path, optional
        Folder in place of that of the kind.
    required : bool, default False
        If true, a folder that cannot be used is an error. By default the run goes on, and its replies are not kept.
    """

    def __init__(self, kind: str, digest: str, folder: Path | None = None, *, required: bool = False) -> None:
        self.kind, self.required = kind, required
        self.path = (folder or cache_folder(kind)) / digest[:2] / f"{digest}.sqlite"
        self._connection: sqlite3.Connection | None = None
        self._usable = True

    def read(self, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return the rows of the keys that are present and undamaged."""
        if not self._usable or not self.path.is_file():
            return {}
        rows: dict[str, Mapping[str, Any]] = {}
        try:
            for start in range(0, len(keys), KEYS_PER_QUERY):
                queried = keys[start : start + KEYS_PER_QUERY]
                query = f"SELECT key, checksum, row FROM answers WHERE key IN ({','.join('?' * len(queried))})"
                for key, checksum, text in self._open().execute(query, queried):
                    if zlib.crc32(text.encode()) == checksum:
                        rows[key] = parse_json(text)
        except (sqlite3.Error, OSError) as error:
            self._handle(error)
        return rows

    def add(self, key: str, row: object) -> None:
        """Add or replace a row of JSON values; other processes see it when the call returns."""
        if not self._usable:
            return
        text = json.dumps(row, ensure_ascii=True, separators=(",", ":"))
        try:
            with self._open() as connection:
                connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, zlib.crc32(text.encode()), text))
        except (sqlite3.Error, OSError) as error:
            self._handle(error)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=LOCK_SECONDS, check_same_thread=False)
            try:
                # A kill loses nothing without waits for the disk; after a power cut the file may be damaged, and is then replaced.
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, checksum INTEGER, row TEXT) WITHOUT ROWID")
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _handle(self, error: Exception) -> None:
        """Remove a damaged file; leave a file alone that cannot be used, and raise :class:`HarnessError` if it is required."""
        self.close()
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
            _log.warning("note: %s is damaged; its answers are asked for again", self.path)
            return
        if self.required:
            text = f"the cache of {self.kind} cannot be used ({error}): set HARNESS_CACHE to a folder that can be written"
            raise HarnessError(text, str(self.path)) from error
        self._usable = False
        _log.warning("note: answers are not shared with other runs: %s (%s)", error, self.path)
