"""Texts as METEOR's kernels want them: words interned to ids, each word and each text looked at once.

What depends on a word (comparison key, stem, synonym sets, function word, id in the paraphrase table) is kept per word; what
depends on a text (its words, the phrases of the table that occur in it) per text. All arrays only grow.

The words are shared by all tables of a process, whichever thread they are of; a table of texts is one thread's. Either survives an
interrupt: rows that were begun are dropped before more are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from harness.plugins.compiled.chunks import run_slices
from harness.plugins.meteor.lexicon.java_hash import java_hash
from harness.plugins.meteor.lexicon.lexicon import Lexicon, stems
from harness.plugins.meteor.lexicon.paraphrases import ParaphraseTable
from harness.plugins.meteor.normaliser import is_plain
from harness.plugins.meteor.normaliser import words as normalised
from harness.plugins.tokenisers.words import WordIndex, WordMap

_PHRASES_WORTH = 4
"""Looking for the phrases of a text is as much work as so many pairs of n-gram counts."""


class Words(NamedTuple):
    """Arrays by word id."""

    keys: np.ndarray
    """int32 numbers of the 32-bit hashes by which words are compared: equal words, equal number."""
    stems: np.ndarray
    """int32, the same for the word's stem."""
    function: np.ndarray
    """uint8, 1 for a function word."""
    synset_starts: np.ndarray
    """(words + 1,) int32 bounds in ``synset_ids``."""
    synset_ids: np.ndarray
    """int32."""


class Texts(NamedTuple):
    """Arrays by text id: runs of words and runs of occurrences of phrases."""

    word_starts: np.ndarray
    """(texts + 1,) int64 bounds in ``words``."""
    words: np.ndarray
    """int32 word ids."""
    phrase_starts: np.ndarray
    """(texts + 1,) int64 bounds in the three arrays below."""
    phrases: np.ndarray
    """int32 nodes of the paraphrase table, in the order of position and length."""
    phrase_at: np.ndarray
    """int32, first word of the occurrence."""
    phrase_length: np.ndarray
    """int32, its words."""


class Prepared(NamedTuple):
    """All a kernel reads."""

    texts: Texts
    words: Words
    table: ParaphraseTable


class _Column:
    """An array that grows at its end."""

    def __init__(self, dtype: Any, first: Iterable[int] = ()) -> None:
        self._array = np.empty(1024, dtype=dtype)
        self._size = 0
        self.extend(np.asarray(list(first), dtype=dtype))

    def extend(self, values: Sequence[int] | np.ndarray) -> None:
        size = self._size + len(values)
        if size > len(self._array):
            grown = np.empty(max(size, 2 * len(self._array)), dtype=self._array.dtype)
            grown[: self._size] = self._array[: self._size]
            self._array = grown
        self._array[self._size : size] = values
        self._size = size

    def cut(self, size: int) -> None:
        """Drop all after the first ``size`` values."""
        self._size = size

    @property
    def view(self) -> np.ndarray:
        return self._array[: self._size]


class WordTable:
    """Words of one lexicon, numbered in the order in which they are met; any thread may add some."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._lock = Lock()
        self._ids: dict[str, int] = {}
        self._hashes: dict[int, int] = {}
        self._keys, self._stems, self._function = _Column(np.int32), _Column(np.int32), _Column(np.uint8)
        self._synset_starts, self._synset_ids = _Column(np.int32, [0]), _Column(np.int32)
        self._paraphrase_ids, self._paraphrase_roots = _Column(np.int32), _Column(np.int32)

    def intern(self, words: list[str]) -> np.ndarray:
        """(W,) int32 ids of the words, new ones added."""
        ids = self._ids
        with self._lock:
            new = [word for word in dict.fromkeys(words) if word not in ids]
            if new:
                self._add(new)
        return np.fromiter(map(ids.__getitem__, words), dtype=np.int32, count=len(words))

    def intern_plain(self, words: list[str]) -> np.ndarray:
        """(W,) ids of the words in lower case, -1 for those that the tool's punctuation rules may change."""
        ids = np.full(len(words), -1, dtype=np.int64)
        places = [k for k, word in enumerate(words) if is_plain(word)]
        ids[places] = self.intern([words[k].lower() for k in places])
        return ids

    def _add(self, words: list[str]) -> None:
        lexicon, number, first = self.lexicon, self._number, len(self._ids)
        by_word = self._keys, self._stems, self._function, self._paraphrase_ids, self._paraphrase_roots
        for column in by_word:
            column.cut(first)
        self._synset_starts.cut(first + 1)
        n_synsets = int(self._synset_starts.view[-1])
        self._synset_ids.cut(n_synsets)
        bounds, synsets = lexicon.synset_runs(words)
        self._synset_starts.extend(bounds[1:] + n_synsets)
        self._synset_ids.extend(synsets)
        paraphrase_ids = np.asarray([lexicon.paraphrase_words.get(word, -1) for word in words])
        found = (
            [number(java_hash(word)) for word in words],
            [number(java_hash(word)) for word in stems(words)],
            [word in lexicon.function_words for word in words],
            paraphrase_ids,
            lexicon.paraphrases.roots(paraphrase_ids),
        )
        for column, values in zip(by_word, found, strict=True):
            column.extend(values)
        self._ids.update(zip(words, range(first, first + len(words))))

    def _number(self, value: int) -> int:
        """A small number for each hash; keys and stems share them."""
        return self._hashes.setdefault(value, len(self._hashes))

    @property
    def n_numbers(self) -> int:
        """How many numbers keys and stems use."""
        return len(self._hashes)

    @property
    def paraphrase_ids(self) -> np.ndarray:
        """int32 ids in the paraphrase table by word id, -1 for none."""
        return self._paraphrase_ids.view

    @property
    def paraphrase_roots(self) -> np.ndarray:
        """int32 nodes of the paraphrase table at which phrases begin with the word, by word id, -1 for none."""
        return self._paraphrase_roots.view

    def arrays(self) -> Words:
        return Words(
            self._keys.view, self._stems.view, self._function.view, self._synset_starts.view, self._synset_ids.view
        )


