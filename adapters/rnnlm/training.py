"""Training the recurrent language model; the same recipe on the same lines gives the same weights on the same machine."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from harness.adapters.rnnlm.model import FIRST_WORD, START, STOP, RnnLm
from harness.errors import HarnessError, InputError
from harness.tasks.readers.lines import words_of

IGNORED = -100
FORMAT_VERSION = 1
"""Raise it when the same recipe and corpus would give other weights."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train. The paper: size 128, Adam 0.001, 30 epochs of 200,000 sentences."""

    epochs: int = 6
    size: int = 128
    """Of the embedding and of the LSTM."""
    learning_rate: float = 1e-3
    batch_size: int = 32
    min_count: int = 1
    """Sentences that hold a word rarer than this are left out."""
    max_words: int = 32
    held_out: float = 0.02
    """Share of the sentences on which perplexity is measured, never trained on."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "size", "batch_size", "min_count", "max_words"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise HarnessError(f"rnnlm: {name} is {value!r}; expected a whole number of at least 1")
        if not self.learning_rate > 0 or not 0 <= self.held_out < 1:
            raise HarnessError(
                f"rnnlm: learning_rate {self.learning_rate!r} must be above 0 and held_out {self.held_out!r} a share below 1"
            )

    def key(self, corpus: str) -> str:
        """Names the trained model: recipe and fingerprint of the corpus."""
        text = json.dumps([FORMAT_VERSION, corpus, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Trained:
    """A model and what its training saw."""

    model: RnnLm
    settings: dict[str, Any]
    """Recipe, sentences, words, and per epoch the loss (nats a token) and held-out perplexity."""


def train(lines: Sequence[str], recipe: Recipe, report: Callable[[dict[str, Any]], None] = lambda row: None) -> Trained:
    """A model of the words of ``lines``; ``report`` gets a row after every epoch.

    Raises :class:`InputError` when no line is left after the filters, :class:`HarnessError` when the loss is not finite.
    """
    sentences, words = _encoded(lines, recipe)
    rng = np.random.default_rng([recipe.seed, 0])
    order = rng.permutation(len(sentences)).tolist()
    cut = min(len(order) - 1, round(recipe.held_out * len(order)))
    held, kept = [sentences[i] for i in order[:cut]], [sentences[i] for i in order[cut:]]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        model = RnnLm(words, recipe.size)
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe.learning_rate)
    curve = []
    for epoch in range(1, recipe.epochs + 1):
        model.train()
        total = tokens = 0.0
        for batch in _batches(kept, recipe.batch_size, rng):
            loss, count = _loss(model, batch)
            if not bool(torch.isfinite(loss)):
                raise HarnessError(f"rnnlm: the loss is {loss.item()} in epoch {epoch}; lower the learning rate")
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            total, tokens = total + loss.item() * count, tokens + count
        row = {"epoch": epoch, "loss": round(total / tokens, 5), "perplexity": perplexity(model, held)}
        curve.append(row)
        report(row)
    model.eval()
    settings = {**asdict(recipe), "sentences": len(kept), "vocabulary": len(words), "curve": curve}
    return Trained(model, settings)


def perplexity(model: RnnLm, sentences: Sequence[list[int]]) -> float | None:
    """exp of the mean negative log-probability of a token (the end counted); None without sentences."""
    if not sentences:
        return None
    model.eval()
    total = tokens = 0.0
    with torch.inference_mode():
        for start in range(0, len(sentences), 256):
            loss, count = _loss(model, sentences[start : start + 256])
            total, tokens = total + loss.item() * count, tokens + count
    return round(math.exp(total / tokens), 4)


def _encoded(lines: Sequence[str], recipe: Recipe) -> tuple[list[list[int]], list[str]]:
    every = [words for words in map(words_of, lines) if 0 < len(words) <= recipe.max_words]
    counts = Counter(word for words in every for word in words)
    kept = [words for words in every if all(counts[word] >= recipe.min_count for word in words)]
    if len(kept) < 2:
        raise InputError(
            f"rnnlm: {len(kept)} of {len(lines)} lines are left to train on (min_count {recipe.min_count}, "
            f"max_words {recipe.max_words})"
        )
    vocabulary = sorted({word for words in kept for word in words})
    index = {word: FIRST_WORD + i for i, word in enumerate(vocabulary)}
    return [[index[word] for word in words] for words in kept], vocabulary


def _batches(sentences: Sequence[list[int]], size: int, rng: np.random.Generator) -> Iterator[list[list[int]]]:
    """Every sentence once, in batches of like length, in a random order."""
    lengths = np.array([len(words) for words in sentences]) + rng.random(len(sentences))
    order = np.argsort(lengths, kind="stable").tolist()
    starts = np.arange(0, len(order), size)
    for start in rng.permutation(starts).tolist():
        yield [sentences[i] for i in order[start : start + size]]


def _loss(model: RnnLm, batch: Sequence[list[int]]) -> tuple[torch.Tensor, int]:
    """Mean negative log-probability of the tokens (the end counted), and their number."""
    width = max(map(len, batch)) + 1
    inputs = torch.full((len(batch), width), STOP)
    targets = torch.full((len(batch), width), IGNORED)
    for row, words in enumerate(batch):
        inputs[row, 0] = START
        inputs[row, 1 : len(words) + 1] = torch.tensor(words)
        targets[row, : len(words) + 1] = torch.tensor([*words, STOP])
    logits = model(inputs)
    loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
    return loss, sum(map(len, batch)) + len(batch)
