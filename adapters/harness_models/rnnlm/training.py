"""Training of the recurrent language model.

The same recipe and lines give the same weights on the same machine.

The shared loop (:mod:`harness_models.shared.training.loop`) is not used: batches hold
sentences of similar length, in an order from one generator for all epochs, so the
trained weights would change.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.contracts.parameters import Count, Positive, ProperShare, check_fields
from harness.errors import HarnessError, InputError
from harness_models.rnnlm.model import FIRST_WORD, START, STOP, RnnLm
from harness_models.shared.training.caption_training import (
    IGNORED,
    pad_rows,
    token_loss,
)
from harness_models.shared.training.loop import Report, mean_perplexity, take_step
from harness_tasks.readers.lines import Lines, words_of

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
            take_step(
                optimizer,
                loss,
                5.0,
                f"rnnlm: the loss is %s in epoch {epoch}; lower the learning rate",
            )
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
            f"(min_count {recipe.min_count}, "
            f"max_words {recipe.max_words})"
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


# --------------------------------------------------------------------------- train cli
# Train a word-level recurrent language model on text files, one sentence a line.
#
# harness train rnnlm --corpus train.txt --output models/rnnlm --epochs 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``harness train rnnlm``: the corpus,
    and one option per setting of the recipe.
    """
    parser.add_argument(
        "--corpus",
        nargs="+",
        required=True,
        metavar="FILE",
        help="text files (.txt, .gz), one sentence a line",
    )
    parser.add_argument(
        "--output",
        required=True,
        metavar="DIR",
        help="folder for model.safetensors and config.json",
    )
    parser.add_argument(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="shuffle the lines before --offset and --limit apply",
    )
    parser.add_argument(
        "--offset", type=int, default=0, metavar="N", help="skip the first N lines"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="use at most N lines")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the model in the folder"
    )
    for field in fields(RnnLmRecipe):
        kind = float if isinstance(field.default, float) else int
        option = "--" + field.name.replace("_", "-")
        parser.add_argument(
            option, type=kind, default=field.default, help=f"default {field.default}"
        )


def run(args: argparse.Namespace) -> int:
    """Train, print a line per epoch and the path of the weights, and return 0.

    Raises :class:`HarnessError` if the folder holds a model and ``--overwrite`` is not
    set.
    """
    folder = Path(args.output)
    if not args.overwrite and any(
        (folder / name).exists() for name in ("model.safetensors", "config.json")
    ):
        raise HarnessError(
            f"{folder} holds a model already; choose another folder or say --overwrite"
        )
    recipe = RnnLmRecipe(
        **{field.name: getattr(args, field.name) for field in fields(RnnLmRecipe)}
    )
    lines = Lines(
        path=args.corpus, shuffle=args.shuffle, offset=args.offset, limit=args.limit
    ).lines()

    def report(row: dict[str, object]) -> None:
        print(
            f"epoch {row['epoch']:>3}   loss {row['loss']:.4f}   held-out perplexity "
            f"{row['perplexity']}",
            flush=True,
        )

    result = train(lines, recipe, report)
    path = result.model.save(folder, result.settings, force=args.overwrite)
    print(
        f"{path}: {result.settings['vocabulary']} words, "
        f"{result.settings['sentences']} sentences"
    )
    return 0
