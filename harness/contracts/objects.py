"""Objects of a corpus metric: one per example, held as arrays of all examples, so that
shards are stored and joined as arrays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast, overload

import numpy as np

from harness.errors import HarnessError

ARRAY = ""
"""Name of the column of objects that are one array each."""
JSON = "{}"
"""Name of the column of objects that are stored as JSON."""
_COLUMN = "objects."
_COUNT = "counts."
"""Prefixes of the names under which columns and counts are stored."""


@dataclass(frozen=True, eq=False)
class Objects(Sequence[Any]):
    """Objects of B examples.

    An index gives one object; an array of indices or a mask gives the objects of these
    examples.

    An object is an array, a mapping from names to arrays, or a JSON value (numbers,
    texts, lists, mappings with texts as keys, such as counts of n-grams). Arrays of a
    name may differ in length between examples, not in the shape behind the first axis.
    """

    columns: Mapping[str, np.ndarray]
    """Values by name, those of all examples one after the other, shape (T, ...)."""
    counts: Mapping[str, np.ndarray]
    """Number of values of each example by name, shape (B,)."""
    defined: np.ndarray
    """Bool, shape (B,); False for an example without an object."""

    @classmethod
    def of(cls, objects: Sequence[object], metric: str) -> Objects:
        """Return the objects of a batch, None for an undefined example.

        Raises :class:`HarnessError`, which names the metric, for an object that is
        neither an array, a mapping of arrays nor JSON.
        """
        defined = np.array([item is not None for item in objects], dtype=bool)
        encoded = [{} if item is None else _to_arrays(item, metric) for item in objects]
        names = list(dict.fromkeys(name for arrays in encoded for name in arrays))

        # An example without a name has no values in its column, and the count 0.
        columns: dict[str, np.ndarray] = {}
        counts: dict[str, np.ndarray] = {}
        for name in names:
            values = [arrays.get(name) for arrays in encoded]
            present = [array for array in values if array is not None]
            lengths = [0 if array is None else len(array) for array in values]
            columns[name] = _concatenate(present, name, f"metric '{metric}'")
            counts[name] = np.array(lengths, dtype=np.int64)
        return cls(columns, counts, defined)

    @classmethod
    def join(cls, shards: Sequence[Objects]) -> Objects:
        """Return the objects of several shards, in their order."""
        if len(shards) == 1:
            return shards[0]
        names = list(dict.fromkeys(name for shard in shards for name in shard.columns))

        # A shard of undefined examples alone has no column.
        columns: dict[str, np.ndarray] = {}
        counts: dict[str, np.ndarray] = {}
        for name in names:
            present = [shard.columns[name] for shard in shards if name in shard.columns]
            lengths = [
                shard.counts.get(name, np.zeros(len(shard), np.int64))
                for shard in shards
            ]
            columns[name] = _concatenate(present, name, "a metric")
            counts[name] = np.concatenate(lengths)
        return cls(columns, counts, np.concatenate([shard.defined for shard in shards]))

    def values(self, name: str = ARRAY) -> np.ndarray:
        """Return the values of a name, those of all examples one after the other,
        shape (T, ...).
        """
        return self.columns[name]

    def owners(self, name: str = ARRAY) -> np.ndarray:
        """Return the example of each value of a name, shape (T,)."""
        return np.repeat(np.arange(len(self)), self.counts[name])

    def starts(self, name: str = ARRAY) -> np.ndarray:
        """Return the position of the first value of each example among the values of a
        name, shape (B,).
        """
        return self._starts[name]

    @cached_property
    def _starts(self) -> dict[str, np.ndarray]:
        return {
            name: np.cumsum(counts) - counts for name, counts in self.counts.items()
        }

    def __len__(self) -> int:
        return len(self.defined)

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice | np.ndarray) -> Objects: ...

    def __getitem__(self, index: int | slice | np.ndarray) -> Any:
        """Return the object of an example, None where it is undefined; or the objects
        of several examples.
        """
        if isinstance(index, (int, np.integer)):
            return self._object(range(len(self))[index])

        # The values of example k lie from starts[k] on; a running number, set back to 0
        # at each example, counts through them.
        examples = np.arange(len(self))[index]
        columns: dict[str, np.ndarray] = {}
        counts: dict[str, np.ndarray] = {}
        for name, values in self.columns.items():
            lengths = self.counts[name][examples]
            first = np.repeat(np.cumsum(lengths) - lengths, lengths)
            running = np.arange(int(lengths.sum())) - first
            starts = np.repeat(self._starts[name][examples], lengths)
            columns[name] = values[starts + running]
            counts[name] = lengths
        return Objects(columns, counts, self.defined[examples])

    def _object(self, example: int) -> Any:
        if not self.defined[example]:
            return None
        arrays: dict[str, np.ndarray] = {}
        for name, values in self.columns.items():
            start = int(self._starts[name][example])
            arrays[name] = values[start : start + int(self.counts[name][example])]
        if JSON in arrays:
            return json.loads(arrays[JSON].tobytes())
        return arrays.get(ARRAY, arrays)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the content as arrays by name."""
        columns = {f"{_COLUMN}{name}": values for name, values in self.columns.items()}
        counts = {f"{_COUNT}{name}": values for name, values in self.counts.items()}
        return {**columns, **counts, "defined": self.defined}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Objects:
        """Return the content of :meth:`to_arrays`."""
        columns: dict[str, np.ndarray] = {}
        counts: dict[str, np.ndarray] = {}
        for name, values in arrays.items():
            if name.startswith(_COLUMN):
                columns[name.removeprefix(_COLUMN)] = values
            elif name.startswith(_COUNT):
                counts[name.removeprefix(_COUNT)] = values
        return cls(columns, counts, arrays["defined"])


