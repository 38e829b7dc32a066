"""Hashes of models: everything in a file or folder that can change its vectors."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from harness.errors import InputError

_PATTERNS = ("*.json", "*.safetensors", "*.bin", "*.txt", "*.model", "*.jinja", "*.pt")


def weights_fingerprint(path: Path) -> str:
    """Return the first 12 hexadecimal digits of the SHA-256 of a model.

    Parameters
    ----------
    path : Path
        A weights file, or a folder, of which configurations, tokenizer and weights are
        hashed by their names and contents.

    Raises
    ------
    InputError
        If the path is neither a file nor a folder with at least one of these files.
    """
    if path.is_file():
        return _file_digest(path).hex()[:12]

    files = sorted(
        {file for pattern in _PATTERNS for file in path.rglob(pattern)},
        key=lambda file: file.relative_to(path).as_posix(),
    )
    if not files:
        raise InputError("no such model file", where=str(path))
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(path).as_posix().encode() + b"\0")
        digest.update(_file_digest(file))
    return digest.hexdigest()[:12]


def _file_digest(file: Path) -> bytes:
    status = file.stat()
    return _digest_of(str(file), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1024)
def _digest_of(file: str, changed: int, size: int) -> bytes:
    """Return the hash of a file; a model of several metrics is read once."""
    with open(file, "rb") as content:
        return hashlib.file_digest(content, "sha256").digest()
