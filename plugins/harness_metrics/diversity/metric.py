"""Diversity metrics: Self-BLEU, pairwise BLEU, Distinct-n, vocabulary size, novelty.

They use the candidates; novelty also uses the texts that they may be copied from. The
corpus metrics collect the words of all captions
(:class:`~harness_metrics.crnrr.words.CaptionWords`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from caption_kernels import log
from harness.contracts import (
    Batch,
    Features,
    Interval,
    MeanMetric,
    MetricSpec,
    Objects,
    PathParam,
    weighted_means,
)
from harness.contracts.parameters import Count, Order, check_arguments
from harness.files.streams import lines_of
from harness.files.user_files import existing, open_binary
from harness.stats import bootstrap
from harness_metrics.crnrr.words import (
    CaptionWords,
    Words,
    grams_of,
    sentence_lengths,
    sides_of,
    sparse_counts,
    words_object,
)
from harness_metrics.diversity.corpus_bleu import self_bleu_of_words
from harness_metrics.tokenisers.tokens import (
    TokenizerName,
    check_tokenizer,
    signed,
    tokenize,
    tokens_of,
)

NO_NEW_NGRAMS = (
    "a resample of examples has no new n-grams and repeats those of examples that it "
    "repeats"
)
"""Reason why values that depend on distinct n-grams have no interval."""


_BLOCK = 1 << 22
"""Number of matrix entries that are computed together."""


class CandidateWords(CaptionWords):
    """Base class of the corpus metrics of candidates."""

    def collect(self, batch: Batch, features: Features, state: Any) -> Sequence[object]:
        """Return the words of the candidates of each example."""
        return [
            words_object(features, ids, batch.n, self.tokenizer)
            for ids in batch.candidate_ids
        ]

    def value(self, words: Words, lengths: np.ndarray) -> float:
        """Return the value of one corpus; ``lengths`` ``(S,)`` is the number of words
        of each sentence.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define value(words, lengths)"
        )

    def per_example(self, stats: Objects) -> np.ndarray:
        """Return the values of the candidates of each example, ``(B,)``."""
        return np.array(
            [self.value(*candidates(stats[k : k + 1])) for k in range(len(stats))]
        )

    def number(self, objects: Objects) -> float:
        """Return the value of all candidates pooled."""
        return self.value(*candidates(objects))

    def interval(self, stats: Objects, samples: int, seed: int) -> Interval:
        """Return no interval, with the reason."""
        return Interval(None, NO_NEW_NGRAMS)


def candidates(objects: Objects) -> tuple[Words, np.ndarray]:
    """Return the words of the candidates of B examples,
    and the number of words of each sentence ``(S,)``.
    """
    words = sides_of(objects)[0]
    return words, sentence_lengths(words)


