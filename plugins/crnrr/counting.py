"""Exact n-gram counts of a corpus of any size: sorted runs of packed keys, mergeable across shards, spilled to disk on request.

Words become integers of one vocabulary, n words are packed into 64-bit columns (16 bits a word, 32 once the vocabulary
outgrows them), chunks are sorted into runs of distinct keys with counts, and runs of similar size are merged. Packing puts the
first word highest, so runs stay sorted when the width changes. N-grams lie within a sentence; there is no padding.
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
"""Words in the longest sentence of a chunk up to which repeated words are found by comparing lags."""
CHUNK = 100_000
"""Sentences that are sorted together."""
MEMORY = 1 << 28
"""Distinct n-grams (16 bytes each, more for wide keys) held in memory before runs go to disk, if there is a directory."""


@dataclass(frozen=True, eq=False)
class NgramRun:
    """Distinct n-grams in ascending order with their counts."""

    keys: np.ndarray
    """(columns, K) uint64, the first column most significant."""
    counts: np.ndarray
    """(K,) int64."""


@dataclass(eq=False)
class OrderCounts:
    """What one corpus holds of n-grams of one order."""

    runs: list[NgramRun]
    total: int = 0
    """n-gram tokens T."""
    within: int = 0
    """Sum over sentences of the squared counts inside the sentence."""
    squares: int = 0
    """Sum over sentences of the squared number of n-gram tokens."""


class Vocabulary:
    """Words as integers in the order of their first appearance; shared between the corpora of one comparison."""

    def __init__(self) -> None:
        self.index: defaultdict[str, int] = defaultdict(count().__next__)

    def __len__(self) -> int:
        return len(self.index)

    def ids(self, sentences: Sequence[Tokens], total: int) -> np.ndarray:
        """(total,) int64, new words added."""
        return np.fromiter(map(self.index.__getitem__, chain.from_iterable(sentences)), np.int64, total)


class NgramCounter:
    """Counts of the n-grams of some orders over a corpus that is seen once, piece by piece.

    Counters of shards are merged with :meth:`merge`; counts and every statistic are those of one pass over all shards.
    With ``directory`` (or ``spill=True`` for a temporary one) memory stays bounded by ``memory`` distinct n-grams.
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
                raise HarnessError(f"n is {order!r}; an n-gram order is an integer of at least 1")
        self.vocabulary = vocabulary or Vocabulary()
        self.counts = {int(order): OrderCounts([]) for order in orders}
        self.sentences = 0
        self.bits = 16
        self._memory = memory
        self._temporary = tempfile.TemporaryDirectory(prefix="ngrams-") if spill and directory is None else None
        self._directory = Path(self._temporary.name) if self._temporary else directory
        self._files = 0

    def add(self, sentences: Iterable[Tokens]) -> NgramCounter:
        """Count sentences (sequences of tokens), streamed in chunks; returns itself. Raises :class:`InputError` for a string."""
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
        lengths = np.fromiter(map(len, chunk), np.int64, len(chunk))
        ids = self.vocabulary.ids(chunk, int(lengths.sum()))
        self.widen()
        sentence = np.repeat(np.arange(len(chunk)), lengths)
        remaining = np.repeat(np.cumsum(lengths), lengths) - np.arange(
            len(ids)
        )  # tokens from here to the sentence's end
        repeats = _repeats(ids, sentence, lengths) if lengths.max(initial=0) <= _SHORT else None
        for order, keys, place in _windows(ids, remaining, sorted(self.counts), self.bits):
            held = self.counts[order]
            if repeats is None:
                run, within = _counted(keys, sentence[place])
            else:
                run, within = _run(keys), len(place) + 2 * _repeated(repeats, ids, remaining, order)
            held.runs.append(run)
            held.within += within
            held.total += len(place)
            own = np.maximum(lengths - order + 1, 0)
            held.squares += int((own * own).sum())
            self._compact(held)

    def widen(self) -> None:
        """Repack the runs when the (shared) vocabulary has outgrown 16 bits a word."""
        if self.bits == 16 and len(self.vocabulary) > 1 << 16:
            for order, held in self.counts.items():
                held.runs = [NgramRun(pack(unpack(r.keys, order, 16), 32), np.asarray(r.counts)) for r in held.runs]
            self.bits = 32
        if len(self.vocabulary) > 1 << 32:
            raise HarnessError("a vocabulary of more than 2**32 words is not supported")

    def _compact(self, held: OrderCounts) -> None:
        """Merge the newest runs while they are of similar size: every n-gram is moved O(log) times."""
        runs = held.runs
        while len(runs) > 1 and len(runs[-1].counts) * 2 >= len(runs[-2].counts) and not _on_disk(runs[-2]):
            last, before = runs.pop(), runs.pop()
            runs.append(merged([before, last]))
        if self._directory is not None and self._held() > self._memory:
            self._spill()

    def _held(self) -> int:
        return sum(len(run.counts) for held in self.counts.values() for run in held.runs if not _on_disk(run))

    def _spill(self) -> None:
        assert self._directory is not None
        self._directory.mkdir(parents=True, exist_ok=True)
        for order, held in self.counts.items():
            inside = [run for run in held.runs if not _on_disk(run)]
            if inside:
                held.runs = [run for run in held.runs if _on_disk(run)]
                held.runs.append(self._written(merged(inside), order))

    def _written(self, run: NgramRun, order: int) -> NgramRun:
        self._files += 1
        arrays = []
        for name, array in (("keys", run.keys), ("counts", run.counts)):
            file = Path(str(self._directory)) / f"{id(self):x}-{order}-{self._files:05d}-{name}.npy"
            np.save(file, array)
            arrays.append(np.load(file, mmap_mode="r"))
        return NgramRun(*arrays)

    def merge(self, other: NgramCounter) -> NgramCounter:
        """Add the counts of another shard (which may have its own vocabulary); returns itself.

        Raises :class:`HarnessError` when the orders differ.
        """
        if set(self.counts) != set(other.counts):
            raise HarnessError(f"counters of orders {sorted(self.counts)} and {sorted(other.counts)} cannot be merged")
        for order, runs in other.in_vocabulary(self).items():
            held, theirs = self.counts[order], other.counts[order]
            held.total += theirs.total
            held.within += theirs.within
            held.squares += theirs.squares
            for run in runs:
                held.runs.append(run)
                self._compact(held)
        self.sentences += other.sentences
        return self

    def in_vocabulary(self, other: NgramCounter) -> dict[int, list[NgramRun]]:
        """This counter's runs with the keys of ``other``'s vocabulary (whose words are extended by ours)."""
        if self.vocabulary is not other.vocabulary:
            index = other.vocabulary.index
            mapped = np.fromiter((index[word] for word in self.vocabulary.index), np.int64, len(self.vocabulary))
        else:
            mapped = None
        other.widen()
        self.widen()
        if mapped is None and self.bits == other.bits:
            return {order: held.runs for order, held in self.counts.items()}
        out: dict[int, list[NgramRun]] = {}
        for order, held in self.counts.items():
            out[order] = []
            for run in held.runs:
                words = unpack(run.keys, order, self.bits)
                words = words if mapped is None else [mapped[column] for column in words]
                out[order].append(merged([NgramRun(pack(words, other.bits), np.asarray(run.counts))]))
        return out


