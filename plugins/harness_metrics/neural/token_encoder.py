"""Contextual token vectors of a model of transformers, as BERTScore takes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.encoders.devices import Devices, device_kind, encoder_devices
from harness.encoders.fingerprints import weights_fingerprint
from harness.encoders.long_texts import count_cut_tokens
from harness.encoders.memory import has_room
from harness.encoders.model_folders import check_config, check_tokenizer
from harness.encoders.precision import (
    Precision,
    computing,
    signature_suffix,
    weight_dtype,
)
from harness.encoders.replicas import spread
from harness.encoders.token_batches import TokenBudget
from harness.encoders.vector_store import current_store, read_or_encode
from harness.errors import HarnessError
from harness_metrics.embeddings.local_model import LoadsModel, load_transformer
from harness_metrics.neural.token_matching import Tokens, vectors_on

PLAIN_ENCODERS = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra"})
"""Kinds of models whose layers read the states of the one before alone."""
KEPT_TOGETHER = 64
"""Stored texts between two looks at the memory of an accelerator, each of which takes
longer than to copy the vectors of a text.
"""


class _Rows(NamedTuple):
    """Tokens of texts, special ones included."""

    ids: list[np.ndarray]
    """Numbers of the tokens of each text, int64, shape (L,)."""
    special: list[np.ndarray]
    """True for the special tokens of each text, bool, shape (L,)."""


class TokenEncoder(LoadsModel):
    """Token vectors of a model at a layer.

    Parameters
    ----------
    find_folder : callable
        Function that returns the folder of a Hugging Face model with its tokenizer;
        called at first use.
    layer : int or None
        Hidden layer, 0 for the input embeddings; None for the last.
    needed_by : str
        Subject of error messages.
    batch_size : int, optional
        Texts per forward pass; default: by a budget of tokens.
    device : str or list of str
        Device of the model, or several that share the texts, as
        :func:`~harness.encoders.devices.encoder_devices` reads them.
    dtype : str
        Precision of the forward pass.
    """

    def __init__(
        self,
        find_folder: Callable[[], Path],
        layer: int | None,
        needed_by: str,
        *,
        batch_size: int | None = None,
        device: Devices = "auto",
        dtype: Precision = "float32",
    ) -> None:
        self.find_folder = find_folder
        self.layer = layer
        self.needed_by = needed_by
        self.batch_size = batch_size
        self.device = device
        self.dtype: Precision = dtype

    @cached_property
    def path(self) -> Path:
        """Folder of the model.

        Raises :class:`InputError` if the folder has no config.json.
        """
        folder = self.find_folder()
        check_config(folder, self.needed_by)
        check_tokenizer(folder)
        return folder

    @cached_property
    def fingerprint(self) -> str:
        """First 12 hexadecimal digits of a SHA-256 over configuration, tokenizer and
        weights, and the precision where it is not float32.
        """
        return f"{weights_fingerprint(self.path)}{signature_suffix(self.dtype)}"

    @cached_property
    def last_layer(self) -> int | None:
        """Number of layers by the configuration of the model."""
        config = json.loads((self.path / "config.json").read_text(encoding="utf-8"))
        return config.get("num_hidden_layers")

    @cached_property
    def _loaded_model(self) -> tuple[Any, dict[str, Any]]:
        """Tokenizer, and the copy of the model of each device."""
        devices = encoder_devices(self.device, self.needed_by)
        loaded = {device: self._load(device) for device in devices}
        tokenizer, _ = loaded[devices[0]]
        return tokenizer, {device: model for device, (_, model) in loaded.items()}

    def _load(self, device: str) -> tuple[Any, Any]:
        """Return the tokenizer and the model on a device."""
        tokenizer, model = load_transformer(
            self.path, "AutoModel", "model", self.needed_by
        )
        layers = model.config.num_hidden_layers
        if self.layer is not None and not 0 <= self.layer <= layers:
            raise HarnessError(
                f"{self.needed_by}: layer is {self.layer}; "
                f"the model has layers 0 to {layers}"
            )
        if self.layer is not None:
            _leave_out_later_layers(model, self.layer)
        return tokenizer, model.to(device=device, dtype=weight_dtype(self.dtype))

    @property
    def home(self) -> str:
        """First device of the encoder, where its token vectors are compared."""
        return encoder_devices(self.device, self.needed_by)[0]

    @property
    def context(self) -> int:
        """Largest number of tokens of a text, special ones included."""
        tokenizer, models = self._loaded_model
        model = next(iter(models.values()))
        return min(tokenizer.model_max_length, _positions(model))

    def reads(self) -> str:
        """Return model and length of the texts that it reads."""
        return f"{self.path.name} reads {self.context} tokens of a text"

    def signature(self) -> str:
        """Return the hash of the model."""
        return self.fingerprint

    def cut_tokens(self, texts: Sequence[str]) -> np.ndarray:
        """Return the number of tokens of each text that are not read, shape (T,)."""

        def whole_ids(long_texts: list[str]) -> list[list[int]]:
            return self._tokenise(long_texts, truncation=False)["input_ids"]

        return count_cut_tokens(texts, self.context, whole_ids)

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the token vectors of each text at the layer, one :class:`Tokens` per
        text: arrays on the CPU, tensors on an accelerator as long as it has room for
        them.

        Texts beyond the positions of the model are cut. Raises :class:`HarnessError`
        for a layer that the model lacks.
        """
        if current_store() is None:
            return self._compute(texts)

        def compute(missing: list[str]) -> Iterator[bytes]:
            for tokens in self._compute(missing):
                yield _to_bytes(tokens)

        layer = "last" if self.layer is None else self.layer
        model = f"tokens|{self.fingerprint}|layer:{layer}|{device_kind(self.device)}"
        encoded = read_or_encode(model, texts, compute)
        tokens: list[Tokens] = []
        for start in range(0, len(encoded), KEPT_TOGETHER):
            place = _place(self.home)
            for value in encoded[start : start + KEPT_TOGETHER]:
                own = _from_bytes(value)
                tokens.append(own._replace(vectors=vectors_on(place, own.vectors)))
        return tokens

    def _compute(self, texts: Sequence[str]) -> list[Tokens]:
        _, models = self._loaded_model
        if not texts:
            return []
        encoded = self._tokenise(texts)
        rows = _Rows(
            [np.array(row, dtype=np.int64) for row in encoded["input_ids"]],
            [np.array(row, dtype=bool) for row in encoded["special_tokens_mask"]],
        )
        copies = [partial(self._encode_rows, rows, device) for device in models]
        sizes = [len(ids) for ids in rows.ids]
        return spread(range(len(texts)), sizes, copies, self.dtype)

    def _encode_rows(self, rows: _Rows, device: str, texts: list[int]) -> list[Tokens]:
        """Return the tokens of some of the texts by the copy on a device."""
        torch: Any = import_module("torch")
        home = self.home
        ids = [rows.ids[text] for text in texts]
        special = [rows.special[text] for text in texts]
        out: dict[int, Tokens] = {}

        def forward(batch: np.ndarray) -> None:
            numbers: list[int] = batch.tolist()
            hidden = self._hidden_states([ids[k] for k in numbers], device)
            hidden = torch.nn.functional.normalize(hidden.float(), dim=-1)
            states = vectors_on(_place(home), hidden)
            for text, vectors in zip(numbers, states):
                present = vectors[: len(ids[text])]
                out[text] = Tokens(present, ~special[text], ids[text])

        lengths = np.array([len(row) for row in ids], dtype=np.int64)
        budget = TokenBudget(device, self.batch_size)
        with computing(self.dtype):
            budget.run(lengths, forward, self.needed_by)
        return [out[k] for k in range(len(texts))]

    def _hidden_states(self, rows: Sequence[np.ndarray], device: str) -> Any:
        """Return the states (B, L, d) of token rows at the layer, padded behind."""
        tokenizer, models = self._loaded_model
        batch = tokenizer.pad(
            {"input_ids": [row.tolist() for row in rows]},
            padding_side="right",
            return_tensors="pt",
        )
        model = models[device]
        states = model(**batch.to(device), output_hidden_states=True).hidden_states
        return states[-1 if self.layer is None else self.layer]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the numbers of the tokens of each text, special ones included."""
        return self._tokenise(texts)["input_ids"] if texts else []

    def _tokenise(self, texts: Sequence[str], *, truncation: bool = True) -> Any:
        """Return the tokens of texts.

        As in bert-score, the first word has a blank before it where a tokeniser
        distinguishes that.
        """
        tokenizer, _ = self._loaded_model
        if type(tokenizer).__name__.startswith(("Roberta", "GPT2")):
            texts = [f" {text.strip()}" if text.strip() else "" for text in texts]
        options = {"max_length": self.context} if truncation else {}
        return tokenizer(
            list(texts),
            truncation=truncation,
            return_special_tokens_mask=True,
            # whole texts are counted here, and need no warning that they are long
            verbose=truncation,
            **options,
        )


def _leave_out_later_layers(model: Any, layer: int) -> None:
    """Remove the layers behind one whose states are read; those of other kinds of
    models, which may normalise the states of their last layer, stay.
    """
    if model.config.model_type in PLAIN_ENCODERS:
        model.encoder.layer = model.encoder.layer[:layer]
        model.config.num_hidden_layers = layer


def _positions(model: Any) -> int:
    """Return the maximum number of tokens of a text.

    RoBERTa reserves the positions up to its padding index.
    """
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    reserved = getattr(table, "padding_idx", None)
    positions = int(getattr(model.config, "max_position_embeddings", 512))
    return positions if reserved is None else positions - (reserved + 1)


def _to_bytes(tokens: Tokens) -> bytes:
    """Return the bytes of the tokens of a text: their number, ids, weights, vectors."""
    vectors = vectors_on("cpu", tokens.vectors)
    return b"".join(
        (
            np.array([len(vectors)], dtype="<i8").tobytes(),
            tokens.ids.astype("<i8").tobytes(),
            tokens.counted.astype(bool).tobytes(),
            np.ascontiguousarray(vectors, dtype="<f4").tobytes(),
        )
    )


def _place(home: str) -> str:
    """Return the device that keeps vectors: ``home`` as long as it has room, then the
    CPU.
    """
    return home if has_room(home) else "cpu"


def _from_bytes(content: bytes) -> Tokens:
    count = int(np.frombuffer(content, dtype="<i8", count=1)[0])
    ids = np.frombuffer(content, dtype="<i8", count=count, offset=8)
    flags_at = 8 * (count + 1)
    counted = np.frombuffer(content, dtype=bool, count=count, offset=flags_at)
    vectors = np.frombuffer(content, dtype="<f4", offset=flags_at + count)
    return Tokens(vectors.reshape(count, -1).copy(), counted, ids)
