"""The ``word-model`` baseline: likelihoods of a bigram model of words that sees no
image.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from harness.contracts import Candidates, Decoding, Example, TokenScores
from harness.errors import HarnessError
from harness_tasks.readers.lines import Lines

END = "</s>"
_WORD = re.compile(r"\w+(?:'\w+)?|[^\w\s]")


def words_of(text: str) -> list[str]:
    """Return the words and punctuation marks of a text in lower case.

    >>> words_of("The cat's bowl, empty.")
    ['the', "cat's", 'bowl', ',', 'empty', '.']
    """
    return _WORD.findall(text.lower())


class WordModel:
    """Likelihood of the references under a bigram model of words, a baseline for
    choices by likelihood that sees texts alone.

    The probability of a word is that of Witten-Bell smoothing: bigrams, backed off to
    words, backed off to equal shares of the words of the corpus and one unknown word.
    It depends on the word before it; for the first word that is the last word of the
    source (the question), or the beginning of a text.

    Parameters
    ----------
    corpus : mapping
        Parameters of the reader ``lines``: ``{path: ...}`` or ``{of: {reader: ...}}``.

    Raises
    ------
    HarnessError
        For a corpus that is no mapping, or has no text.

    References
    ----------
    Witten & Bell 1991, *The Zero-Frequency Problem*, method C; Lin et al. 2024,
    *Revisiting the Role of Language Priors in Vision-Language Models* (baselines
    without image).
    """

    def __init__(self, *, corpus: Mapping[str, Any]) -> None:
        if not isinstance(corpus, Mapping):
            raise HarnessError(
                f"word-model: corpus is {corpus!r}; expected parameters of the "
                f"reader 'lines' ({{path: ...}})",
                parameter="corpus",
            )
        self.corpus = Lines(**corpus)

    def fingerprint(self) -> str:
        """Return the name and the fingerprint of the corpus."""
        return f"word-model|{self.corpus.fingerprint()}"

    def describe(self) -> dict[str, str]:
        """Return the corpus."""
        return {"corpus": json.dumps(self.corpus.fingerprint())}

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Candidates]:
        """Raise :class:`HarnessError`: the model gives likelihoods and no captions."""
        raise HarnessError(
            "word-model gives likelihoods and no captions: "
            "use it with metrics of level 'model' only"
        )

    def score_references(
        self, examples: Sequence[Example]
    ) -> Iterator[list[TokenScores]]:
        """Yield log-probabilities and ranks of the words of each reference and the end
        mark.
        """
        for example in examples:
            context = words_of(example.source or "")
            yield [
                self._scores(context[-1] if context else END, text)
                for text in example.references
            ]

    def _scores(self, before: str, text: str) -> TokenScores:
        tokens = [*words_of(text), END]
        logs = np.empty(len(tokens))
        ranks = np.empty(len(tokens), dtype=np.int64)
        for k, token in enumerate(tokens):
            probabilities = self.distribution(before)
            index = self._index.get(token, 0)
            value = probabilities[index]
            logs[k] = np.log(value)

            # The rank counts words of the same probability before this one in the
            # vocabulary.
            ties = np.count_nonzero(probabilities[:index] == value)
            ranks[k] = np.count_nonzero(probabilities > value) + ties
            before = token
        return TokenScores(logs, ranks, tuple(tokens))

    @cached_property
    def _counts(self) -> tuple[Counter[str], dict[str, Counter[str]]]:
        """Counts of words, and of words after each word;
        the end mark begins every text.
        """
        single: Counter[str] = Counter()
        after: dict[str, Counter[str]] = defaultdict(Counter)
        for line in self.corpus.lines():
            tokens = [*words_of(line), END]
            single.update(tokens)
            for first, second in zip([END, *tokens], tokens):
                after[first][second] += 1
        if not single:
            raise HarnessError("word-model: the corpus has no text", parameter="corpus")
        return single, dict(after)

    @cached_property
    def _index(self) -> dict[str, int]:
        """Index of each word, ascending; 0 is the unknown word."""
        return {word: k for k, word in enumerate(sorted(self._counts[0]), 1)}

    @cached_property
    def _single(self) -> np.ndarray:
        """Smoothed probabilities of words, shape (V,)."""
        return self._smooth(
            self._counts[0], np.full(len(self._index) + 1, 1 / (len(self._index) + 1))
        )

    def distribution(self, before: str) -> np.ndarray:
        """Return the probability of each word after a word, shape (V,);
        index 0 is the unknown word.
        """
        counts = self._counts[1].get(before)
        return self._single if counts is None else self._smooth(counts, self._single)

    def _smooth(self, counts: Counter[str], lower: np.ndarray) -> np.ndarray:
        """Return (counts + types * lower) / (tokens + types)."""
        out = len(counts) * lower
        out[[self._index[word] for word in counts]] += np.array(
            list(counts.values()), dtype=np.float64
        )
        return out / (counts.total() + len(counts))
