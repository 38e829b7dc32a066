"""Diversity metrics of a run: Self-BLEU, pairwise BLEU, Distinct-n, vocabulary size, novelty.

They look at the candidates; novelty also at texts they may have been copied from. All but ``pairwise-bleu`` keep the captions
as statistics (:class:`~harness.plugins.crnrr.rows.WordRows`), so corpus values come from the corpus, not from means.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness.errors import HarnessError, InputError
from harness.plugins.crnrr.resampling import Words, grams_of
from harness.plugins.crnrr.rows import WordRows, parse
from harness.plugins.diversity.corpus_bleu import self_bleu_of_words
from harness.plugins.tokenisers.tokens import check_tokenizer, tokenize, tokens_of


def _order(n: Any, what: str, most: int | None = None) -> int:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1 or (most is not None and n > most):
        raise HarnessError(f"{what}: n is {n!r}; expected an integer from 1" + (f" to {most}" if most else ""))
    return n


class CandidateWords(WordRows):
    """Base of the corpus metrics here: candidates only, weights by repetition of examples."""

    spec: MetricSpec

    def value(self, words: Words, lengths: np.ndarray) -> float:
        """The number of one corpus: its words, and the (S,) words of each sentence."""
        raise NotImplementedError(f"{type(self).__name__} must define value(words, lengths)")

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        """(B,) the number of each example's own candidates."""
        return np.array([self.value(*candidates(stats[k : k + 1])) for k in range(len(stats))])

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> Any:
        """The number of all candidates pooled; with weights of the examples repeated as often as they weigh."""
        if weights is None:
            return self.value(*candidates(stats)) if len(stats) else float("nan")
        rows = np.arange(len(stats))
        return np.array([self.reduce(stats[np.repeat(rows, w.astype(int))]) for w in np.asarray(weights)])


def candidates(stats: np.ndarray) -> tuple[Words, np.ndarray]:
    """Words of the candidates of statistic rows, sentences numbered from 0, unit = row; and the words of each sentence."""
    side = parse(stats)[0]
    per_row = stats[:, 0].astype(np.int64)
    # The sentences of a row are its candidates, then its references: number the former, drop the latter.
    first = np.searchsorted(side.unit, np.arange(len(stats)))
    within = np.arange(per_row.sum()) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    chosen = np.repeat(first, per_row) + within
    number = np.full(len(side.unit), -1)
    number[chosen] = np.arange(len(chosen))
    sentence = number[side.sentence]
    return Words(side.ids, sentence, side.unit[chosen]), np.bincount(sentence, minlength=len(chosen))


class SelfBleu(CandidateWords):
    """Self-BLEU-n: mean BLEU of each candidate with all others as references. Lower is more diverse.

    Over all candidates of the run (linear time), or with ``conditional`` among those of each example, then the mean.
    ``negative`` gives NSBLEU, for which higher is more diverse.
    """

    def __init__(
        self, *, n: int = 4, conditional: bool = False, negative: bool = False, tokenizer: str = "ptb"
    ) -> None:
        self.n = _order(n, "self-bleu")
        self.conditional, self.negative = bool(conditional), bool(negative)
        self.tokenizer = check_tokenizer(tokenizer)
        name = ("nsbleu" if negative else "self-bleu") + str(n) + (" conditional" if conditional else "")
        self.spec = MetricSpec(
            name, self.negative, level="corpus", needs=frozenset(), min_candidates=2 if conditional else 1, shardable=self.conditional,
            bounds=(-1.0, 0.0) if negative else (0.0, 1.0),
        )  # fmt: skip

    def signature(self) -> str:
        use = "per-example" if self.conditional else "pooled"
        return f"{'nsbleu' if self.negative else 'self-bleu'}|n:{self.n}|{use}|tok:{self.tokenizer}"

    def value(self, words: Words, lengths: np.ndarray) -> float:
        if len(lengths) < 2:
            return float("nan")
        value = float(self_bleu_of_words(words, lengths, self.n)[:, -1].mean())
        return -value if self.negative else value

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> Any:
        if not self.conditional:
            return super().reduce(stats, weights)
        values = self.per_example(stats)
        if weights is None:
            return float(values.mean()) if len(values) else float("nan")
        given = np.asarray(weights, dtype=np.float64)
        return (given @ values) / given.sum(axis=1)


