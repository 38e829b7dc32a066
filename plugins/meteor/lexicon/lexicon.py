"""Word knowledge of METEOR for English: function words, non-breaking prefixes, base forms, synonym sets and paraphrases."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.plugins.meteor.lexicon.paraphrases import ParaphraseTable

_NOUN_SUFFIXES = (
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
)
_VERB_SUFFIXES = (
    ("s", ""),
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
)
_ADJECTIVE_SUFFIXES = (("er", ""), ("est", ""), ("er", "e"), ("est", "e"))
_SUFFIXES = (*_NOUN_SUFFIXES, *_VERB_SUFFIXES, *_ADJECTIVE_SUFFIXES)
"""WordNet's rules of detachment (morphy; Fellbaum 1998) in the order in which they are tried: suffix, replacement."""
_LAST_LETTERS = frozenset(suffix[-1] for suffix, _ in _SUFFIXES)


class Lexicon(NamedTuple):
    """English word data that the matchers and the normaliser use."""

    function_words: frozenset[str]
    prefixes: dict[str, bool]
    """Words after which a dot is no full stop; True if only before a number."""
    exceptions: dict[str, list[str]]
    """Irregular form -> base forms."""
    synset_rows: dict[str, int]
    """Word -> row of ``synset_starts`` (W words)."""
    synset_starts: np.ndarray
    """(W + 1,) int32 bounds of each word in ``synset_ids``."""
    synset_ids: np.ndarray
    """int32 synonym sets numbered from 0, ascending within each word."""
    n_synsets: int
    paraphrase_words: dict[str, int]
    """Word -> id in the paraphrase table."""
    paraphrases: ParaphraseTable

    def listed_synsets(self, word: str) -> np.ndarray:
        """Return the synonym sets (S,) that list exactly this word, int32."""
        row = self.synset_rows.get(word)
        if row is None:
            return self.synset_ids[:0]
        return self.synset_ids[self.synset_starts[row] : self.synset_starts[row + 1]]

    def synsets(self, word: str) -> np.ndarray:
        """Return the synonym sets (S,) of a word and of its base forms, ascending, int32."""
        sets = self.listed_synsets(word)
        others = [more for base in self.base_forms(word) if base != word and len(more := self.listed_synsets(base))]
        return np.unique(np.concatenate([sets, *others])) if others else sets

    def synset_runs(self, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return :meth:`synsets` of W words: bounds of shape (W + 1,) and the concatenated sets, both int64."""
        owners: list[int] = []
        rows: list[int] = []
        for place, word in enumerate(words):
            for form in (word, *self.base_forms(word)):
                row = self.synset_rows.get(form)
                if row is not None:
                    owners.append(place)
                    rows.append(row)
        first = self.synset_starts[rows].astype(np.int64)
        counts = self.synset_starts[np.asarray(rows, dtype=np.int64) + 1] - first
        ends = np.cumsum(counts)
        ids = self.synset_ids[np.arange(counts.sum()) + np.repeat(first - ends + counts, counts)]
        keys = np.unique(np.repeat(np.asarray(owners, dtype=np.int64), counts) * self.n_synsets + ids)
        bounds = np.searchsorted(keys, np.arange(len(words) + 1) * self.n_synsets)
        return bounds, keys % max(self.n_synsets, 1)

    def base_forms(self, word: str) -> list[str]:
        """Return the base forms of an irregular word, else the result of the first suffix rule that gives a listed word.

        meteor-1.5.jar removes ``-ful`` first and appends it to the result. No rule applies to a word in ``-ful``, so such a word has no
        base form.
        """
        if word in self.exceptions:
            return self.exceptions[word]
        if word.endswith("ss") or (len(word) <= 2 and len(word.encode("utf-16-le")) <= 4):
            return [word]
        if word[-1] not in _LAST_LETTERS:
            return []
        for suffix, ending in _SUFFIXES:
            if word.endswith(suffix) and (base := word[: -len(suffix)] + ending) in self.synset_rows:
                return [base]
        return []
