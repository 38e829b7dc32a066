"""BERTScore (Zhang et al. 2020): greedy matching of contextual token embeddings, as the library bert-score computes it.

Precision is the mean over a candidate's tokens of the largest cosine with a token of the reference, recall the same the other way
round, F their harmonic mean (equations 1 to 3; no idf weights, no rescaling). As in the library the special tokens of the model can be
matched but are not counted. Weights come from a local folder: nothing is fetched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from harness.contracts import Batch, Features, MetricSpec, PathParam
from harness.errors import HarnessError, InputError, require
from harness.plugins.ngram.best_match import BestMatchMetric

Tokens = tuple[np.ndarray, np.ndarray]
"""Unit vectors (L, d) float32 of all tokens and which of them count (L,) bool."""
KINDS = ("f1", "precision", "recall")


def precisions(tokens: Sequence[Tokens]) -> np.ndarray:
    """(N, N) precision of each of N texts as candidate (rows) with each as reference; 0 where a side has no counting token.

    The recall of a pair is the precision of the pair the other way round. All tokens of the texts are compared in one product.
    """
    lengths = np.array([len(vectors) for vectors, _ in tokens])
    counting = np.array([counts.sum() for _, counts in tokens])
    out = np.zeros((len(tokens), len(tokens)))
    kept = np.flatnonzero(counting).tolist()
    if not kept:
        return out
    vectors = np.concatenate([tokens[i][0] for i in kept])
    counts = np.concatenate([tokens[i][1] for i in kept])
    starts = np.concatenate([[0], np.cumsum(lengths[kept])[:-1]])
    best = np.maximum.reduceat(vectors @ vectors.T, starts, axis=0)  # (texts, tokens): a text's best for each token
    best = np.where(counts, best, np.float32(0)).astype(np.float64)
    out[np.ix_(kept, kept)] = (np.add.reduceat(best, starts, axis=1) / counting[kept]).T
    return out


class TokenEncoder:
    """Contextual token vectors of a local transformers model."""

    def __init__(self, path: PathParam | None, layer: int | None, batch_size: int, needed_by: str) -> None:
        if path is None:
            raise HarnessError(
                f"{needed_by} needs path: a folder with a Hugging Face model (config, tokenizer, weights); save one where there is a "
                "network with AutoModel.from_pretrained('roberta-large').save_pretrained(DIR), and its tokenizer likewise"
            )
        self.path, self.layer, self.batch_size, self.needed_by = Path(path).expanduser(), layer, batch_size, needed_by
        if not (self.path / "config.json").is_file():
            raise InputError(f"no model of {needed_by} there: the folder has no config.json", str(self.path))

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for name in ("config.json", "model.safetensors", "pytorch_model.bin", "tokenizer.json", "vocab.txt"):
            file = self.path / name
            if file.is_file():
                with file.open("rb") as content:
                    digest.update(name.encode() + hashlib.file_digest(content, "sha256").digest())
        return digest.hexdigest()[:12]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        from harness.registry.torchvision_guard import guard_torchvision

        guard_torchvision()
        transformers = require("transformers", extra="models", needed_by=self.needed_by)
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(self.path), local_files_only=True)
        model = transformers.AutoModel.from_pretrained(str(self.path), local_files_only=True)
        layers = model.config.num_hidden_layers
        if self.layer is not None and not 0 <= self.layer <= layers:
            raise HarnessError(f"{self.needed_by}: layer is {self.layer}; the model has layers 0 to {layers}")
        return tokenizer, model.eval()

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """Token vectors of each text, at the chosen layer (None: the last)."""
        import torch

        tokenizer, model = self._loaded
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))  # texts of a length together: little padding
        out: dict[int, Tokens] = {}
        for start in range(0, len(texts), self.batch_size):
            places = order[start : start + self.batch_size]
            batch = tokenizer(
                [texts[i] for i in places], padding=True, truncation=True, return_tensors="pt",
                return_special_tokens_mask=True, max_length=min(tokenizer.model_max_length, _positions(model)),
            )  # fmt: skip
            special = batch.pop("special_tokens_mask").bool().numpy()
            with torch.inference_mode():
                hidden = model(**batch, output_hidden_states=True).hidden_states[
                    -1 if self.layer is None else self.layer
                ]
            hidden = torch.nn.functional.normalize(hidden.float(), dim=-1).numpy()
            for row, present in enumerate(batch["attention_mask"].bool().numpy()):
                out[places[row]] = (hidden[row][present], ~special[row][present])
        return [out[i] for i in range(len(texts))]


def _positions(model: Any) -> int:
    """How many tokens the model has positions for: RoBERTa and its kin lose those up to the padding's own."""
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    reserved = getattr(table, "padding_idx", None)
    return int(getattr(model.config, "max_position_embeddings", 512)) - (0 if reserved is None else reserved + 1)


class BertScore(BestMatchMetric):
    """BERTScore of each candidate with its best reference, mean over candidates; higher is better, 1 for equal texts.

    path: folder of a local Hugging Face model. layer: hidden layer (bert-score's choice for roberta-large is 17); None: the last.
    kind: ``f1``, ``precision`` or ``recall``.
    """

    def __init__(
        self,
        *,
        path: PathParam | None = None,
        layer: int | None = None,
        kind: Literal["f1", "precision", "recall"] = "f1",
        batch_size: int = 32,
    ) -> None:
        if kind not in KINDS:
            raise HarnessError(f"bertscore: kind is {kind!r}; expected {', '.join(KINDS)}")
        self.encoder = TokenEncoder(path, layer, batch_size, "metric 'bertscore'")
        self.kind = kind
        name = "bertscore" if kind == "f1" else f"bertscore-{kind}"
        self.spec = MetricSpec(
            name, higher_is_better=True, needs=frozenset({"references", "embeddings"}), bounds=(-1.0, 1.0)
        )

    def signature(self) -> str:
        layer = "last" if self.encoder.layer is None else self.encoder.layer
        return f"{self.spec.name}|{self.encoder.path.name}:{self.encoder.fingerprint}|layer:{layer}|no-idf"

    def pairwise(self, batch: Batch, features: Features) -> np.ndarray:
        precision = self._precisions(batch, features)
        recall = precision.transpose(0, 2, 1)
        if self.kind != "f1":
            return precision if self.kind == "precision" else recall
        total = precision + recall
        return 2 * precision * recall / np.where(total == 0, 1.0, total)

    def _precisions(self, batch: Batch, features: Features) -> np.ndarray:
        """(B, N, N), computed once per batch for the kinds, sizes and p-values of a run."""
        if batch.parent is not None and batch.columns is not None:
            return self._precisions(batch.parent, features)[:, batch.columns[:, None], batch.columns]
        key = ("bertscore", self.encoder.fingerprint, self.encoder.layer)
        known = features.memo((key, "precisions"), WeakKeyDictionary[Batch, np.ndarray])
        if batch not in known:
            tokens = features.per_text(key, batch.text_ids.ravel(), self.encoder.encode)
            size = batch.n + batch.m
            known[batch] = np.stack([precisions(tokens[i : i + size]) for i in range(0, len(tokens), size)])
        return known[batch]