# --------------------------------------------------------------------------- keys and runs
def pack(words: Sequence[np.ndarray], bits: int) -> np.ndarray:
    """(columns, K) uint64 of n arrays of word ids, 64 // bits words a column, the first word highest."""
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
    """For each order that occurs: (order, packed keys, position of each), from word ids and the tokens left in the sentence."""
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
    per, mask = 64 // bits, np.uint64((1 << bits) - 1)
    words = []
    for start in range(0, order, per):
        size = min(per, order - start)
        column = np.asarray(keys[start // per])
        words.extend(((column >> np.uint64(bits * (size - 1 - k))) & mask).astype(np.int64) for k in range(size))
    return words


def sort_order(keys: np.ndarray) -> np.ndarray:
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])


def changes(keys: np.ndarray) -> np.ndarray:
    """(K,) bool: where a sorted key differs from the one before."""
    new = np.ones(keys.shape[1], dtype=bool)
    new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    return new


def _run(keys: np.ndarray) -> NgramRun:
    """The run of the n-gram tokens of one chunk."""
    ordered = np.sort(keys, axis=1) if len(keys) == 1 else keys[:, sort_order(keys)]
    starts = np.flatnonzero(changes(ordered))
    return NgramRun(ordered[:, starts], np.diff(starts, append=keys.shape[1]))


