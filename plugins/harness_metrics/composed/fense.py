"""Metric ``fense``: similarity of sentence vectors with a penalty for captions that are
not fluent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from harness import registry
from harness.contracts import (
    Batch,
    Embedding,
    Features,
    MeanMetric,
    MetricSpec,
    PathParam,
    fitted_fields,
)
from harness.contracts.parameters import Share, check_arguments
from harness.errors import HarnessError, InputError
from harness.files.user_path import user_path
from harness_metrics.bases.metrics import EmbeddingSpec
from harness_metrics.embeddings.local_model import (
    LoadsModel,
    load_transformer,
    weights_fingerprint,
)
from harness_metrics.kernel.geometry import cosines
from harness_metrics.tokenisers.plain_words import plain_words

# --------------------------------------------------------------------------- errors of fluency
# Detectors of captions that are not fluent: rules, or a local classifier of
# transformers.


class Detector(Protocol):
    """Detector of errors of fluency."""

    def signature(self) -> str:
        """Return a text that changes whenever a probability may change."""
        ...

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Return the probability of an error in each text, shape (T,), in [0, 1]."""
        ...


_ENDINGS = """
a an the of in on at to for with and or but while as is are was were be by from into onto over under near his her its their
"""
_DANGLING = frozenset(_ENDINGS.split())
"""Words that end no complete English caption."""
_LONGEST = 4
"""Largest number of words of a repeated phrase."""


class Rules:
    """Rules for English captions: no word, a phrase said twice in a row,
    or an end in the middle of a phrase.

    They find the truncated and the repetitive captions, two of the five kinds of errors
    of the source; missing verbs and conjunctions need a classifier.
    """

    def signature(self) -> str:
        """Return ``rules``."""
        return "rules"

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Return 1 for a text with an error, else 0, shape (T,)."""
        return np.array([float(is_broken(text)) for text in texts])


def is_broken(text: str) -> bool:
    """Return True for a text without words, with a phrase of up to four words said
    twice in a row, or with a dangling last word.

    >>> [
    ...     is_broken(text)
    ...     for text in ("a dog runs", "a dog a dog runs", "a dog on the", "")
    ... ]
    [False, True, True, True]
    """
    words = plain_words(text, joiners="'’-")
    if not words or words[-1] in _DANGLING:
        return True
    return any(
        words[i : i + size] == words[i + size : i + 2 * size]
        for size in range(1, _LONGEST + 1)
        for i in range(len(words) - 2 * size + 1)
    )


class Classifier(LoadsModel):
    """A local text classifier of transformers.

    Parameters
    ----------
    path : str
        Folder with model and tokenizer.
    label : str
        Name of the class of errors in the configuration; a model with one output needs
        none of that name.
    batch_size : int
        Texts per forward pass.

    Raises
    ------
    InputError
        If the folder has no config.json; at first use, if the model has no such class.
    """

    def __init__(self, path: str, label: str = "error", batch_size: int = 64) -> None:
        self.path = user_path(path)
        self.label = label
        self.batch_size = batch_size
        if not (self.path / "config.json").is_file():
            raise InputError(
                "fense found no classifier: the folder has no config.json",
                where=str(self.path),
            )

    def signature(self) -> str:
        """Return the hash of the files of the model and the class."""
        return f"classifier:{weights_fingerprint(self.path)}:{self.label}"

    @cached_property
    def _loaded_model(self) -> tuple[Any, Any, int]:
        """Tokenizer, model and the index of the class."""
        kind = "AutoModelForSequenceClassification"
        needed_by = "the detector of 'fense'"
        tokenizer, model = load_transformer(self.path, kind, "detector", needed_by)
        names = {
            str(name).lower(): int(index)
            for name, index in model.config.label2id.items()
        }
        if len(names) > 1 and self.label.lower() not in names:
            raise InputError.of_name(
                "the classifier has no class",
                self.label,
                names,
                "classes are",
                str(self.path),
            )
        return tokenizer, model, names.get(self.label.lower(), 0)

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Return the probability of the class for each text, shape (T,): a sigmoid for
        several classes at once, else a softmax.
        """
        import torch

        tokenizer, model, index = self._loaded_model
        several = (
            model.config.problem_type == "multi_label_classification"
            or model.config.num_labels == 1
        )
        probabilities: list[np.ndarray] = []
        with torch.inference_mode():
            for start in range(0, len(texts), self.batch_size):
                batch = tokenizer(
                    list(texts[start : start + self.batch_size]),
                    padding=True,
                    truncation=True,
                    return_tensors="pt",
                )
                logits = model(**batch).logits.double()
                probabilities.append(
                    (logits.sigmoid() if several else logits.softmax(-1))[
                        :, index
                    ].numpy()
                )
        return np.concatenate(probabilities) if probabilities else np.empty(0)