class Distinct(CandidateWords):
    """Distinct-n: distinct n-grams over n-gram tokens of the candidates. Higher is more diverse, and falls with the corpus' size.

    Source: Li et al., "A Diversity-Promoting Objective Function for Neural Conversation Models" (2016).
    """

    def __init__(self, *, n: int = 2, tokenizer: str = "ptb") -> None:
        self.n, self.tokenizer = _order(n, "distinct"), check_tokenizer(tokenizer)
        # Repeating examples cannot add n-grams: a bootstrap over examples would be biased, hence none.
        self.spec = MetricSpec(f"distinct{n}", True, "corpus", frozenset(), bounds=(0.0, 1.0), shardable=False)

    def signature(self) -> str:
        return f"distinct|n:{self.n}|tok:{self.tokenizer}"

    def value(self, words: Words, lengths: np.ndarray) -> float:
        (grams,) = grams_of([words], self.n)
        return len(np.unique(grams.gram)) / len(grams.gram) if len(grams.gram) else float("nan")


class VocabularySize(CandidateWords):
    """How many distinct words the candidates use. Higher is more diverse; grows with the corpus."""

    def __init__(self, *, tokenizer: str = "ptb") -> None:
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec("vocabulary", True, "corpus", frozenset(), shardable=False)

    def signature(self) -> str:
        return f"vocabulary|tok:{self.tokenizer}"

    def value(self, words: Words, lengths: np.ndarray) -> float:
        return float(len(np.unique(words.ids)))


class PairwiseBleu(MeanMetric):
    """Mean sentence BLEU-n over the ordered pairs of an example's candidates. Lower is more diverse.

    Source: Shen et al., "Mixture Models for Diverse Machine Translation" (2019); theirs pools the counts of all pairs, here each
    pair is a sentence BLEU with one added to the counts above order 1, which is defined for short captions.
    """

    def __init__(self, *, n: int = 4, tokenizer: str = "ptb") -> None:
        self.n, self.tokenizer = _order(n, "pairwise-bleu", 4), check_tokenizer(tokenizer)
        self.spec = MetricSpec(f"pairwise-bleu{n}", False, "set", frozenset(), min_candidates=2, bounds=(0.0, 1.0))

    def signature(self) -> str:
        return f"pairwise-bleu|n:{self.n}|smooth:add-one|tok:{self.tokenizer}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        from harness.plugins.ngram.bleu import pair_scores  # compiles its kernels when first asked
        from harness.plugins.ngram.index import index_of, rows_of

        rows = rows_of(features, batch.candidate_ids, self.tokenizer)
        pairs = pair_scores(index_of(features, self.tokenizer), rows, rows, self.n, "add-one")
        diagonal = np.trace(pairs, axis1=1, axis2=2)
        return (pairs.sum(axis=(1, 2)) - diagonal) / (batch.n * (batch.n - 1))


class Novelty(MeanMetric):
    """Share of candidates that are not, word for word, among the texts of ``corpus``. Higher is more novel.

    ``corpus``: a file of training captions, one a line (plain or .gz); without it, the references of the whole task.
    """

    def __init__(self, *, corpus: str | None = None, tokenizer: str = "ptb") -> None:
        self.corpus, self.tokenizer = corpus, check_tokenizer(tokenizer)
        if corpus is not None and not Path(corpus).is_file():
            raise InputError("no such file of texts", corpus)
        self.spec = MetricSpec("novelty", True, bounds=(0.0, 1.0))

    def signature(self) -> str:
        if self.corpus is None:
            return f"novelty|corpus:references|tok:{self.tokenizer}"
        import hashlib

        digest = hashlib.sha256(Path(self.corpus).read_bytes()).hexdigest()[:12]
        return f"novelty|corpus:{digest}|tok:{self.tokenizer}"

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        """The set of known texts, tokenised."""
        if self.corpus is None:
            texts = dict.fromkeys(text for own in references for text in own)
            return frozenset(tokens_of(features, features.intern(texts), self.tokenizer))
        return frozenset(tokenize(_lines(Path(self.corpus)), self.tokenizer))

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        tokens = tokens_of(features, batch.candidate_ids.ravel(), self.tokenizer)
        new = np.array([text not in state for text in tokens], dtype=np.float64)
        return new.reshape(len(batch), batch.n).mean(axis=1)


def _lines(path: Path) -> list[str]:
    import gzip

    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]
