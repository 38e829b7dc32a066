"""Metric ``reverse-perplexity``: perplexity of the references under an n-gram model of
the candidates.
"""

from __future__ import annotations

import math

import numpy as np

from caption_kernels import exp, log
from harness.contracts import MetricSpec, Objects
from harness.contracts.parameters import Count, check_arguments
from harness_metrics.sets.grouped_jackknife import Jackknifed
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer, signed
from harness_metrics.words.captions import CaptionWords, sides_of
from harness_metrics.words.grams import Words, sentence_lengths
from harness_metrics.words.keys import gram_ids

DISCOUNT = 0.75
"""Number that is subtracted from each count above 0, as Church & Gale (1991) found
between two halves of a corpus.
"""


def history_columns(words: Words, n: int, end: int) -> list[np.ndarray]:
    """Return n arrays (T,): the n-1 words before each word of a corpus and before the
    end of each sentence, then the word itself.

    A sentence has n-1 symbols ``end + 1`` in front and the symbol ``end`` behind.
    """
    lengths = sentence_lengths(words)
    widths = lengths + n
    starts = np.cumsum(widths) - widths

    tokens = np.full(int(widths.sum()), end + 1)
    first_words = np.cumsum(lengths) - lengths
    position = np.arange(len(words.ids)) - first_words[words.sentence]
    tokens[starts[words.sentence] + n - 1 + position] = words.ids
    tokens[starts + widths - 1] = end

    in_sentence = np.arange(len(tokens)) - np.repeat(starts, widths)
    predicted = np.flatnonzero(in_sentence >= n - 1)
    return [tokens[predicted - back] for back in range(n - 1, -1, -1)]


def word_probabilities(candidates: Words, references: Words, n: int) -> np.ndarray:
    """Return the probability of each word of the references, and of the end of each,
    under a model of the candidates, shape (T,).

    The model is interpolated Kneser-Ney smoothing with one discount d: with the counts
    c of n-grams,

        p_n(w | h) = max(c(h w) - d, 0) / c(h) + d N(h) / c(h) p_{n-1}(w | h'),

    where N(h) is the number of distinct words after h, and h' is h without its first
    word; below order n the counts are those of the distinct words in front of an
    n-gram. A history without counts takes p_{n-1} alone. p_0 is uniform over the words
    of both corpora and the end.

    Parameters
    ----------
    candidates, references : Words
        Words of both sides, with common ids.
    n : int
        Order of the model.

    References
    ----------
    Chen & Goodman 1999, *An empirical study of smoothing techniques for language
    modeling* (Kneser-Ney smoothing, interpolated).
    """
    end = 1 + max(int(side.ids.max(initial=-1)) for side in (candidates, references))
    model = history_columns(candidates, n, end)
    text = history_columns(references, n, end)

    # Ids of n-grams and of their histories by order, for both sides together; the first
    # ``size`` are those of the candidates.
    columns = [np.concatenate(pair) for pair in zip(model, text)]
    size = len(model[0])
    gram = [gram_ids(columns[n - order :]) for order in range(1, n + 1)]
    history = [np.zeros_like(gram[0])]
    history += [gram_ids(columns[n - order : -1]) for order in range(2, n + 1)]

    vocabulary = len(np.unique(gram[0]))
    probabilities = np.full(len(text[0]), 1.0 / vocabulary)
    for order in range(n):
        # One row of the candidates for each count: each token at the highest order,
        # below it each distinct n-gram that is longer by one.
        rows = np.arange(size)
        if order < n - 1:
            rows = np.unique(gram[order + 1][:size], return_index=True)[1]
        distinct = np.unique(gram[order][:size], return_index=True)[1]

        width = len(gram[order])
        counts = np.bincount(gram[order][rows], minlength=width)
        all_types = np.bincount(history[order][distinct], minlength=width)
        all_totals = np.bincount(history[order][rows], minlength=width)

        types = all_types[history[order][size:]]
        total = all_totals[history[order][size:]]
        numerator = np.maximum(counts[gram[order][size:]] - DISCOUNT, 0.0)
        mixed = (numerator + DISCOUNT * types * probabilities) / np.maximum(total, 1)
        probabilities = np.where(total > 0, mixed, probabilities)
    return probabilities


class ReversePerplexity(Jackknifed, CaptionWords):
    """Perplexity of all references under an n-gram model of all candidates,
    at least 1; lower is better.

    Candidates that lack what people say have a high value, however good each is: it
    measures diversity together with quality. It falls with the number of candidates, so
    that corpora of one size are compared. A resample has no new n-grams: the interval
    is a jackknife over groups of examples.

    Parameters
    ----------
    n : int, default 3
        Order of the model.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    Raises
    ------
    HarnessError
        For an ``n`` that is not an integer of at least 1.

    References
    ----------
    Zhao et al. 2018, *Adversarially Regularized Autoencoders* (reverse perplexity,
    there with a recurrent model). Formula: :func:`word_probabilities`.
    """

    @check_arguments
    def __init__(self, *, n: Count = 3, tokenizer: TokenizerName = "ptb") -> None:
        self.n = n
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(
            f"reverse-perplexity{n}",
            False,
            "corpus",
            bounds=(1.0, math.inf),
            resampled=False,
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        estimate = f"n:{self.n}|kneser-ney:{DISCOUNT}"
        return f"reverse-perplexity|{estimate}|tok:{signed(self.tokenizer)}"

    def number(self, objects: Objects) -> float:
        """Return the perplexity of all references, words and ends of sentences."""
        candidates, references = sides_of(objects)
        return exp(-log(word_probabilities(candidates, references, self.n)).mean())
