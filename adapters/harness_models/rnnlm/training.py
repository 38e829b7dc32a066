"""Training of the recurrent language model.

The same recipe and lines give the same weights on the same machine.

The shared loop (:mod:`harness_models.shared.training.loop`) is not used: batches hold
sentences of similar length, in an order from one generator for all epochs, so the
trained weights would change.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from harness.contracts.parameters import Count, Positive, ProperShare, check_fields
from harness.errors import InputError
from harness_models.rnnlm.model import FIRST_WORD, START, STOP, RnnLm
from harness_models.shared.training.caption_tokens import IGNORED, pad_rows, token_loss
from harness_models.shared.training.loop import Report, mean_perplexity, take_step
from harness_tasks.readers.lines import words_of

FORMAT_VERSION = 1
"""Version of the training. Raise it when the same recipe and corpus would give other
weights.
"""


@dataclass(frozen=True, kw_only=True)
class RnnLmRecipe:
    """Sizes and optimisation of a training.

    Li et al. (2020): size 128, Adam 0.001, 30 epochs of 200,000 sentences.

    Raises :class:`HarnessError` for values out of range.
    """

    epochs: Count = 6
    size: Count = 128
    """Width of the embedding and of the LSTM."""
    learning_rate: Positive = 1e-3
    batch_size: Count = 32
    """Number of sentences per batch."""
    min_count: Count = 1
    """Sentences that contain a word with fewer occurrences are left out."""
    max_words: Count = 32
    """Sentences with more words are left out."""
    held_out: ProperShare = 0.02
    """Share of the sentences that are not used in training;
    perplexity is measured on them.
    """
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields("rnnlm", self)

    def key(self, corpus: str) -> str:
        """Return the cache key of the trained model, from the recipe and the
        fingerprint of the corpus.
        """
        text = json.dumps([FORMAT_VERSION, corpus, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class TrainedLanguageModel:
    """A trained model and the record of its training."""

    model: RnnLm
    """Network in evaluation mode."""
    settings: dict[str, Any]
    """Recipe, number of sentences and words, and per epoch the loss (nats per token)
    and the held-out perplexity.
    """


def train(
    lines: Sequence[str], recipe: RnnLmRecipe, report: Report = lambda row: None
) -> TrainedLanguageModel:
    """Train a language model.

    Parameters
    ----------
    lines
        Sentences.
    recipe
        Sizes and optimisation.
    report
        Function that gets a mapping with ``epoch``, ``loss`` and ``perplexity`` after
        every epoch.

    Raises
    ------
    InputError
        If fewer than two lines are left after the filters.
    HarnessError
        If the loss is not finite.
    """
    sentences, words = _encode_lines(lines, recipe)

    rng = np.random.default_rng([recipe.seed, 0])
    order = rng.permutation(len(sentences)).tolist()
    cut = min(len(order) - 1, round(recipe.held_out * len(order)))
    held_out = [sentences[i] for i in order[:cut]]
    training = [sentences[i] for i in order[cut:]]

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        model = RnnLm(words, recipe.size)
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe.learning_rate)

    curve = []
    for epoch in range(1, recipe.epochs + 1):
        model.train()
        total = tokens = 0.0
        for batch in _batches(training, recipe.batch_size, rng):
            loss, count = _loss(model, batch)
            message = f"rnnlm: the loss is %s in epoch {epoch}; lower the learning rate"
            take_step(optimizer, loss, 5.0, message)
            total = total + loss.item() * count
            tokens = tokens + count

        row = {
            "epoch": epoch,
            "loss": round(total / tokens, 5),
            "perplexity": perplexity(model, held_out),
        }
        curve.append(row)
        report(row)

    model.eval()
    settings = {
        **asdict(recipe),
        "sentences": len(training),
        "vocabulary": len(words),
        "curve": curve,
    }
    return TrainedLanguageModel(model, settings)


def perplexity(model: RnnLm, sentences: Sequence[list[int]]) -> float | None:
    """Return exp of the mean negative log-probability of a token, the end counted;
    None without sentences.

    ``sentences`` are lists of word ids without START and STOP.
    """
    model.eval()
    value = mean_perplexity(lambda batch: _loss(model, batch), sentences)
    return None if value is None else round(value, 4)


def _encode_lines(
    lines: Sequence[str], recipe: RnnLmRecipe
) -> tuple[list[list[int]], list[str]]:
    """Return the word ids of the lines that pass the filters,
    and the vocabulary in alphabetical order.
    """

    # Frequencies are counted in the lines that can be used, so that a long line adds no
    # words.
    usable = [
        words for words in map(words_of, lines) if 0 < len(words) <= recipe.max_words
    ]
    counts = Counter(word for words in usable for word in words)
    sentences = [
        words
        for words in usable
        if all(counts[word] >= recipe.min_count for word in words)
    ]

    if len(sentences) < 2:
        raise InputError(
            f"rnnlm: {len(sentences)} of {len(lines)} lines are left to train on "
            f"(min_count {recipe.min_count}, max_words {recipe.max_words})"
        )

    vocabulary = sorted({word for words in sentences for word in words})
    index = {word: FIRST_WORD + i for i, word in enumerate(vocabulary)}
    return [[index[word] for word in words] for words in sentences], vocabulary


def _batches(
    sentences: Sequence[list[int]], size: int, rng: np.random.Generator
) -> Iterator[list[list[int]]]:
    """Yield all sentences in batches of similar length, in a random order."""
    lengths = np.array([len(words) for words in sentences]) + rng.random(len(sentences))
    order = np.argsort(lengths, kind="stable").tolist()
    starts = np.arange(0, len(order), size)
    for start in rng.permutation(starts).tolist():
        yield [sentences[i] for i in order[start : start + size]]


def _loss(model: RnnLm, batch: Sequence[list[int]]) -> tuple[torch.Tensor, int]:
    """Return the mean negative log-probability of the tokens of sentences, the end
    counted, and their number.
    """
    inputs = pad_rows([[START, *words] for words in batch], STOP)
    return token_loss(
        model(inputs), pad_rows([[*words, STOP] for words in batch], IGNORED)
    )
