"""Tables of words and texts in the form that METEOR's kernels read; each distinct word and text is analysed once.

The data of a word are its comparison key, stem, synonym sets, function-word flag and id in the paraphrase table. The data of a text are its
words and the phrases of the paraphrase table that occur in it. All arrays grow at their end.

All tables of a process share one word table, which is thread-safe. A text table belongs to one thread. Both stay consistent after an
interrupt: incomplete rows are dropped before new ones are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from harness.plugins.compiled.chunks import run_slices
from harness.plugins.meteor.lexicon.java_hash import java_hash
from harness.plugins.meteor.lexicon.lexicon import Lexicon
from harness.plugins.meteor.lexicon.paraphrases import ParaphraseTable
from harness.plugins.meteor.lexicon.stems import stems
from harness.plugins.meteor.normaliser import is_plain
from harness.plugins.meteor.normaliser import words as normalised
from harness.plugins.tokenisers.words import WordIndex, WordMap

_WORK_PER_TEXT = 4
"""Cost of the phrase search in one text, in units of one n-gram pair."""


class Words(NamedTuple):
    """Data of W words; the index is the word id."""

    keys: np.ndarray
    """(W,) int32 numbers of the words' 32-bit Java hashes; words with equal numbers match exactly."""
    stems: np.ndarray
    """(W,) int32 numbers of the stems' hashes."""
    function: np.ndarray
    """(W,) uint8, 1 for a function word."""
    synset_starts: np.ndarray
    """(W + 1,) int32 bounds of each word in ``synset_ids``."""
    synset_ids: np.ndarray
    """int32 synonym sets, ascending within each word."""


class Texts(NamedTuple):
    """Words and phrase occurrences of T texts; the index is the text id."""

    word_starts: np.ndarray
    """(T + 1,) int64 bounds of each text in ``words``."""
    words: np.ndarray
    """int32 word ids."""
    phrase_starts: np.ndarray
    """(T + 1,) int64 bounds of each text in the three arrays below."""
    phrases: np.ndarray
    """int32 nodes of the paraphrase table, ordered by position and length."""
    phrase_at: np.ndarray
    """int32 position of the occurrence's first word."""
    phrase_length: np.ndarray
    """int32 number of words of the occurrence."""


class Prepared(NamedTuple):
    """Input of the kernels: texts, their words and the paraphrase table."""

    texts: Texts
    words: Words
    table: ParaphraseTable


class _Column:
    """An array that grows at its end."""

    def __init__(self, dtype: DTypeLike, first: Iterable[int] = ()) -> None:
        self._array = np.empty(1024, dtype=dtype)
        self._size = 0
        self.extend(np.asarray(list(first), dtype=dtype))

    def extend(self, values: Sequence[int] | np.ndarray) -> None:
        """Append values (k,)."""
        size = self._size + len(values)
        if size > len(self._array):
            grown = np.empty(max(size, 2 * len(self._array)), dtype=self._array.dtype)
            grown[: self._size] = self._array[: self._size]
            self._array = grown
        self._array[self._size : size] = values
        self._size = size

    def cut(self, size: int) -> None:
        """Drop all values after the first ``size``."""
        self._size = size

    @property
    def view(self) -> np.ndarray:
        """Return the values so far without a copy, shape (size,)."""
        return self._array[: self._size]


