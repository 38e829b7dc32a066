"""Base class and fingerprint of embeddings whose weights are local files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.errors import InputError


class LocalModelEmbedding:
    """Base of an embedding with fixed weights. A subclass keeps the loaded model in the attribute ``_loaded``."""

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Do nothing: the weights are fixed."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the loaded model; another process loads the model itself."""
        return {name: value for name, value in self.__dict__.items() if name != "_loaded"}


def weights_fingerprint(path: Path) -> str:
    """Return the first 12 hexadecimal digits of the SHA-256 of a model.

    Parameters
    ----------
    path : Path
        A weights file, or a sentence-transformers folder, of which configuration, tokenizer and weights are hashed.

    Raises
    ------
    InputError
        If the path is neither a file nor a folder with at least one of these files.
    """
    names = ("config.json", "tokenizer.json", "modules.json", "model.safetensors", "1_Pooling/config.json")
    files = [path] if path.is_file() else [path / name for name in names if (path / name).is_file()]
    if not files:
        raise InputError("no such model file", where=str(path))
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()[:12]
