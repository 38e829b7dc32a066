"""Exact n-gram counts of a corpus of any size, mergeable across shards, on disk if requested.

Words are integers of one vocabulary. The n words of an n-gram are packed into 64-bit columns, 16 bits per word, or 32 bits
when the vocabulary has more than 2**16 words. Chunks of sentences are sorted into runs of distinct keys with counts, and
runs of similar size are merged. The first word has the highest bits, so that runs stay sorted when the width changes.
N-grams do not cross sentences, and sentences are not padded.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path

import numpy as np

from harness.errors import HarnessError, InputError

Tokens = Sequence[str]
_SHORT = 100
"""Longest sentence, in words, whose repeated words are searched by comparing lags."""
CHUNK = 100_000
"""Number of sentences that are sorted together."""
MEMORY = 1 << 28
"""Number of distinct n-grams in memory (16 bytes or more each) above which runs are written to disk, if requested."""


@dataclass(frozen=True, eq=False)
class NgramRun:
    """Distinct n-grams in ascending order with their counts."""

    keys: np.ndarray
    """``(columns, K)`` uint64, the first column the most significant."""
    counts: np.ndarray
    """``(K,)`` int64."""


@dataclass(eq=False)
class OrderCounts:
    """Counts of one corpus for one order."""

    runs: list[NgramRun]
    """Runs whose counts add up to those of the corpus."""
    total: int = 0
    """Number of n-gram tokens T."""
    within: int = 0
    """Sum over sentences of the squared counts within the sentence."""
    squares: int = 0
    """Sum over sentences of the squared number of n-gram tokens."""


class Vocabulary:
    """Words as integers in order of first appearance; the corpora of one comparison share it."""

    def __init__(self) -> None:
        self.index: defaultdict[str, int] = defaultdict(count().__next__)

    def __len__(self) -> int:
        return len(self.index)

    def ids(self, sentences: Sequence[Tokens], total: int) -> np.ndarray:
        """Return the ids of all words, int64 of shape ``(total,)``; new words are added."""
        return np.fromiter(map(self.index.__getitem__, chain.from_iterable(sentences)), np.int64, total)


class NgramCounter:
    """Counts of the n-grams of several orders over a corpus that is read once.

    :meth:`merge` adds the counts of another shard; the result equals one pass over both.

    Parameters
    ----------
    orders : sequence of int, default (1, 2, 3, 4)
        Orders n, each at least 1.
    vocabulary : Vocabulary, optional
        Vocabulary shared with other counters; a new one by default.
    directory : Path, optional
        Folder for runs on disk, which bounds the memory.
    spill : bool, default False
        Write runs to a temporary folder when ``directory`` is not given.
    memory : int, default 2**28
        Number of distinct n-grams in memory above which runs are written to disk.

    Raises
    ------
    HarnessError
        For an order that is not an integer of at least 1.

    Examples
    --------
    >>> counter = NgramCounter((1, 2)).add([["a", "b", "a"], ["b"]])
    >>> counter.counts[1].total, counter.counts[2].total
    (4, 2)
    """

    def __init__(
        self,
        orders: Sequence[int] = (1, 2, 3, 4),
        *,
        vocabulary: Vocabulary | None = None,
        directory: Path | None = None,
        spill: bool = False,
        memory: int = MEMORY,
    ) -> None:
        for order in orders:
            if isinstance(order, bool) or int(order) != order or order < 1:
                raise HarnessError(f"n is {order!r}; expected an integer of at least 1", parameter="n", value=order)
        self.vocabulary = vocabulary or Vocabulary()
        self.counts = {int(order): OrderCounts([]) for order in orders}
        self.sentences = 0
        self.bits = 16
        self._memory = memory
        self._temporary = tempfile.TemporaryDirectory(prefix="ngrams-") if spill and directory is None else None
        self._directory = Path(self._temporary.name) if self._temporary else directory
        self._files = 0

    def add(self, sentences: Iterable[Tokens]) -> NgramCounter:
        """Count sentences (sequences of tokens), read in chunks, and return the counter.

        Raises :class:`InputError` for a sentence that is a string.
        """
        stream = iter(sentences)
        while chunk := list(islice(stream, CHUNK)):
            if str in set(map(type, chunk)):
                at = next(k for k, sentence in enumerate(chunk) if isinstance(sentence, str))
                raise InputError(
                    f"found the text {chunk[at]!r:.60}, expected a list of tokens", f"sentence {self.sentences + at}"
                )
            self._add_chunk(chunk)
            self.sentences += len(chunk)
        return self

    def _add_chunk(self, chunk: Sequence[Tokens]) -> None:
        """Count the sentences of one chunk."""
        lengths = np.fromiter(map(len, chunk), np.int64, len(chunk))
        ids = self.vocabulary.ids(chunk, int(lengths.sum()))
        self.widen()
        sentence = np.repeat(np.arange(len(chunk)), lengths)
        # Number of tokens from each token to the end of its sentence.
        remaining = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(ids))
        repeats = _repeats(ids, sentence, lengths) if lengths.max(initial=0) <= _SHORT else None
        for order, keys, place in _windows(ids, remaining, sorted(self.counts), self.bits):
            entry = self.counts[order]
            if repeats is None:
                run, within = _run_with_sentences(keys, sentence[place])
            else:
                run, within = _run(keys), len(place) + 2 * _equal_pairs(repeats, ids, remaining, order)
            entry.runs.append(run)
            entry.within += within
            entry.total += len(place)
            sizes = np.maximum(lengths - order + 1, 0)
            entry.squares += int((sizes * sizes).sum())
            self._compact(entry)

    def widen(self) -> None:
        """Repack the runs to 32 bits per word when the shared vocabulary has more than 2**16 words."""
        if self.bits == 16 and len(self.vocabulary) > 1 << 16:
            for order, entry in self.counts.items():
                entry.runs = [NgramRun(pack(unpack(r.keys, order, 16), 32), np.asarray(r.counts)) for r in entry.runs]
            self.bits = 32
        if len(self.vocabulary) > 1 << 32:
            raise HarnessError("a vocabulary of more than 2**32 words is not supported")

    def _compact(self, entry: OrderCounts) -> None:
        """Merge the newest runs while they are of similar size, so that an n-gram moves O(log T) times; spill if needed."""
        runs = entry.runs
        while len(runs) > 1 and len(runs[-1].counts) * 2 >= len(runs[-2].counts) and not _on_disk(runs[-2]):
            last, before = runs.pop(), runs.pop()
            runs.append(merge_runs([before, last]))
        if self._directory is not None and self._in_memory() > self._memory:
            self._spill()

    def _in_memory(self) -> int:
        """Return the number of distinct n-grams in memory, summed over runs."""
        return sum(len(run.counts) for entry in self.counts.values() for run in entry.runs if not _on_disk(run))

    def _spill(self) -> None:
        """Merge the runs in memory and write them to disk."""
        assert self._directory is not None
        self._directory.mkdir(parents=True, exist_ok=True)
        for order, entry in self.counts.items():
            inside = [run for run in entry.runs if not _on_disk(run)]
            if inside:
                entry.runs = [run for run in entry.runs if _on_disk(run)]
                entry.runs.append(self._write(self._directory, merge_runs(inside), order))

    def _write(self, directory: Path, run: NgramRun, order: int) -> NgramRun:
        """Write a run to two files and return it as memory maps."""
        self._files += 1
        arrays = []
        for name, array in (("keys", run.keys), ("counts", run.counts)):
            file = directory / f"{id(self):x}-{order}-{self._files:05d}-{name}.npy"
            np.save(file, array)
            arrays.append(np.load(file, mmap_mode="r"))
        return NgramRun(*arrays)

    def merge(self, other: NgramCounter) -> NgramCounter:
        """Add the counts of another shard, which may have another vocabulary, and return the counter.

        Raises :class:`HarnessError` when the orders differ.
        """
        if set(self.counts) != set(other.counts):
            raise HarnessError(f"counters of orders {sorted(self.counts)} and {sorted(other.counts)} cannot be merged")
        for order, runs in other.in_vocabulary(self).items():
            entry, theirs = self.counts[order], other.counts[order]
            entry.total += theirs.total
            entry.within += theirs.within
            entry.squares += theirs.squares
            for run in runs:
                entry.runs.append(run)
                self._compact(entry)
        self.sentences += other.sentences
        return self

    def in_vocabulary(self, other: NgramCounter) -> dict[int, list[NgramRun]]:
        """Return the runs of each order with keys of the vocabulary of ``other``, which is extended by the words here."""
        if self.vocabulary is not other.vocabulary:
            index = other.vocabulary.index
            mapped = np.fromiter((index[word] for word in self.vocabulary.index), np.int64, len(self.vocabulary))
        else:
            mapped = None
        other.widen()
        self.widen()
        if mapped is None and self.bits == other.bits:
            return {order: entry.runs for order, entry in self.counts.items()}
        out: dict[int, list[NgramRun]] = {}
        for order, entry in self.counts.items():
            out[order] = []
            for run in entry.runs:
                words = unpack(run.keys, order, self.bits)
                words = words if mapped is None else [mapped[column] for column in words]
                out[order].append(merge_runs([NgramRun(pack(words, other.bits), np.asarray(run.counts))]))
        return out


# --------------------------------------------------------------------------- keys and runs
def pack(words: Sequence[np.ndarray], bits: int) -> np.ndarray:
    """Return the keys of n-grams, uint64 ``(columns, K)``; the first word has the highest bits.

    Parameters
    ----------
    words : sequence of ndarray
        n arrays ``(K,)`` of word ids, by position in the n-gram.
    bits : int
        Bits per word; a column holds ``64 // bits`` words.
    """
    per = 64 // bits
    columns = []
    for start in range(0, len(words), per):
        key = words[start].astype(np.uint64)
        for word in words[start + 1 : start + per]:
            key = (key << np.uint64(bits)) | word.astype(np.uint64)
        columns.append(key)
    return np.stack(columns)


def _windows(
    ids: np.ndarray, remaining: np.ndarray, orders: Sequence[int], bits: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield (order, keys ``(columns, K)``, positions ``(K,)``) of each order that occurs in a chunk.

    ``ids`` ``(T,)`` are the words of the chunk, ``remaining`` ``(T,)`` the tokens left in the sentence.
    """
    key, narrow = ids.astype(np.uint64), ids.astype(np.uint64)
    for order in range(1, orders[-1] + 1):
        if 1 < order <= 64 // bits:  # one column: shift in the next word
            key = (key[:-1] << np.uint64(bits)) | narrow[order - 1 :]
        if order in orders:
            place = np.flatnonzero(remaining >= order)
            if len(place) and order <= 64 // bits:
                yield order, key[place][None, :], place
            elif len(place):
                yield order, pack([ids[place + k] for k in range(order)], bits), place


