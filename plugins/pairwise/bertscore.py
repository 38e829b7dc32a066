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

import numpy as np

from harness.contracts import Batch, MetricSpec
from harness.errors import HarnessError, InputError, require
from harness.features import Features
from harness.plugins.pairwise.best_match import BestMatchMetric

Tokens = tuple[np.ndarray, np.ndarray]
"""Unit vectors (L, d) float32 of all tokens and which of them count (L,) bool."""
KINDS = ("f1", "precision", "recall")


def score(candidate: Tokens, reference: Tokens) -> tuple[float, float, float]:
    """(precision, recall, F) of one pair; all 0 when a side has no counting token."""
    if not candidate[1].any() or not reference[1].any():
        return 0.0, 0.0, 0.0
    similarity = candidate[0] @ reference[0].T
    precision = float(similarity.max(axis=1)[candidate[1]].mean(dtype=np.float64))
    recall = float(similarity.max(axis=0)[reference[1]].mean(dtype=np.float64))
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


class TokenEncoder:
    """Contextual token vectors of a local transformers model."""

    def __init__(self, path: str | None, layer: int | None, batch_size: int, needed_by: str) -> None:
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
        from harness.adapters.torchvision_guard import guard_torchvision

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
        out: list[Tokens] = []
        for start in range(0, len(texts), self.batch_size):
            batch = tokenizer(
                list(texts[start : start + self.batch_size]), padding=True, truncation=True, return_tensors="pt",
                return_special_tokens_mask=True, max_length=min(tokenizer.model_max_length, _positions(model)),
            )  # fmt: skip
            special = batch.pop("special_tokens_mask").bool().numpy()
            with torch.inference_mode():
                hidden = model(**batch, output_hidden_states=True).hidden_states[
                    -1 if self.layer is None else self.layer
                ]
            hidden = torch.nn.functional.normalize(hidden.float(), dim=-1).numpy()
            for row, present in enumerate(batch["attention_mask"].bool().numpy()):
                out.append((hidden[row][present], ~special[row][present]))
        return out


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
        path: str | None = None,
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
        key = ("bertscore", self.encoder.fingerprint, self.encoder.layer)
        pairs: dict[tuple[int, int], tuple[float, float, float]] = features.memo((key, "pairs"), dict)
        size, which = batch.n + batch.m, (2, 0, 1)[KINDS.index(self.kind)]
        features.per_text(key, batch.text_ids.ravel(), self.encoder.encode)
        out = np.empty((len(batch), size, size))
        for b, ids in enumerate(batch.text_ids.tolist()):
            tokens = features.per_text(key, ids, self.encoder.encode)
            for i in range(size):
                for j in range(size):
                    pair = (ids[i], ids[j])
                    if pair not in pairs:
                        pairs[pair] = score(tokens[i], tokens[j])
                    out[b, i, j] = pairs[pair][which]
        return out
