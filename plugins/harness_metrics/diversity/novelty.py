"""Metric ``novelty``: candidates that do not occur in the texts that they may be copied
from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec, PathParam
from harness.files.streams import lines_of
from harness.files.user_files import existing, open_binary
from harness_metrics.tokenisers.tokens import (
    TokenizerName,
    check_tokenizer,
    signed,
    tokenize,
    tokens_of,
)


class Novelty(MeanMetric):
    """Share of candidates that differ from all texts of a corpus, in [0, 1].

    Higher is more novel.

    Texts are equal when their tokens are.

    Parameters
    ----------
    corpus : path, optional
        File of training captions, one per line (plain or .gz); by default the
        references of the whole task.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    Raises
    ------
    InputError
        When there is no such file.
    """

    expected_check_failures: ClassVar[dict[str, str]] = {
        "direction": "copies of the references are not novel"
    }

    def __init__(
        self, *, corpus: PathParam | None = None, tokenizer: TokenizerName = "ptb"
    ) -> None:
        self.corpus = None
        if corpus is not None:
            self.corpus = existing(corpus, "file of texts", parameter="corpus")
        self.tokenizer = check_tokenizer(tokenizer)

        fixed = (
            "compares the candidates with a fixed corpus, "
            "not with the references of their example"
        )
        held_fixed = "" if self.corpus else "texts of the references held fixed"
        self.spec = MetricSpec(
            "novelty", True, bounds=(0.0, 1.0), untestable=fixed, held_fixed=held_fixed
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        if self.corpus is None:
            return f"novelty|corpus:references|tok:{signed(self.tokenizer)}"
        digest = hashlib.sha256(self.corpus.read_bytes()).hexdigest()[:12]
        return f"novelty|corpus:{digest}|tok:{signed(self.tokenizer)}"

    def fit(
        self, references: Sequence[Sequence[str]], features: Features
    ) -> frozenset[str]:
        """Return the set of tokenised texts of the corpus."""
        if self.corpus is None:
            texts = dict.fromkeys(text for group in references for text in group)
            ids = features.intern(texts)
            return frozenset(tokens_of(features, ids, self.tokenizer))
        return self._file_texts

    def merge(self, first: frozenset[str], second: frozenset[str]) -> frozenset[str]:
        """Return the tokenised texts of two shards together."""
        return first if first is second else first | second

    @cached_property
    def _file_texts(self) -> frozenset[str]:
        if self.corpus is None:
            return frozenset()
        return frozenset(tokenize(_lines(self.corpus), self.tokenizer))

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the share of novel candidates of each example, ``(B,)``;
        ``state`` is the set of :meth:`fit`.
        """
        tokens = tokens_of(features, batch.candidate_ids.ravel(), self.tokenizer)
        new = np.array([text not in state for text in tokens], dtype=np.float64)
        return new.reshape(len(batch), batch.n).mean(axis=1)


def _lines(path: Path) -> list[str]:
    """Return the lines of a file that are not blank, stripped."""
    with open_binary(path) as file:
        texts = (line.decode() for _, line in lines_of(file, str(path)))
        return [text.strip() for text in texts if text.strip()]