def unpack(keys: np.ndarray, order: int, bits: int) -> list[np.ndarray]:
    """Return the n arrays ``(K,)`` of word ids of keys ``(columns, K)``, the inverse of :func:`pack`."""
    per, mask = 64 // bits, np.uint64((1 << bits) - 1)
    words = []
    for start in range(0, order, per):
        size = min(per, order - start)
        column = np.asarray(keys[start // per])
        words.extend(((column >> np.uint64(bits * (size - 1 - k))) & mask).astype(np.int64) for k in range(size))
    return words


def sort_order(keys: np.ndarray) -> np.ndarray:
    """Return the indices ``(K,)`` that sort keys ``(columns, K)``; equal keys keep their order."""
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])


def changes(keys: np.ndarray) -> np.ndarray:
    """Return ``(K,)`` True where a key of sorted keys ``(columns, K)`` differs from its predecessor."""
    new = np.ones(keys.shape[1], dtype=bool)
    new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    return new


def _run(keys: np.ndarray) -> NgramRun:
    """Return the run of n-gram tokens ``(columns, T)``."""
    ordered = np.sort(keys, axis=1) if len(keys) == 1 else keys[:, sort_order(keys)]
    starts = np.flatnonzero(changes(ordered))
    return NgramRun(ordered[:, starts], np.diff(starts, append=keys.shape[1]))