class WordTable:
    """Words with their data from one lexicon, numbered in the order of their first occurrence. Thread-safe.

    Parameters
    ----------
    lexicon : Lexicon
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._lock = Lock()
        self._ids: dict[str, int] = {}
        self._hashes: dict[int, int] = {}
        self._keys, self._stems, self._function = _Column(np.int32), _Column(np.int32), _Column(np.uint8)
        self._synset_starts, self._synset_ids = _Column(np.int32, [0]), _Column(np.int32)
        self._paraphrase_ids, self._paraphrase_roots = _Column(np.int32), _Column(np.int32)

    def intern(self, words: list[str]) -> np.ndarray:
        """Return the ids (W,) of the words, int32; new words are added."""
        ids = self._ids
        with self._lock:
            new = [word for word in dict.fromkeys(words) if word not in ids]
            if new:
                self._add(new)
        return np.fromiter(map(ids.__getitem__, words), dtype=np.int32, count=len(words))

    def intern_plain(self, words: list[str]) -> np.ndarray:
        """Return the ids (W,) of the words in lower case, int64; -1 for a word that the punctuation rules may change."""
        ids = np.full(len(words), -1, dtype=np.int64)
        places = [k for k, word in enumerate(words) if is_plain(word)]
        ids[places] = self.intern([words[k].lower() for k in places])
        return ids

    def _add(self, words: list[str]) -> None:
        """Add new words; rows that an interrupted call left behind are dropped first."""
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
        values_by_column = (
            [number(java_hash(word)) for word in words],
            [number(java_hash(word)) for word in stems(words)],
            [word in lexicon.function_words for word in words],
            paraphrase_ids,
            lexicon.paraphrases.roots(paraphrase_ids),
        )
        for column, values in zip(by_word, values_by_column, strict=True):
            column.extend(values)
        self._ids.update(zip(words, range(first, first + len(words))))

    def _number(self, value: int) -> int:
        """Return the number of a hash, from 0; keys and stems share the numbers."""
        return self._hashes.setdefault(value, len(self._hashes))

    @property
    def n_numbers(self) -> int:
        """Number of distinct hashes of keys and stems."""
        return len(self._hashes)

    @property
    def paraphrase_ids(self) -> np.ndarray:
        """Ids of the words in the paraphrase table, shape (W,), int32; -1 for none."""
        return self._paraphrase_ids.view

    @property
    def paraphrase_roots(self) -> np.ndarray:
        """Nodes of the paraphrase table for phrases that begin with the word, shape (W,), int32; -1 for none."""
        return self._paraphrase_roots.view

    def arrays(self) -> Words:
        """Return views of the data of all words so far."""
        return Words(
            self._keys.view, self._stems.view, self._function.view, self._synset_starts.view, self._synset_ids.view
        )


class TextTable:
    """Texts prepared for the kernels; each distinct raw text has one id.

    Parameters
    ----------
    words : WordTable
        Word table, which other text tables may share.
    """

    def __init__(self, words: WordTable) -> None:
        self.words = words
        self._ids: dict[str, int] = {}
        self._word_starts, self._words = _Column(np.int64, [0]), _Column(np.int32)
        self._phrase_starts, self._phrases = _Column(np.int64, [0]), _Column(np.int32)
        self._phrase_at, self._phrase_length = _Column(np.int32), _Column(np.int32)
        self._split: WordMap | None = None

    def intern(self, texts: Iterable[str]) -> np.ndarray:
        """Return the ids (T,) of raw texts, int64; new texts are normalised and analysed."""
        ids = self._ids
        texts = list(texts)
        new = [text for text in dict.fromkeys(texts) if text not in ids]
        if new:
            self._add(new)
        return np.fromiter((ids[text] for text in texts), dtype=np.int64, count=len(texts))

    def intern_split(self, texts: list[str], index: WordIndex, rows: np.ndarray) -> np.ndarray:
        """Return the ids (T,) of texts that are rows ``rows`` (T,) of a word index, int64.

        Equal to :meth:`intern`, but texts of plain words are not normalised again.
        """
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
        words: list[str] = []  # one flat list: a list per text would trigger the garbage collector
        ends = np.empty(len(texts), dtype=np.int64)
        for k, text in enumerate(texts):
            words += normalised(text, self.words.lexicon.prefixes)
            ends[k] = len(words)
        self._append(texts, np.concatenate([[0], ends]), self.words.intern(words))

    def _append(self, texts: list[str], starts: np.ndarray, words: np.ndarray) -> None:
        """Add new texts; ``starts`` (T + 1,) are their bounds in the word ids ``words``."""
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
        """Return the result of the kernel ``find_phrases`` for all texts, computed in slices on all cores."""
        from harness.plugins.meteor.kernels.groups import find_phrases  # compiled: numba

        table = self.words.lexicon.paraphrases
        ids, roots = self.words.paraphrase_ids[words], self.words.paraphrase_roots[words]
        results: dict[int, tuple[np.ndarray, ...]] = {}

        def work(first: int, last: int) -> None:
            part = slice(starts[first], starts[last])
            results[first] = find_phrases(starts[first : last + 1] - starts[first], ids[part], roots[part], table)

        run_slices(work, len(starts) - 1, pairs=_WORK_PER_TEXT)
        parts = [results[first] for first in sorted(results)]
        counts = np.concatenate([np.diff(bounds) for bounds, *_ in parts])
        bounds = np.concatenate([[0], np.cumsum(counts)])
        return bounds, *(np.concatenate([part[k] for part in parts]) for k in (1, 2, 3))

    def prepared(self) -> Prepared:
        """Return views of all texts and words so far."""
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
        """Return the word ids (L,) of one text, int32."""
        starts = self._word_starts.view
        return self._words.view[starts[text] : starts[text + 1]]

    def same_words(self, ids: np.ndarray) -> np.ndarray:
        """Return numbers of the same shape as ``ids``, (B, N), int64, that are equal for texts with the same words."""
        numbers: dict[bytes, int] = {}
        distinct, place = np.unique(ids, return_inverse=True)
        by_text = [numbers.setdefault(self.word_ids(int(i)).tobytes(), len(numbers)) for i in distinct]
        return np.asarray(by_text, dtype=np.int64)[place].reshape(np.shape(ids))