def _to_arrays(item: Any, metric: str) -> dict[str, np.ndarray]:
    """Return an object as arrays by name."""
    values_by_name: Mapping[str, Any] = {ARRAY: item}
    if isinstance(item, Mapping):
        values_by_name = cast("Mapping[str, Any]", item)
    are_arrays = all(isinstance(v, np.ndarray) for v in values_by_name.values())
    if not values_by_name or not are_arrays:
        return {JSON: _json_bytes(item, metric)}

    # An array of objects could not be stored.
    arrays: dict[str, np.ndarray] = {
        name: np.atleast_1d(value) for name, value in values_by_name.items()
    }
    for array in arrays.values():
        if array.dtype.kind not in "biufcU":
            raise HarnessError(
                f"metric '{metric}' collects an array of {array.dtype}; expected "
                "numbers, booleans or texts"
            )
    return arrays


def _json_bytes(item: Any, metric: str) -> np.ndarray:
    try:
        text = json.dumps(item, allow_nan=False)
        # JSON turns tuples into lists, and keys that are numbers into texts
        is_unchanged = json.loads(text) == item
    except (TypeError, ValueError):
        is_unchanged = False
        text = ""
    if not is_unchanged:
        raise HarnessError(
            f"metric '{metric}' collects {item!r:.60}; "
            "expected per example an array, a mapping from names to arrays, "
            "or what JSON gives back unchanged "
            "(texts, numbers, lists, mappings with texts as keys)"
        )
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _concatenate(arrays: Sequence[np.ndarray], name: str, owner: str) -> np.ndarray:
    shapes = list(dict.fromkeys(array.shape[1:] for array in arrays))
    if len(shapes) > 1:
        label = f" '{name}'" if name else ""
        raise HarnessError(
            f"{owner} collects arrays{label} of the shapes "
            f"{' and '.join(map(str, shapes))} behind the first axis; "
            "expected one shape"
        )
    return np.concatenate(arrays)


Statistics = np.ndarray | Objects
"""Statistics that a metric keeps of B examples: float64 rows (B, d), NaN in column 0
where an example is undefined, or :class:`Objects`.
"""


def is_defined(stats: Statistics) -> np.ndarray:
    """Return the mask of the defined examples, bool, shape (B,)."""
    if isinstance(stats, Objects):
        return stats.defined
    return ~np.isnan(stats[:, 0]) if stats.size else np.zeros(len(stats), dtype=bool)


def example_scores(metric: Any, stats: Statistics) -> np.ndarray:
    """Return the score of each example by a metric, shape (B,), NaN where it is
    undefined.
    """
    scores = np.full(len(stats), np.nan)
    defined = is_defined(stats)
    if defined.any():
        scores[defined] = metric.per_example(stats[defined])
    return scores


def place_statistics(
    blocks: Sequence[tuple[np.ndarray, Statistics]], total: int
) -> Statistics:
    """Return the statistics of ``total`` examples from those of blocks.

    Parameters
    ----------
    blocks : sequence of (ndarray, Statistics)
        Positions of the examples of a block, shape (b,), and their statistics. Rows
        that are shorter than others are filled up with NaN; examples that are in no
        block are undefined.
    total : int
        Number of examples.
    """
    if any(isinstance(stats, Objects) for _, stats in blocks):
        return _place_objects(blocks, total)

    arrays = [(positions, np.asarray(stats)) for positions, stats in blocks]
    width = max((rows.shape[1] for _, rows in arrays), default=1)
    out = np.full((total, width), np.nan)
    for positions, rows in arrays:
        out[positions, : rows.shape[1]] = rows
    return out


def _place_objects(
    blocks: Sequence[tuple[np.ndarray, Statistics]], total: int
) -> Objects:
    """Return the objects of ``total`` examples, as :func:`place_statistics`."""
    joined = Objects.join([stats for _, stats in blocks if isinstance(stats, Objects)])
    present = np.concatenate([positions for positions, _ in blocks])

    # Examples that are in no block are appended as undefined ones, and all are then
    # brought into order.
    missing = np.setdiff1d(np.arange(total), present)
    empty = Objects(
        {name: values[:0] for name, values in joined.columns.items()},
        {name: np.zeros(len(missing), np.int64) for name in joined.counts},
        np.zeros(len(missing), dtype=bool),
    )
    order = np.argsort(np.concatenate([present, missing]), kind="stable")
    return Objects.join([joined, empty])[order]


def join_statistics(shards: Sequence[Statistics]) -> Statistics:
    """Return the statistics of shards as one, in their order."""
    if len(shards) == 1:
        return shards[0]
    sizes = [len(shard) for shard in shards]
    positions = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    return place_statistics(list(zip(positions, shards)), sum(sizes))
