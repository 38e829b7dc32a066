"""Exact n-gram counts of a corpus of any size, mergeable across shards, on disk if requested.

Words are integers of one vocabulary. Chunks of sentences are sorted into runs of distinct n-grams with counts
(:mod:`harness_metrics.crnrr.runs`), and runs of similar size are merged. N-grams do not cross sentences, and sentences are not
padded.
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
from harness_metrics.crnrr.runs import NgramRun, count_keys, count_keys_by_sentence, merge_runs, pack, unpack

Tokens = Sequence[str]
_SHORT = 100
"""Longest sentence, in words, whose repeated words are searched by comparing lags."""
CHUNK = 100_000
"""Number of sentences that are sorted together."""
MEMORY = 1 << 28
"""Number of distinct n-grams in memory (16 bytes or more each) above which runs are written to disk, if requested."""


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
        # Squared counts within sentences need the pairs of equal n-grams of a sentence. Captions are short: comparing
        # words lag by lag finds them faster than sorting by sentence, which long sentences need.
        repeats = _repeats(ids, sentence, lengths) if lengths.max(initial=0) <= _SHORT else None
        for order, keys, positions in _windows(ids, remaining, sorted(self.counts), self.bits):
            entry = self.counts[order]
            if repeats is None:
                run, within = count_keys_by_sentence(keys, sentence[positions])
            else:
                run, within = count_keys(keys), len(positions) + 2 * _equal_pairs(repeats, ids, remaining, order)
            entry.runs.append(run)
            entry.within += within
            entry.total += len(positions)
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
        # As in a log-structured merge tree: a run is merged with the one before it when it is at least half as long,
        # so that lengths grow geometrically. Runs on disk are never read again before the comparison.
        while len(runs) > 1 and len(runs[-1].counts) * 2 >= len(runs[-2].counts) and not runs[-2].on_disk:
            last, before = runs.pop(), runs.pop()
            runs.append(merge_runs([before, last]))
        if self._directory is not None and self._in_memory() > self._memory:
            self._spill()

    def _in_memory(self) -> int:
        """Return the number of distinct n-grams in memory, summed over runs."""
        return sum(len(run.counts) for entry in self.counts.values() for run in entry.runs if not run.on_disk)

    def _spill(self) -> None:
        """Merge the runs in memory and write them to disk."""
        assert self._directory is not None
        self._directory.mkdir(parents=True, exist_ok=True)
        for order, entry in self.counts.items():
            runs = [run for run in entry.runs if not run.on_disk]
            if runs:
                # Everything in memory becomes one run on disk: few files, each sorted, which the comparison reads by
                # key ranges.
                entry.runs = [run for run in entry.runs if run.on_disk]
                entry.runs.append(self._write(self._directory, merge_runs(runs), order))

    def _write(self, directory: Path, run: NgramRun, order: int) -> NgramRun:
        """Write a run to two files and return it as memory maps."""
        self._files += 1
        arrays: list[np.ndarray] = []
        for name, array in (("keys", run.keys), ("counts", run.counts)):
            file = directory / f"{id(self):x}-{order}-{self._files:05d}-{name}.npy"
            np.save(file, array)
            arrays.append(np.load(file, mmap_mode="r"))
        return NgramRun(*arrays)

    def merge(self, shard: NgramCounter) -> NgramCounter:
        """Add the counts of another shard, which may have another vocabulary, and return the counter.

        Raises :class:`HarnessError` when the orders differ.
        """
        if set(self.counts) != set(shard.counts):
            raise HarnessError(f"counters of orders {sorted(self.counts)} and {sorted(shard.counts)} cannot be merged")
        for order, runs in shard.in_vocabulary(self).items():
            entry, other_entry = self.counts[order], shard.counts[order]
            entry.total += other_entry.total
            entry.within += other_entry.within
            entry.squares += other_entry.squares
            for run in runs:
                entry.runs.append(run)
                self._compact(entry)
        self.sentences += shard.sentences
        return self

    def in_vocabulary(self, target: NgramCounter) -> dict[int, list[NgramRun]]:
        """Return the runs of each order with keys of the vocabulary of ``target``, which is extended by the words here."""
        if self.vocabulary is not target.vocabulary:
            index = target.vocabulary.index
            mapped = np.fromiter((index[word] for word in self.vocabulary.index), np.int64, len(self.vocabulary))
        else:
            mapped = None
        target.widen()
        self.widen()
        if mapped is None and self.bits == target.bits:
            return {order: entry.runs for order, entry in self.counts.items()}
        out: dict[int, list[NgramRun]] = {}
        for order, entry in self.counts.items():
            out[order] = []
            for run in entry.runs:
                words = unpack(run.keys, order, self.bits)
                # Numbers of words differ between vocabularies, and so does the order of the keys: the run is packed
                # and sorted anew.
                words = words if mapped is None else [mapped[column] for column in words]
                out[order].append(merge_runs([NgramRun(pack(words, target.bits), np.asarray(run.counts))]))
        return out


def _windows(
    ids: np.ndarray, remaining: np.ndarray, orders: Sequence[int], bits: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield (order, keys ``(columns, K)``, positions ``(K,)``) of each order that occurs in a chunk.

    ``ids`` ``(T,)`` are the words of the chunk, ``remaining`` ``(T,)`` the tokens left in the sentence.
    """
    key, narrow = ids.astype(np.uint64), ids.astype(np.uint64)
    for order in range(1, orders[-1] + 1):
        if 1 < order <= 64 // bits:  # one column: shift in the next word
            # Keys of order n are those of order n - 1 with one word more: the orders of a chunk cost one shift each.
            key = (key[:-1] << np.uint64(bits)) | narrow[order - 1 :]
        if order in orders:
            positions = np.flatnonzero(remaining >= order)
            if len(positions) and order <= 64 // bits:
                yield order, key[positions][None, :], positions
            elif len(positions):
                yield order, pack([ids[positions + k] for k in range(order)], bits), positions


def _repeats(ids: np.ndarray, sentence: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the pairs of positions ``(2, R)`` of equal words within a sentence, compared lag by lag."""
    pairs, shortest = [np.empty((2, 0), dtype=np.int64)], 1
    number = sentence.astype(np.int32)
    # A lag is compared over sentences that are long enough for it: most captions have at most 12 words and take part
    # in 11 comparisons, not in 99.
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