def _run_with_sentences(keys: np.ndarray, sentence: np.ndarray) -> tuple[NgramRun, int]:
    """Return the run of n-gram tokens and the sum of squared counts within sentences.

    ``sentence`` ``(T,)`` is the ascending number of the sentence of each token; sentences have any length.
    """
    order = sort_order(keys)
    keys, sentence = keys[:, order], sentence[order]
    new = changes(keys)
    starts = np.flatnonzero(new)
    counts = np.diff(starts, append=keys.shape[1])
    new[1:] |= sentence[1:] != sentence[:-1]  # equal keys are in order of sentences, as the sort is stable
    inside = np.diff(np.flatnonzero(new), append=keys.shape[1])
    return NgramRun(keys[:, starts], counts), int((inside * inside).sum())


def _repeats(ids: np.ndarray, sentence: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the pairs of positions ``(2, R)`` of equal words within a sentence, compared lag by lag."""
    pairs, shortest = [np.empty((2, 0), dtype=np.int64)], 1
    number = sentence.astype(np.int32)
    for longest in (12, 24, 48, _SHORT):
        at = np.flatnonzero(((lengths > shortest) & (lengths <= longest))[sentence])
        word, group = ids[at].astype(np.int32), number[at]
        for lag in range(1, min(longest, len(word))):
            same = word[lag:] == word[:-lag]
            same &= group[lag:] == group[:-lag]
            first = np.flatnonzero(same)
            pairs.append(np.stack([at[first], at[first + lag]]))
        shortest = longest
    return np.concatenate(pairs, axis=1)


def _equal_pairs(repeats: np.ndarray, ids: np.ndarray, remaining: np.ndarray, order: int) -> int:
    """Return the number of pairs of equal n-gram tokens within a sentence: pairs of equal words with equal successors."""
    first, second = repeats
    equal = remaining[second] >= order
    first, second = first[equal], second[equal]
    for k in range(1, order):
        equal = ids[first + k] == ids[second + k]
        first, second = first[equal], second[equal]
    return len(first)


def merge_runs(runs: Sequence[NgramRun]) -> NgramRun:
    """Return one run of the distinct n-grams of several runs, their counts added."""
    keys = np.concatenate([run.keys for run in runs], axis=1)
    counts = np.concatenate([run.counts for run in runs])
    order = sort_order(keys)
    keys = keys[:, order]
    starts = np.flatnonzero(changes(keys))
    return NgramRun(keys[:, starts], np.add.reduceat(counts[order], starts) if len(starts) else counts)


def _on_disk(run: NgramRun) -> bool:
    return isinstance(run.counts, np.memmap)


def partitions(sides: Sequence[Sequence[NgramRun]], size: int = 1 << 22) -> Iterator[list[NgramRun]]:
    """Yield one merged run per side for each key range of about ``size`` n-grams.

    The ranges cover all n-grams and do not overlap, so that runs on disk are read piece by piece.

    Parameters
    ----------
    sides : sequence of sequences of NgramRun
        Runs of each corpus, with keys of one vocabulary and width.
    size : int, default 2**22
        Approximate number of n-grams per range, all sides together.
    """
    runs = [run for side in sides for run in side if len(run.counts)]
    pieces = max(1, -(-sum(len(run.counts) for run in runs) // size))
    largest = max(runs, key=lambda run: len(run.counts)).keys[0] if runs else np.empty(0, np.uint64)
    at = np.arange(1, pieces) * len(largest) // pieces
    edges = np.unique(np.asarray(largest[at])).tolist()
    for low, high in zip([None, *edges], [*edges, None]):
        yield [_merge_any([_between(run, low, high) for run in side]) for side in sides]


def _merge_any(runs: Sequence[NgramRun]) -> NgramRun:
    """Return the merged run of any number of runs; empty for none."""
    return merge_runs(runs) if len(runs) > 1 else runs[0] if runs else _EMPTY


_EMPTY = NgramRun(np.empty((1, 0), np.uint64), np.empty(0, np.int64))


def _between(run: NgramRun, low: int | None, high: int | None) -> NgramRun:
    """Return the part of a run with first columns in ``[low, high)``; None is no bound."""
    first = run.keys[0]
    start = 0 if low is None else int(np.searchsorted(first, np.uint64(low)))
    stop = len(first) if high is None else int(np.searchsorted(first, np.uint64(high)))
    return NgramRun(np.asarray(run.keys[:, start:stop]), np.asarray(run.counts[start:stop]))
