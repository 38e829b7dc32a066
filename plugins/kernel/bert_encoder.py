"""A sentence encoder of the BERT family (MiniLM, MPNet-free BERT, ...) as one tight forward pass on the CPU.

Reads a sentence-transformers folder (config.json, tokenizer.json, model.safetensors, 1_Pooling) whose model is a BERT with mean
pooling. Texts of equal token count share a batch, so that there is neither padding nor a mask, and query, key and value are
one product: about half the time of the general library, which would also take seconds to import.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import InputError, require

TOKENS_PER_BATCH = 1024
"""Rows of the matrix products: enough for full speed, small enough for the second-level cache."""


def is_supported(folder: Path) -> bool:
    """Whether :class:`BertEncoder` can read this sentence-transformers folder."""
    needed = [folder / name for name in ("config.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json")]
    if not all(path.is_file() for path in needed):
        return False
    config, pooling = _json(needed[0]), _json(needed[3])
    plain = config.get("model_type") == "bert" and config.get("position_embedding_type", "absolute") == "absolute"
    modes = [key for key, on in pooling.items() if key.startswith("pooling_mode_") and on is True]
    return plain and config.get("hidden_act") == "gelu" and modes == ["pooling_mode_mean_tokens"]


def _json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"not JSON: {error}", where=str(path)) from error


class BertEncoder:
    """``encode(texts) -> (T, d) float32``; see the module's docstring. Torch is imported on construction."""

    def __init__(self, folder: Path) -> None:
        torch = require("torch", extra="embeddings", needed_by=f"the encoder {folder.name}")
        load = require("safetensors.torch", extra="embeddings", needed_by=f"the encoder {folder.name}").load_file
        tokenizers = require("tokenizers", extra="embeddings", needed_by=f"the encoder {folder.name}")
        self._torch = torch
        config = _json(folder / "config.json")
        self.heads, self.eps = int(config["num_attention_heads"]), float(config["layer_norm_eps"])
        limits = _json(folder / "sentence_bert_config.json") if (folder / "sentence_bert_config.json").is_file() else {}
        length = min(int(limits.get("max_seq_length") or 1 << 30), int(config["max_position_embeddings"]))
        self.normalize = any(module["type"].endswith("Normalize") for module in self._modules(folder))
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(length)
        raw = load(str(folder / "model.safetensors"))
        weights = {key.removeprefix("bert."): value.float() for key, value in raw.items() if value.is_floating_point()}
        try:
            self._take(weights, int(config["num_hidden_layers"]))
        except KeyError as error:
            raise InputError(f"no tensor {error} in the weights", where=str(folder / "model.safetensors")) from error

    @staticmethod
    def _modules(folder: Path) -> list[dict[str, Any]]:
        path = folder / "modules.json"
        return _json(path) if path.is_file() else []  # type: ignore[return-value]

    def _take(self, weights: dict[str, Any], layers: int) -> None:
        cat = self._torch.cat
        base = "embeddings."
        self.words = weights[base + "word_embeddings.weight"]
        positions, kinds = weights[base + "position_embeddings.weight"], weights[base + "token_type_embeddings.weight"]
        self.offsets = positions + kinds[0]
        self.norm = (weights[base + "LayerNorm.weight"], weights[base + "LayerNorm.bias"])
        self.layers = []
        for index in range(layers):
            at = f"encoder.layer.{index}."
            qkv = [f"{at}attention.self.{part}." for part in ("query", "key", "value")]

            def linear(name: str, at: str = at) -> tuple[Any, Any]:
                return weights[f"{at}{name}.weight"], weights[f"{at}{name}.bias"]

            self.layers.append(
                {
                    "qkv": tuple(cat([weights[name + end] for name in qkv]) for end in ("weight", "bias")),
                    "out": linear("attention.output.dense"),
                    "norm": linear("attention.output.LayerNorm"),
                    "up": linear("intermediate.dense"),
                    "down": linear("output.dense"),
                    "last": linear("output.LayerNorm"),
                }
            )

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """(T, d) float32 sentence vectors, of length 1 where the model says so."""
        torch = self._torch
        tokens = [item.ids for item in self.tokenizer.encode_batch_fast(list(texts))]
        out = np.empty((len(texts), self.words.shape[1]), dtype=np.float32)
        lengths = np.array([len(ids) for ids in tokens])
        order = np.argsort(lengths, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1) if len(texts) else []
        batches = [
            group[start : start + step]
            for group in groups
            for step in [max(1, TOKENS_PER_BATCH // max(1, int(lengths[group[0]])))]
            for start in range(0, len(group), step)
        ]

        def fill(rows: np.ndarray) -> None:
            out[rows] = self._forward(torch.tensor([tokens[i] for i in rows]))

        workers = min(torch.get_num_threads(), len(batches))
        if workers <= 1:
            for rows in batches:
                fill(rows)
            return out
        # Whole batches side by side, one thread each: threads that share every small product wait for each other, above
        # all on a busy machine. The setting holds in the pool's threads only.
        with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            list(pool.map(fill, batches))
        return out

    def _forward(self, ids: Any) -> np.ndarray:
        torch = self._torch
        with torch.inference_mode():
            return self._layers(ids).numpy()

    def _layers(self, ids: Any) -> Any:
        torch = self._torch
        linear, layer_norm = torch.nn.functional.linear, torch.nn.functional.layer_norm
        batch, length = ids.shape
        width = self.words.shape[1]
        hidden = self.words[ids] + self.offsets[:length]
        hidden = layer_norm(hidden, (width,), *self.norm, self.eps).reshape(batch * length, width)
        for layer in self.layers:
            qkv = linear(hidden, *layer["qkv"]).view(batch, length, 3, self.heads, width // self.heads)
            query, key, value = qkv.permute(2, 0, 3, 1, 4)
            attended = torch.nn.functional.scaled_dot_product_attention(query, key, value)
            attended = attended.transpose(1, 2).reshape(batch * length, width)
            hidden = layer_norm(hidden + linear(attended, *layer["out"]), (width,), *layer["norm"], self.eps)
            inner = torch.nn.functional.gelu(linear(hidden, *layer["up"]))
            hidden = layer_norm(hidden + linear(inner, *layer["down"]), (width,), *layer["last"], self.eps)
        vectors = hidden.view(batch, length, width).mean(dim=1)
        return torch.nn.functional.normalize(vectors, dim=1) if self.normalize else vectors