def weighted_types(
    item: np.ndarray, unit: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of distinct items and of tokens of the units that have weight,
    both of shape ``(W,)``.

    Parameters
    ----------
    item, unit : ndarray
        Id and unit of each token, integers, ``(T,)``.
    weights : ndarray
        Weights of the units, ``(W, units)``; a unit of weight 0 is left out.
    """
    ids = np.unique(item, return_inverse=True)[1]
    n_types = int(ids.max(initial=-1)) + 1
    counts = sparse_counts(ids, unit, (n_types, weights.shape[1]))
    present = np.zeros(len(weights))
    tokens = weights @ np.bincount(unit, minlength=weights.shape[1])
    step = max(1, _BLOCK // max(1, n_types))
    for start in range(0, len(weights), step):
        rows = weights[start : start + step]
        present[start : start + step] = np.count_nonzero(counts @ rows.T, axis=0)
    return present, tokens


class SelfBleu(CandidateWords):
    """Self-BLEU-n: mean BLEU of each candidate against all others, in [0, 1].

    Lower is more diverse.

    Parameters
    ----------
    n : int, default 4
        Largest order.
    conditional : bool, default False
        Compare the candidates of each example with each other and average, in place of
        all candidates of the run.
    negative : bool, default False
        Return NSBLEU, minus Self-BLEU; higher is more diverse.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    Raises
    ------
    HarnessError
        For an ``n`` that is not an integer of at least 1.

    References
    ----------
    Zhu et al., "Texygen: A Benchmarking Platform for Text Generation Models" (2018).
    """

    @check_arguments
    def __init__(
        self,
        *,
        n: Count = 4,
        conditional: bool = False,
        negative: bool = False,
        tokenizer: TokenizerName = "ptb",
    ) -> None:
        self.n = n
        self.conditional = bool(conditional)
        self.negative = bool(negative)
        self.tokenizer = check_tokenizer(tokenizer)
        name = (
            ("nsbleu" if negative else "self-bleu")
            + str(n)
            + (" conditional" if conditional else "")
        )
        self.spec = MetricSpec(
            name,
            self.negative,
            level="corpus",
            needs=frozenset(),
            min_candidates=2 if conditional else 1,
            resampled=self.conditional,
            bounds=(-1.0, 0.0) if negative else (0.0, 1.0),
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        use = "per-example" if self.conditional else "pooled"
        return f"{'nsbleu' if self.negative else 'self-bleu'}|n:{self.n}|{use}|tok:{signed(self.tokenizer)}"

    def value(self, words: Words, lengths: np.ndarray) -> float:
        """Return Self-BLEU or NSBLEU of a corpus of T sentences, ``lengths`` of shape
        (T,); NaN for fewer than two sentences.
        """
        if len(lengths) < 2:
            return float("nan")
        value = float(self_bleu_of_words(words, lengths, self.n)[:, -1].mean())
        return -value if self.negative else value

    def number(self, objects: Objects) -> float:
        """Return the value, pooled or the mean over examples."""
        return (
            float(self.per_example(objects).mean())
            if self.conditional
            else super().number(objects)
        )

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return the values ``(W,)`` for weights ``(W, B)``."""
        if not self.conditional:
            return super().numbers(objects, weights)
        return weighted_means(weights, self.per_example(objects))

    def interval(self, stats: Objects, samples: int, seed: int) -> Interval:
        """Return the bootstrap interval of the mean over examples, or for the pooled
        value none, with the reason.
        """
        if not self.conditional:
            return super().interval(stats, samples, seed)
        values = self.per_example(stats)
        ends = bootstrap.confidence_interval(
            lambda w: weighted_means(w, values), len(values), samples, seed
        )
        return Interval(ends, "" if ends else bootstrap.NO_SPREAD)


class Distinct(CandidateWords):
    """Distinct-n: distinct n-grams over n-gram tokens of the candidates, in [0, 1].

    Higher is more diverse.

    The value decreases with the size of the corpus.

    Parameters
    ----------
    n : int, default 2
        Order.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    Raises
    ------
    HarnessError
        For an ``n`` that is not an integer of at least 1.

    References
    ----------
    Li et al., "A Diversity-Promoting Objective Function for Neural Conversation Models"
    (2016).
    """

    @check_arguments
    def __init__(self, *, n: Count = 2, tokenizer: TokenizerName = "ptb") -> None:
        self.n = n
        self.tokenizer = check_tokenizer(tokenizer)
        # A resample of examples cannot have new n-grams: a bootstrap would be biased,
        # hence there is none.
        self.spec = MetricSpec(
            f"distinct{n}",
            True,
            "corpus",
            frozenset(),
            bounds=(0.0, 1.0),
            resampled=False,
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"distinct|n:{self.n}|tok:{signed(self.tokenizer)}"

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return Distinct-n of all candidates pooled ``(W,)`` for integer weights
        ``(W, B)``; NaN without n-grams.
        """
        (grams,) = grams_of([candidates(objects)[0]], self.n)
        types, tokens = weighted_types(grams.gram, grams.unit, weights)
        with np.errstate(invalid="ignore"):
            return types / tokens

    def value(self, words: Words, lengths: np.ndarray) -> float:
        """Return Distinct-n of a corpus of T sentences, ``lengths`` of shape (T,);
        NaN without n-grams.
        """
        (grams,) = grams_of([words], self.n)
        return (
            len(np.unique(grams.gram)) / len(grams.gram)
            if len(grams.gram)
            else float("nan")
        )


class VocabularySize(CandidateWords):
    """Number of distinct words of the candidates.

    Higher is more diverse; increases with the size of the corpus.

    Parameters
    ----------
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.
    """

    def __init__(self, *, tokenizer: TokenizerName = "ptb") -> None:
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(
            "vocabulary",
            True,
            "corpus",
            frozenset(),
            bounds=(0.0, math.inf),
            resampled=False,
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"vocabulary|tok:{signed(self.tokenizer)}"

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return the number of distinct words of all candidates ``(W,)`` for integer
        weights ``(W, B)``.
        """
        words = candidates(objects)[0]
        return weighted_types(words.ids, words.unit[words.sentence], weights)[0]

    def value(self, words: Words, lengths: np.ndarray) -> float:
        """Return the number of distinct words of a corpus of T sentences,
        ``lengths`` of shape (T,).
        """
        return float(len(np.unique(words.ids)))


class PairwiseBleu(MeanMetric):
    """Mean sentence BLEU-n over the ordered pairs of candidates of an example,
    in [0, 1].

    Lower is more diverse.

    The paper pools the counts of all pairs. Here each pair has a sentence BLEU with
    add-one smoothing above order 1, which is defined for short captions.

    Parameters
    ----------
    n : int, default 4
        Largest order, from 1 to 4.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    Raises
    ------
    HarnessError
        For an ``n`` that is not an integer from 1 to 4.

    References
    ----------
    Shen et al., "Mixture Models for Diverse Machine Translation: Tricks of the Trade"
    (2019).
    """

    @check_arguments
    def __init__(self, *, n: Order = 4, tokenizer: TokenizerName = "ptb") -> None:
        self.n = n
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(
            f"pairwise-bleu{n}",
            False,
            "set",
            frozenset(),
            min_candidates=2,
            bounds=(0.0, 1.0),
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"pairwise-bleu|n:{self.n}|smooth:add-one|tok:{signed(self.tokenizer)}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the mean BLEU of the pairs of each example, ``(B,)``."""
        from harness_metrics.ngram.bleu import pair_scores
        from harness_metrics.tokenisers.tokens import text_rows_of

        texts = text_rows_of(features, self.tokenizer)
        rows = texts.gram_rows(features, batch.candidate_ids)
        pairs = pair_scores(texts.index, rows, rows, self.n, "add-one")
        diagonal = np.trace(pairs, axis1=1, axis2=2)
        return (pairs.sum(axis=(1, 2)) - diagonal) / (batch.n * (batch.n - 1))


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
        self.corpus = (
            None
            if corpus is None
            else existing(corpus, "file of texts", parameter="corpus")
        )
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
            return frozenset(
                tokens_of(features, features.intern(texts), self.tokenizer)
            )
        return self._file_texts

    def merge(self, first: frozenset[str], second: frozenset[str]) -> frozenset[str]:
        """Return the tokenised texts of two shards together."""
        return first if first is second else first | second

    @cached_property
    def _file_texts(self) -> frozenset[str]:
        return (
            frozenset(tokenize(_lines(self.corpus), self.tokenizer))
            if self.corpus is not None
            else frozenset()
        )

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


# --------------------------------------------------------------------------- length and entropy
# Length of captions and entropy of their n-grams.


class Length(MeanMetric):
    """Mean number of words of a candidate.

    No direction; the p-values test for longer candidates.

    Parameters
    ----------
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.
    """

    def __init__(self, *, tokenizer: TokenizerName = "ptb") -> None:
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(
            "caption-length", None, "item", frozenset(), bounds=(0.0, math.inf)
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"caption-length|tok:{signed(self.tokenizer)}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the mean number of words of the candidates of each example,
        shape (B,).
        """
        texts = tokens_of(
            features, batch.text_ids[:, : batch.n].ravel(), self.tokenizer
        )
        counts = np.array([len(text.split()) for text in texts], dtype=np.float64)
        return counts.reshape(len(batch), batch.n).mean(axis=1)


class Entropy(CandidateWords):
    """Shannon entropy, in bits, of the distribution of n-grams over all candidates,
    at least 0.

    Higher is more diverse.

    The plug-in estimate; it increases with the size of the corpus.

    Parameters
    ----------
    n : int, default 1
        Order of the n-grams.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.
    """

    @check_arguments
    def __init__(self, *, n: Count = 1, tokenizer: TokenizerName = "ptb") -> None:
        self.n = n
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(
            f"entropy{self.n}",
            True,
            "corpus",
            frozenset(),
            bounds=(0.0, math.inf),
            resampled=False,
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"entropy|n:{self.n}|tok:{signed(self.tokenizer)}"

    def value(self, words: Words, lengths: np.ndarray) -> float:
        """Return the entropy of the n-grams of a corpus of S sentences, ``lengths`` of
        shape (S,); NaN without an n-gram.
        """
        (grams,) = grams_of([words], self.n)
        if not len(grams.gram):
            return float("nan")
        shares = np.unique(grams.gram, return_counts=True)[1] / len(grams.gram)
        return float(-(shares * log(shares)).sum() / log(2.0) + 0.0)
