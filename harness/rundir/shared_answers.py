"""Answers of models that several runs share: a data base of rows by example for each model, decoding and seed.

Layout: ``FOLDER/ab/abcdef....sqlite``, one file per digest of everything but the example that an answer depends on. FOLDER is
``answers`` in the folder of caches (:func:`~harness.files.cache_folder.cache_folder`). SQLite locks the file, so that processes may
share it; each row has a checksum. A file that is damaged is replaced, and where the folder cannot be used runs go on without it.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from harness.errors import InputError
from harness.files.cache_folder import cache_folder
from harness.files.json_text import parse_json
from harness.rundir.answers import Row
from harness.rundir.format import plain

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


class SharedAnswers:
    """Rows of one model, decoding and seed by the key of the example.

    Parameters
    ----------
    digest : str
        Hash of everything but the example that an answer depends on.
    folder : Path, optional
        Folder of the files.
    """

    def __init__(self, digest: str, folder: Path | None = None) -> None:
        self.path = (folder or cache_folder("answers")) / digest[:2] / f"{digest}.sqlite"
        self._connection: sqlite3.Connection | None = None
        self._usable = True

    def read(self, keys: Sequence[str]) -> dict[str, Row]:
        """Return the rows of the keys that are present and undamaged."""
        if not self._usable or not self.path.is_file():
            return {}
        rows: dict[str, Row] = {}
        try:
            for start in range(0, len(keys), KEYS_PER_QUERY):
                part = keys[start : start + KEYS_PER_QUERY]
                query = f"SELECT key, checksum, row FROM answers WHERE key IN ({','.join('?' * len(part))})"
                for key, checksum, text in self._open().execute(query, part):
                    if zlib.crc32(text.encode()) == checksum:
                        rows[key] = cast(Row, parse_json(text))
        except (sqlite3.Error, OSError) as error:
            self._handle_failure(error)
        return rows

    def add(self, key: str, row: Row) -> None:
        """Add or replace a row; other processes see it when the call returns."""
        if not self._usable:
            return
        text = json.dumps(plain(row), ensure_ascii=True, separators=(",", ":"))
        try:
            with self._open() as connection:
                connection.execute(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, zlib.crc32(text.encode()), text)
                )
        except (sqlite3.Error, OSError) as error:
            self._handle_failure(error)

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
                connection.execute(
                    "PRAGMA synchronous = OFF"
                )  # a kill loses nothing; after a power cut the file may be replaced
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, checksum INTEGER, row TEXT) WITHOUT ROWID"
                )
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _handle_failure(self, error: Exception) -> None:
        """Remove a damaged file; leave a file alone that cannot be used."""
        self.close()
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
            _log.warning("note: %s is damaged; its answers are asked for again", self.path)
            return
        self._usable = False
        _log.warning("note: answers are not shared with other runs: %s (%s)", error, self.path)
