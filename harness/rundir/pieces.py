"""Pieces of a run: captions and statistics on disk, each named by a key of everything that it depends on.

A piece is written once, under a temporary name that is then renamed, and carries a checksum of its content. A piece that is
missing or damaged is computed again; a key never names two contents. The unit of work is (model, decoding, shard of examples).
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import re
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from harness.rundir.format import plain, write_atomically

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PieceKey:
    """Name of a piece: a readable label and a hash of all parts that the piece depends on."""

    label: str
    digest: str

    @classmethod
    def of(cls, label: str, *parts: object) -> PieceKey:
        """Return the key of a piece.

        Parameters
        ----------
        label : str
            Readable beginning of the file name; not part of the hash.
        parts : object
            JSON-compatible values: data content, model fingerprint, decoding, metric signature, code, version.
        """
        return cls(label, content_digest(parts))

    @property
    def stem(self) -> str:
        """File name without ending."""
        slug = re.sub(r"[^A-Za-z0-9]+", "-", self.label).strip("-").lower()[:40] or "piece"
        return f"{slug}-{self.digest[:16]}"


def content_digest(value: object) -> str:
    """Return the SHA-256 of a JSON-compatible value, 64 hex digits."""
    text = json.dumps(plain(value), sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


class PieceStore:
    """The pieces of one run directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    # ------------------------------------------------------------------ captions
    def read_rows(self, key: PieceKey) -> list[object] | None:
        """Return the rows of a captions piece, or None when it is missing or damaged."""
        file = self._captions_file(key)
        if not file.is_file():
            return None
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            rows = cast("list[object]", content["rows"])
            if content["sha256"] == content_digest(rows):
                return rows
        except (ValueError, KeyError, TypeError):
            pass
        return self._damaged(file)

    def write_rows(self, key: PieceKey, rows: Sequence[object]) -> None:
        """Write a captions piece: JSON-compatible rows, one per example of the shard."""
        content = {"sha256": content_digest(rows), "rows": plain(rows)}
        write_atomically(self._captions_file(key), json.dumps(content, ensure_ascii=True).encode())

    def drop_rows(self, keys: Sequence[PieceKey]) -> None:
        """Remove captions pieces, and their folder when it is empty."""
        for key in keys:
            self._captions_file(key).unlink(missing_ok=True)
        folder = self.folder / "candidates"
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()

    # ------------------------------------------------------------------ statistics
    def read_arrays(self, key: PieceKey) -> dict[str, np.ndarray] | None:
        """Return the arrays of a statistics piece (any shape, by name), or None when it is missing or damaged."""
        return self.read_named_arrays(key.stem)

    def read_named_arrays(self, stem: str) -> dict[str, np.ndarray] | None:
        """Return the arrays (any shape, by name) of the statistics piece called ``stem``, as a result record names it."""
        file = self.folder / "scores" / f"{Path(stem).name}.npz"
        if not file.is_file():
            return None
        try:
            with np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            checksum = str(arrays.pop("sha256"))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return self._damaged(file)
        return arrays if checksum == _checksum(arrays) else self._damaged(file)

    def write_arrays(self, key: PieceKey, arrays: Mapping[str, np.ndarray]) -> None:
        """Write a statistics piece: arrays of any shape, by name."""
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays, sha256=np.asarray(_checksum(arrays)))
        write_atomically(self._arrays_file(key), buffer.getvalue())

    # ------------------------------------------------------------------ files
    def is_empty(self) -> bool:
        """Return True when the run has no piece yet."""
        return not any((self.folder / name).exists() for name in ("candidates", "scores"))

    def clear(self) -> None:
        """Remove all pieces."""
        for name in ("candidates", "scores"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def _captions_file(self, key: PieceKey) -> Path:
        return self.folder / "candidates" / f"{key.stem}.json"

    def _arrays_file(self, key: PieceKey) -> Path:
        return self.folder / "scores" / f"{key.stem}.npz"

    def _damaged(self, file: Path) -> None:
        _log.warning("%s is damaged; it is computed again", file)


def _checksum(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
