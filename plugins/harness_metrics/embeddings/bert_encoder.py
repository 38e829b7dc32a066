"""Forward pass of BERT sentence encoders with mean pooling (MiniLM and similar).

Reads a sentence-transformers folder (config.json, tokenizer.json, model.safetensors,
1_Pooling). Texts with equal numbers of tokens share a batch, so that neither padding
nor a mask is needed, and query, key and value are one matrix product. This takes
about half the time of the library sentence-transformers and avoids its import of
several seconds on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness.encoders.long_texts import Long, divide, mean_of_windows
from harness.encoders.precision import Precision, computing, to_numpy, weight_dtype
from harness.encoders.token_batches import TokenBudget
from harness.encoders.towers import in_order
from harness.errors import InputError, require
from harness.files.json_text import parse_json

if TYPE_CHECKING:
    import torch


_FILES = (
    "config.json",
    "tokenizer.json",
    "model.safetensors",
    "1_Pooling/config.json",
)
"""Files of a folder that the encoder reads."""


def can_encode(folder: Path) -> bool:
    """Return True if the folder holds a BERT with absolute positions, exact GELU and
    mean pooling, in safetensors.

    Raises :class:`InputError` if a configuration file is not JSON.
    """
    if not all((folder / name).is_file() for name in _FILES):
        return False

    config = _json(folder / "config.json")
    pooling = _json(folder / "1_Pooling/config.json")
    plain = (
        config.get("model_type") == "bert"
        and config.get("position_embedding_type", "absolute") == "absolute"
    )
    modes = [
        key
        for key, on in pooling.items()
        if key.startswith("pooling_mode_") and on is True
    ]
    return (
        plain
        and config.get("hidden_act") == "gelu"
        and modes == ["pooling_mode_mean_tokens"]
    )


def _json(path: Path) -> Any:
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"not JSON: {error}", where=str(path)) from error


def _optional_json(path: Path, default: Any) -> Any:
    return _json(path) if path.is_file() else default


class _Affine(NamedTuple):
    """Parameters of a linear map or of a layer normalisation."""

    weight: torch.Tensor
    bias: torch.Tensor


class _Layer(NamedTuple):
    """Parameters of one transformer layer with hidden size d and inner size f."""

    qkv: _Affine
    """Query, key and value stacked: (3 d, d)."""
    out: _Affine
    out_norm: _Affine
    up: _Affine
    """(f, d)."""
    down: _Affine
    """(d, f)."""
    down_norm: _Affine


class BertEncoder:
    """Sentence encoder of a folder that :func:`can_encode` accepts.

    Torch is imported on construction.

    Parameters
    ----------
    folder : Path
        A sentence-transformers folder. Texts are read up to its ``max_seq_length``;
        vectors have unit length if its ``modules.json`` lists a Normalize module.
    device : str
        Name of a torch device.
    precision : str
        Number format of the forward pass.
    batch_size : int, optional
        Texts per forward pass; default: by a budget of tokens.
    long : {'cut', 'windows'}
        Reading of texts beyond the length of the model.

    Raises
    ------
    InputError
        If the weights lack a tensor or a file is not JSON.
    """

    def __init__(
        self,
        folder: Path,
        device: str = "cpu",
        precision: Precision = "float32",
        batch_size: int | None = None,
        long: Long = "cut",
    ) -> None:
        self.name = f"the encoder {folder.name}"
        self.device = device
        self.precision: Precision = precision
        self.long: Long = long
        self.budget = TokenBudget(device, batch_size, equal_lengths=True)
        needed_by = f"the encoder {folder.name}"
        extra = "embeddings"
        self._torch = require("torch", extra=extra, needed_by=needed_by)
        load = require("safetensors.torch", extra=extra, needed_by=needed_by).load_file
        tokenizers = require("tokenizers", extra=extra, needed_by=needed_by)

        config = _json(folder / "config.json")
        self.heads = int(config["num_attention_heads"])
        self.eps = float(config["layer_norm_eps"])
        limits = _optional_json(folder / "sentence_bert_config.json", {})
        self.context = min(
            int(limits.get("max_seq_length") or 1 << 30),
            int(config["max_position_embeddings"]),
        )
        modules = _optional_json(folder / "modules.json", [])
        self.normalize = any(module["type"].endswith("Normalize") for module in modules)
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

        # half precision, and weights of a BERT with another head
        raw = load(str(folder / "model.safetensors"))
        dtype = weight_dtype(precision)
        weights = {
            key.removeprefix("bert."): value.float().to(device, dtype)
            for key, value in raw.items()
            if value.is_floating_point()
        }
        try:
            self._read_weights(weights, int(config["num_hidden_layers"]))
        except KeyError as error:
            raise InputError(
                f"no tensor {error} in the weights",
                where=str(folder / "model.safetensors"),
            ) from error

    def _read_weights(self, weights: dict[str, torch.Tensor], layers: int) -> None:
        def affine(name: str) -> _Affine:
            return _Affine(weights[f"{name}.weight"], weights[f"{name}.bias"])

        def stack_affine(names: Sequence[str]) -> _Affine:
            cat = self._torch.cat
            return _Affine(
                cat([weights[f"{n}.weight"] for n in names]),
                cat([weights[f"{n}.bias"] for n in names]),
            )

        self.words = weights["embeddings.word_embeddings.weight"]
        kinds = weights["embeddings.token_type_embeddings.weight"]
        self.offsets = weights["embeddings.position_embeddings.weight"] + kinds[0]
        self.norm = affine("embeddings.LayerNorm")

        self.layers: list[_Layer] = []
        for index in range(layers):
            at = f"encoder.layer.{index}"
            attention = f"{at}.attention.self"
            layer = _Layer(
                qkv=stack_affine(
                    [f"{attention}.query", f"{attention}.key", f"{attention}.value"]
                ),
                out=affine(f"{at}.attention.output.dense"),
                out_norm=affine(f"{at}.attention.output.LayerNorm"),
                up=affine(f"{at}.intermediate.dense"),
                down=affine(f"{at}.output.dense"),
                down_norm=affine(f"{at}.output.LayerNorm"),
            )
            self.layers.append(layer)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts, whole, special ones included."""
        return [item.ids for item in self.tokenizer.encode_batch_fast(list(texts))]

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return sentence vectors, float32, shape (T, d).

        A vector does not depend on the other texts beyond 1e-6.
        """
        rows, owners = divide(self.token_ids(texts), self.context, self.long)
        lengths = np.array([len(ids) for ids in rows], dtype=np.int64)
        if self.device == "cpu":
            vectors = self._encode_on_cpu(rows, lengths)
        else:
            vectors = self._encode_on_accelerator(rows, lengths)
        return mean_of_windows(vectors, owners, len(texts), normalize=self.normalize)

    def _encode_on_cpu(
        self, rows: Sequence[Sequence[int]], lengths: np.ndarray
    ) -> np.ndarray:
        torch = self._torch
        vectors = np.empty((len(rows), self.words.shape[1]), dtype=np.float32)
        batches = self.budget.batches(lengths)

        def fill(batch: np.ndarray) -> None:
            ids = torch.tensor([rows[i] for i in batch])
            with torch.inference_mode():
                vectors[batch] = to_numpy(self._forward(ids))

        workers = min(torch.get_num_threads(), len(batches))
        if workers <= 1:
            for batch in batches:
                fill(batch)
            return vectors

        # Whole batches in parallel, one thread each: threads that share each small
        # product wait for each other, above all on a busy machine. The thread count is
        # set in the threads of the pool only.
        with ThreadPoolExecutor(
            workers, initializer=torch.set_num_threads, initargs=(1,)
        ) as pool:
            list(pool.map(fill, batches))
        return vectors

    def _encode_on_accelerator(
        self, rows: Sequence[Sequence[int]], lengths: np.ndarray
    ) -> np.ndarray:
        if not rows:
            return np.empty((0, self.words.shape[1]), dtype=np.float32)
        blocks: list[tuple[np.ndarray, Any]] = []

        def forward(batch: np.ndarray) -> None:
            ids = self._torch.tensor([rows[i] for i in batch]).to(self.device)
            blocks.append((batch, self._forward(ids)))

        with computing(self.precision):
            self.budget.run(lengths, forward, self.name)
        return in_order(blocks)

    def _forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return sentence vectors (B, d) of token ids (B, L)."""
        torch = self._torch
        linear = torch.nn.functional.linear
        layer_norm = torch.nn.functional.layer_norm
        batch, length = ids.shape
        width = self.words.shape[1]

        hidden = self.words[ids] + self.offsets[:length]
        hidden = layer_norm(hidden, (width,), *self.norm, self.eps)
        hidden = hidden.reshape(batch * length, width)

        per_head = (batch, length, 3, self.heads, width // self.heads)
        for layer in self.layers:
            # attention
            qkv = linear(hidden, *layer.qkv).view(*per_head)
            query, key, value = qkv.permute(2, 0, 3, 1, 4)
            attended = torch.nn.functional.scaled_dot_product_attention(
                query, key, value
            )
            attended = attended.transpose(1, 2).reshape(batch * length, width)
            hidden = hidden + linear(attended, *layer.out)
            hidden = layer_norm(hidden, (width,), *layer.out_norm, self.eps)

            # feed forward
            inner = torch.nn.functional.gelu(linear(hidden, *layer.up))
            hidden = hidden + linear(inner, *layer.down)
            hidden = layer_norm(hidden, (width,), *layer.down_norm, self.eps)

        # no padding: the mean over positions needs no mask
        vectors = hidden.view(batch, length, width).mean(dim=1)
        if self.normalize:
            return torch.nn.functional.normalize(vectors, dim=1)
        return vectors