def _counted(keys: np.ndarray, sentence: np.ndarray) -> tuple[NgramRun, int]:
    """The same with the sum of squared counts within sentences, of any length. ``sentence`` ascends along the keys."""
    order = sort_order(keys)
    keys, sentence = keys[:, order], sentence[order]
    new = changes(keys)
    starts = np.flatnonzero(new)
    counts = np.diff(starts, append=keys.shape[1])
    new[1:] |= sentence[1:] != sentence[:-1]  # equal keys stand by sentence, as the sort is stable
    inside = np.diff(np.flatnonzero(new), append=keys.shape[1])
    return NgramRun(keys[:, starts], counts), int((inside * inside).sum())


def _repeats(ids: np.ndarray, sentence: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """(2, R) positions of equal words in one sentence, compared lag by lag, sentences of similar length together."""
    found, shortest = [np.empty((2, 0), dtype=np.int64)], 1
    number = sentence.astype(np.int32)
    for longest in (12, 24, 48, _SHORT):
        at = np.flatnonzero(((lengths > shortest) & (lengths <= longest))[sentence])
        own, group = ids[at].astype(np.int32), number[at]
        for lag in range(1, min(longest, len(own))):
            same = own[lag:] == own[:-lag]
            same &= group[lag:] == group[:-lag]
            first = np.flatnonzero(same)
            found.append(np.stack([at[first], at[first + lag]]))
        shortest = longest
    return np.concatenate(found, axis=1)


def _repeated(repeats: np.ndarray, ids: np.ndarray, remaining: np.ndarray, order: int) -> int:
    """Pairs of equal n-gram tokens in one sentence: pairs of equal words that go on being equal."""
    first, second = repeats
    kept = remaining[second] >= order
    first, second = first[kept], second[kept]
    for k in range(1, order):
        kept = ids[first + k] == ids[second + k]
        first, second = first[kept], second[kept]
    return len(first)


def merged(runs: Sequence[NgramRun]) -> NgramRun:
    """One run of the distinct n-grams of several, their counts added."""
    keys = np.concatenate([run.keys for run in runs], axis=1)
    counts = np.concatenate([run.counts for run in runs])
    order = sort_order(keys)
    keys = keys[:, order]
    starts = np.flatnonzero(changes(keys))
    return NgramRun(keys[:, starts], np.add.reduceat(counts[order], starts) if len(starts) else counts)


def _on_disk(run: NgramRun) -> bool:
    return isinstance(run.counts, np.memmap)


def partitions(sides: Sequence[Sequence[NgramRun]], size: int = 1 << 22) -> Iterator[list[NgramRun]]:
    """One merged run per side for each key range of about ``size`` n-grams: all of them, no n-gram in two ranges."""
    runs = [run for side in sides for run in side if len(run.counts)]
    pieces = max(1, -(-sum(len(run.counts) for run in runs) // size))
    largest = max(runs, key=lambda run: len(run.counts)).keys[0] if runs else np.empty(0, np.uint64)
    at = np.arange(1, pieces) * len(largest) // pieces
    edges = np.unique(np.asarray(largest[at])).tolist()
    for low, high in zip([None, *edges], [*edges, None]):
        yield [_joined([_between(run, low, high) for run in side]) for side in sides]


def _joined(runs: Sequence[NgramRun]) -> NgramRun:
    return merged(runs) if len(runs) > 1 else runs[0] if runs else _EMPTY


_EMPTY = NgramRun(np.empty((1, 0), np.uint64), np.empty(0, np.int64))


def _between(run: NgramRun, low: int | None, high: int | None) -> NgramRun:
    first = run.keys[0]
    start = 0 if low is None else int(np.searchsorted(first, np.uint64(low)))
    stop = len(first) if high is None else int(np.searchsorted(first, np.uint64(high)))
    return NgramRun(np.asarray(run.keys[:, start:stop]), np.asarray(run.counts[start:stop]))
