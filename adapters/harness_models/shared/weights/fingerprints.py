"""Fingerprints of files of weights."""

from __future__ import annotations

import hashlib
from pathlib import Path


def file_fingerprint(*paths: str | Path) -> str:
    """Return a SHA-256 over the contents of files and of all files in folders, 16
    hexadecimal digits; paths do not matter.
    """
    digest = hashlib.sha256()
    for path in paths:
        path = Path(path)
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file())
        for file in files:
            with file.open("rb") as handle:
                digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()[:16]
