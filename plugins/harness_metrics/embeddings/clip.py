"""Embedding ``clip``: the text tower of a CLIP model,
through open_clip or transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from harness.contracts import PathParam
from harness.contracts.parameters import Count
from harness.encoders.clip_weights import ClipWeights, find_clip_weights
from harness.encoders.devices import Devices, encoder_devices
from harness.encoders.fingerprints import weights_fingerprint
from harness.encoders.long_texts import Long, count_cut_tokens
from harness.encoders.precision import (
    Precision,
    check_precision,
    signature_suffix,
)
from harness.encoders.replicas import spread_vectors
from harness.encoders.towers import TwoTowers, encode_texts
from harness.encoders.vector_store import encode_with_store
from harness_metrics.embeddings.local_model import LocalModelEmbedding

DEFAULT_WEIGHTS = "openai/clip-vit-base-patch32"
"""The model of the published CLIPScore: ViT-B/32 of OpenAI, by its name on the hub."""


class Clip(LocalModelEmbedding):
    """Text vectors of a CLIP model, unit length.

    Parameters
    ----------
    weights : str
        Weights of the model: a file of open_clip (safetensors, or a state dictionary of
        tensors alone), an archive of OpenAI such as ``ViT-B-32.pt``, a folder of
        open_clip, transformers or sentence-transformers, the name of a model on the
        hub, which is taken from its cache or fetched, or with ``model`` a published tag
        of open_clip such as ``laion2b_s34b_b79k``. The default is OpenAI's ViT-B/32.
    model : str, optional
        Name of the architecture in open_clip, which only plain weights and tags need.
    batch_size : int, optional
        Texts per forward pass. The default is a budget of tokens.
    device : str or list of str, default "auto"
        Device of the model: ``auto`` is the first accelerator, else the CPU. ``all``
        accelerators, or a list of devices, share the texts.
    dtype : {'float32', 'tf32', 'bfloat16', 'float16'}
        Precision of the forward pass.
    long : {'cut', 'windows'}
        Reading of texts beyond the context of the model (77 tokens, special ones
        included): their beginning, or the mean over windows.

    References
    ----------
    Radford et al. 2021, *Learning Transferable Visual Models From Natural Language
    Supervision*.
    """

    name = "clip"
    needed_by = "embedding 'clip'"
    """Subject of messages."""

    def __init__(
        self,
        *,
        weights: PathParam = DEFAULT_WEIGHTS,
        model: str | None = None,
        batch_size: Count | None = None,
        device: Devices = "auto",
        dtype: Precision = "float32",
        long: Long = "cut",
    ) -> None:
        self.weights = weights
        self.model = model
        self.batch_size = batch_size
        self.device = device
        self.dtype: Precision = check_precision(dtype, self.needed_by)
        self.long: Long = long

    @cached_property
    def found(self) -> ClipWeights:
        """Weights that are there, and their architecture.

        Raises :class:`InputError` where they are not.
        """
        return find_clip_weights(str(self.weights), self.model, subject=self.needed_by)

    def signature(self) -> str:
        """Return ``clip|MODEL|HASH`` with the hash of the weights, and the precision
        and the reading of long texts where they are not the default.

        Raises :class:`InputError` without the weights.
        """
        windows = "|windows" if self.long == "windows" else ""
        return (
            f"clip|{self.found.model}|{weights_fingerprint(self.found.path)}"
            f"{signature_suffix(self.dtype)}{windows}"
        )

    def load_towers(self, device: str) -> TwoTowers:
        """Return the model on a device."""
        return self.found.load(device, self.dtype)

    @cached_property
    def _loaded_model(self) -> Sequence[TwoTowers]:
        devices = encoder_devices(self.device, self.needed_by)
        return [self.load_towers(device) for device in devices]

    @property
    def copies(self) -> Sequence[TwoTowers]:
        """The model on each device; loaded at first use."""
        return self._loaded_model

    @property
    def towers(self) -> TwoTowers:
        """The model on its first device."""
        return self.copies[0]

    def reads(self) -> str:
        """Return model and length of the texts that it reads."""
        return f"CLIP {self.found.model} reads {self.towers.context} tokens of a text"

    def cut_tokens(self, texts: Sequence[str]) -> np.ndarray:
        """Return the number of tokens of each text that are not read, shape (T,)."""
        if self.long == "windows":
            return np.zeros(len(texts), dtype=np.int64)
        return count_cut_tokens(texts, self.towers.context, self.towers.token_ids)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return text vectors, float32, shape (T, d)."""

        def compute(missing: list[str]) -> np.ndarray:
            encode = partial(encode_texts, batch_size=self.batch_size, long=self.long)
            copies = [partial(encode, towers) for towers in self.copies]
            sizes = [len(text) for text in missing]
            return spread_vectors(missing, sizes, copies, self.dtype)

        return encode_with_store(self.signature(), self.device, texts, compute)