class TextTable:
    """Texts prepared for the kernels; each distinct raw text once."""

    def __init__(self, words: WordTable) -> None:
        self.words = words
        self._ids: dict[str, int] = {}
        self._word_starts, self._words = _Column(np.int64, [0]), _Column(np.int32)
        self._phrase_starts, self._phrases = _Column(np.int64, [0]), _Column(np.int32)
        self._phrase_at, self._phrase_length = _Column(np.int32), _Column(np.int32)
        self._split: WordMap | None = None

    def intern(self, texts: Iterable[str]) -> np.ndarray:
        """(T,) int64 ids of raw texts, new ones normalised and analysed."""
        ids = self._ids
        wanted = list(texts)
        new = [text for text in dict.fromkeys(wanted) if text not in ids]
        if new:
            self._add(new)
        return np.fromiter((ids[text] for text in wanted), dtype=np.int64, count=len(wanted))

    def intern_split(self, texts: list[str], index: WordIndex, rows: np.ndarray) -> np.ndarray:
        """As :meth:`intern`, for texts that stand in ``index`` as ``rows``: those of plain words need not be normalised."""
        ids = self._ids
        new = np.asarray([text not in ids for text in texts], dtype=bool)
        distinct = dict(zip(compress(texts, new), rows[new].tolist()))
        if distinct:
            if self._split is None or self._split.index is not index:
                self._split = WordMap(index, self.words.intern_plain)
            plain, words, bounds = self._split.numbers_of(
                np.fromiter(distinct.values(), dtype=np.int64, count=len(distinct))
            )
            self._append(list(compress(distinct, plain)), bounds, words.astype(np.int32))
        return self.intern(texts)

    def _add(self, texts: list[str]) -> None:
        words: list[str] = []  # one flat list: a list per text that is kept would set off the garbage collector
        ends = np.empty(len(texts), dtype=np.int64)
        for k, text in enumerate(texts):
            words += normalised(text, self.words.lexicon.prefixes)
            ends[k] = len(words)
        self._append(texts, np.concatenate([[0], ends]), self.words.intern(words))

    def _append(self, texts: list[str], starts: np.ndarray, words: np.ndarray) -> None:
        """Take in new texts given as runs of word ids."""
        if not texts:
            return
        bounds, nodes, at, length = self._find_phrases(starts, words)
        first = len(self._ids)
        self._word_starts.cut(first + 1)
        self._words.cut(int(self._word_starts.view[-1]))
        self._phrase_starts.cut(first + 1)
        for column in (self._phrases, self._phrase_at, self._phrase_length):
            column.cut(int(self._phrase_starts.view[-1]))
        self._word_starts.extend(starts[1:] + len(self._words.view))
        self._words.extend(words)
        self._phrase_starts.extend(bounds[1:] + len(self._phrases.view))
        self._phrases.extend(nodes)
        self._phrase_at.extend(at)
        self._phrase_length.extend(length)
        self._ids.update((text, first + k) for k, text in enumerate(texts))

    def _find_phrases(self, starts: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, ...]:
        """What the kernel of this name gives, of slices of the texts on all cores."""
        from harness.plugins.meteor.kernels.groups import find_phrases  # compiled: numba

        table = self.words.lexicon.paraphrases
        ids, roots = self.words.paraphrase_ids[words], self.words.paraphrase_roots[words]
        found: dict[int, tuple[np.ndarray, ...]] = {}

        def work(first: int, last: int) -> None:
            own = slice(starts[first], starts[last])
            found[first] = find_phrases(starts[first : last + 1] - starts[first], ids[own], roots[own], table)

        run_slices(work, len(starts) - 1, pairs=_PHRASES_WORTH)
        parts = [found[first] for first in sorted(found)]
        counts = np.concatenate([np.diff(bounds) for bounds, *_ in parts])
        bounds = np.concatenate([[0], np.cumsum(counts)])
        return bounds, *(np.concatenate([part[k] for part in parts]) for k in (1, 2, 3))

    def prepared(self) -> Prepared:
        """Views of everything added so far."""
        texts = Texts(
            self._word_starts.view,
            self._words.view,
            self._phrase_starts.view,
            self._phrases.view,
            self._phrase_at.view,
            self._phrase_length.view,
        )
        return Prepared(texts, self.words.arrays(), self.words.lexicon.paraphrases)

    def word_ids(self, text: int) -> np.ndarray:
        """Word ids of one text."""
        starts = self._word_starts.view
        return self._words.view[starts[text] : starts[text + 1]]

    def same_words(self, ids: np.ndarray) -> np.ndarray:
        """``ids.shape`` numbers, equal where texts have the same words."""
        numbers: dict[bytes, int] = {}
        distinct, place = np.unique(ids, return_inverse=True)
        found = [numbers.setdefault(self.word_ids(int(i)).tobytes(), len(numbers)) for i in distinct]
        return np.asarray(found, dtype=np.int64)[place].reshape(np.shape(ids))
