"""Replies of models that several runs share: one SQLite data base of rows by key for
each model and its settings.

Layout: ``FOLDER/ab/abcdef....sqlite``, one file per digest of everything that all its
rows depend on. FOLDER is one of the folders of caches
(:func:`~harness.files.user_path.cache_folder`): ``answers`` for candidates of models,
``judges`` for replies of judges. SQLite locks the file, so that processes may share it,
and after a kill all rows that were added are there; each row has a checksum, so that a
damaged row costs that row. A file whose pages are damaged is replaced by a copy of the
rows that can be read.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, InputError
from harness.files.json_text import encode_row, parse_row
from harness.files.user_path import cache_folder

_log = logging.getLogger(__name__)

SETTING = "HARNESS_ANSWERS"
"""Environment variable: ``servers`` (default), ``all`` or ``none``."""
CHOICES = ("servers", "all", "none")
LOCK_SECONDS = 60.0
"""Time to wait for another process."""


def is_shared(counts_usage: bool) -> bool:
    """Return True where answers of a model are shared between runs, by :data:`SETTING`.

    Parameters
    ----------
    counts_usage : bool
        True for a model whose requests are counted, that of a server for example.
    """
    choice = os.environ.get(SETTING, "").strip().lower() or "servers"
    if choice not in CHOICES:
        raise InputError(
            f"{SETTING} is '{choice}'; expected {', '.join(CHOICES)}", value=choice
        )
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
        If true, a folder that cannot be used is an error. By default the run goes on,
        and its replies are not kept.
    """

    def __init__(
        self,
        kind: str,
        digest: str,
        folder: Path | None = None,
        *,
        required: bool = False,
    ) -> None:
        self.kind = kind
        self.required = required
        self.path = (folder or cache_folder(kind)) / digest[:2] / f"{digest}.sqlite"
        self._connection: sqlite3.Connection | None = None
        self._usable = True

    def read(self, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return the rows of the keys that are present and undamaged."""
        rows: dict[str, Mapping[str, Any]] = {}
        for key in keys if self.path.is_file() else ():
            for stored_key, checksum, text in self._execute(
                "SELECT key, checksum, row FROM answers WHERE key = ?", (key,)
            ):
                row = parse_row(text, checksum)
                # SQLite may find another row next to a damaged key
                if row is not None and stored_key == key.encode():
                    rows[key] = row
        return rows

    def add(self, key: str, row: object) -> None:
        """Add or replace a row of JSON values;
        other processes see it when the call returns.
        """
        text = encode_row(row)
        self._execute(
            "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)",
            (key, zlib.crc32(text.encode()), text),
        )

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _execute(self, statement: str, values: Sequence[object]) -> list[Any]:
        """Return the rows of a statement; it is repeated where the file was damaged and
        has been replaced.
        """
        for _ in range(2):
            if not self._usable:
                break
            try:
                with self._open() as connection:
                    return connection.execute(statement, values).fetchall()
            except (sqlite3.Error, OSError) as error:
                self._handle(error)
        return []

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path, timeout=LOCK_SECONDS, check_same_thread=False
            )
            self._connection.text_factory = bytes  # a damaged text need not be UTF-8

            # A kill loses nothing without waits for the disk; after a power cut the
            # file may be damaged, and is then replaced.
            self._connection.execute("PRAGMA synchronous = OFF")
            columns = "key TEXT PRIMARY KEY, checksum INTEGER, row TEXT"
            self._connection.execute(
                f"CREATE TABLE IF NOT EXISTS answers ({columns}) WITHOUT ROWID"
            )
        return self._connection

    def _handle(self, error: Exception) -> None:
        """Replace a damaged file; leave a file alone that cannot be used, and raise
        :class:`HarnessError` if it is required.
        """
        self.close()
        # an OperationalError is one of the disk, of a lock or of permissions
        is_damaged = isinstance(error, sqlite3.DatabaseError)
        if is_damaged and not isinstance(error, sqlite3.OperationalError):
            _log.warning(
                "note: %s is damaged; its answers that cannot be read are asked for "
                "again",
                self.path,
            )
            try:
                with closing(self):
                    return self._replace()
            except (sqlite3.Error, OSError) as failure:
                error = failure

        if self.required:
            raise HarnessError(
                f"the cache of {self.kind} cannot be used ({error}): "
                "set HARNESS_CACHE to a folder that can be written",
                str(self.path),
            ) from error
        self._usable = False
        _log.warning(
            "note: answers are not shared with other runs: %s (%s)", error, self.path
        )

    def _replace(self) -> None:
        """Keep the file under another name and copy its rows into a new one, by the
        first two digits of their keys.
        """
        damaged = self.path.with_suffix(".damaged")
        self.path.replace(damaged)
        connection = self._open()
        with suppress(sqlite3.Error):  # no data base at all
            connection.execute("ATTACH ? AS damaged", (str(damaged),))

        copy = (
            "INSERT OR IGNORE INTO answers SELECT * FROM damaged.answers "
            "WHERE key >= ? AND key < ?"
        )
        for digits in range(256):
            # a damaged page costs the keys that begin as its own
            with suppress(sqlite3.Error), connection:
                connection.execute(copy, (f"{digits:02x}", f"{digits:02x}g"))