def resolve_detector(value: str | Detector, label: str) -> Detector:
    """Return a detector: ``rules``, the folder of a classifier, or an instance.

    Raises :class:`HarnessError` for anything else.
    """
    if isinstance(value, str):
        return Rules() if value == "rules" else Classifier(value, label)
    if callable(getattr(value, "probabilities", None)) and callable(
        getattr(value, "signature", None)
    ):
        return value
    raise HarnessError(
        f"fense: detector is {value!r:.60}; expected 'rules', "
        "a folder with a text classifier, or an object with "
        "signature() and probabilities(texts)"
    )


# --------------------------------------------------------------------------- metrics


class Fense(MeanMetric):
    """Mean cosine with the references, times (1 - penalty) for a caption with an error
    of fluency, in [-1, 1]; higher is better.

    The score of an example is the mean over its candidates. ``details`` adds the mean
    similarity without penalty and the share of captions with an error.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    detector : str or Detector
        ``rules``, the folder of a local text classifier, or an object with
        ``signature()`` and ``probabilities(texts)``.
    label : str
        Class of errors of a classifier.
    threshold : float, default 0.9
        Probability above which a caption has an error.
    penalty : float, default 0.9
        Share of the similarity that an error costs.

    Raises
    ------
    HarnessError
        For a parameter out of range, or another kind of detector.

    References
    ----------
    Zhou et al. 2022, *Can Audio Captions Be Evaluated with Image Caption Metrics?*,
    section 3.
    """

    @check_arguments
    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        detector: PathParam | Detector = "rules",
        label: str = "error",
        threshold: Share = 0.9,
        penalty: Share = 0.9,
    ) -> None:
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        self.detector = resolve_detector(detector, label)
        self.threshold = float(threshold)
        self.penalty = float(penalty)
        needs = frozenset({"references", "embeddings"}) | frozenset(
            getattr(self.embedding, "needs", ())
        )
        name = (
            "fense"
            if self.embedding.name == "minilm"
            else f"fense({self.embedding.name})"
        )
        self.spec = MetricSpec(
            name, True, needs=needs, bounds=(-1.0, 1.0), **fitted_fields(self.embedding)
        )

    def signature(self) -> str:
        """Return a text such as ``fense|rules|threshold:0.9|penalty:0.9|minilm``."""
        settings = f"threshold:{self.threshold:g}|penalty:{self.penalty:g}"
        return (
            f"fense|{self.detector.signature()}|{settings}|{self.embedding.signature()}"
        )

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the score, the similarity and the share of captions with an error of
        each example, shape (B, 3).
        """
        similarity = cosines(features.set_vectors(self.embedding, batch.text_ids))[
            :, : batch.n, batch.n :
        ].mean(axis=2)
        key = ("fluency", self.detector.signature())
        ids = batch.candidate_ids.ravel()
        probability = features.per_text(
            key, ids, lambda texts: self.detector.probabilities(texts).tolist()
        )
        errors = (
            np.asarray(probability, dtype=np.float64).reshape(similarity.shape)
            > self.threshold
        )
        scores = (similarity * (1.0 - self.penalty * errors)).mean(axis=1)
        return np.stack([scores, similarity.mean(axis=1), errors.mean(axis=1)], axis=1)

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return the mean similarity without penalty and the share of captions with an
        error, from statistics (B, 3).
        """
        if not len(stats):
            return {}
        return dict(zip(("similarity", "errors"), stats[:, 1:].mean(axis=0).tolist()))
