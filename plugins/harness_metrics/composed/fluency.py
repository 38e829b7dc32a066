"""Detectors of captions that are not fluent: rules, or a local classifier."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from harness.encoders.devices import first_device
from harness.encoders.fingerprints import weights_fingerprint
from harness.encoders.model_folders import check_config
from harness.encoders.precision import computing
from harness.encoders.token_batches import TokenBudget
from harness.errors import HarnessError, InputError
from harness.files.user_path import user_path
from harness_metrics.embeddings.local_model import (
    LoadsModel,
    load_transformer,
)
from harness_metrics.tokenisers.plain_words import plain_words

_ENDINGS = """
a an the of in on at to for with and or but while as is are was were be by from into
onto over under near his her its their
"""
_DANGLING = frozenset(_ENDINGS.split())
"""Words that end no complete English caption."""
_LONGEST = 4
"""Largest number of words of a repeated phrase."""


class Detector(Protocol):
    """Detector of errors of fluency."""

    def signature(self) -> str:
        """Return a text that changes whenever a probability may change."""
        ...

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Return the probability of an error in each text, shape (T,), in [0, 1]."""
        ...


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

    >>> is_broken("a dog runs"), is_broken("a dog a dog runs")
    (False, True)
    >>> is_broken("a dog on the"), is_broken("")
    (True, True)
    """
    words = plain_words(text, joiners="'’-")
    if not words or words[-1] in _DANGLING:
        return True

    for size in range(1, _LONGEST + 1):
        for i in range(len(words) - 2 * size + 1):
            if words[i : i + size] == words[i + size : i + 2 * size]:
                return True
    return False


class Classifier(LoadsModel):
    """A local text classifier of transformers.

    Parameters
    ----------
    path : str
        Folder with model and tokenizer.
    label : str
        Name of the class of errors in the configuration; a model with one output needs
        none of that name.
    batch_size : int, optional
        Texts per forward pass; default: by a budget of tokens.
    device : str, default "auto"
        Device of the model; ``auto`` is the first accelerator, else the CPU.
    metric : str
        Name of the metric, for messages.

    Raises
    ------
    InputError
        If the folder has no config.json; at first use, if the model has no such class.
    """

    def __init__(
        self,
        path: str,
        label: str = "error",
        batch_size: int | None = None,
        device: str = "auto",
        metric: str = "fense",
    ) -> None:
        self.path = user_path(path)
        self.label = label
        self.batch_size = batch_size
        self.device = device
        self.metric = metric
        check_config(self.path, f"the detector of '{metric}'")

    def signature(self) -> str:
        """Return the hash of the files of the model and the class."""
        return f"classifier:{weights_fingerprint(self.path)}:{self.label}"

    @cached_property
    def _loaded_model(self) -> tuple[Any, Any, int, str]:
        """Tokenizer, model, the index of the class, and the device."""
        kind = "AutoModelForSequenceClassification"
        needed_by = f"the detector of '{self.metric}'"
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
        device = first_device(self.device, needed_by)
        index = names.get(self.label.lower(), 0)
        # the weights of a file in half precision too compute in float32
        return tokenizer, model.float().to(device), index, device

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Return the probability of the class for each text, shape (T,): a sigmoid for
        several classes at once, else a softmax.
        """
        tokenizer, model, index, device = self._loaded_model
        several = (
            model.config.problem_type == "multi_label_classification"
            or model.config.num_labels == 1
        )
        probabilities = np.empty(len(texts))
        if not texts:
            return probabilities
        rows = tokenizer(list(texts), truncation=True)["input_ids"]

        def forward(batch: np.ndarray) -> None:
            inputs = tokenizer.pad(
                {"input_ids": [rows[k] for k in batch]}, return_tensors="pt"
            ).to(device)
            logits = model(**inputs).logits.float().cpu().double()
            of_classes = logits.sigmoid() if several else logits.softmax(-1)
            probabilities[batch] = of_classes[:, index].numpy()

        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        budget = TokenBudget(device, self.batch_size)
        with computing("float32"):
            budget.run(lengths, forward, f"the detector of '{self.metric}'")
        return probabilities


def resolve_detector(
    value: str | Detector, label: str, device: str = "auto", metric: str = "fense"
) -> Detector:
    """Return a detector: ``rules``, the folder of a classifier, or an instance; a
    classifier runs on ``device``.

    Raises :class:`HarnessError`, which names the metric, for anything else.
    """
    if isinstance(value, str):
        if value == "rules":
            return Rules()
        return Classifier(value, label, device=device, metric=metric)

    methods = [getattr(value, name, None) for name in ("probabilities", "signature")]
    if all(callable(method) for method in methods):
        return value
    raise HarnessError(
        f"{metric}: detector is {value!r:.60}; expected 'rules', "
        "a folder with a text classifier, or an object with "
        "signature() and probabilities(texts)"
    )
