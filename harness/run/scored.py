"""Per-example results of one metric, and their form on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.contracts import (
    Metric,
    Objects,
    Statistics,
    example_scores,
    is_defined,
    join_statistics,
)


@dataclass(frozen=True)
class Scored:
    """Per-example results of one metric, in the order of the examples that have
    candidates.
    """

    stats: Statistics
    """Sufficient statistics (B, d), NaN in column 0 of an undefined row,
    or the objects of a corpus metric.
    """
    p_values: np.ndarray | None
    """Permutation p-values, shape (B,), NaN where undefined."""
    p_floors: np.ndarray | None
    """Smallest p-value that the design of each example can give, shape (B,), NaN where
    the metric cannot score its shape.
    """
    p_method: str
    seconds: float
    p_note: str = ""
    """Reason why there are no p-values although they were requested, to follow the
    metric's name; empty otherwise.
    """
    p_sums: np.ndarray | None = None
    """Standardised statistics summed over the examples, under joint relabelings, shape
    (draws + 1,); None for another combination.
    """

    @property
    def p_floor(self) -> float:
        """Smallest p-value that the largest design can give; 1 without p-values."""
        floors = self.p_floors
        if floors is None or np.isnan(floors).all():
            return 1.0
        return float(np.nanmin(floors))

    @property
    def defined(self) -> np.ndarray:
        """Mask of the defined examples, bool, shape (B,)."""
        return is_defined(self.stats)

    def per_example(self, metric: Metric) -> np.ndarray:
        """Return one score per example, shape (B,), NaN where undefined."""
        return example_scores(metric, self.stats)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the content as arrays, for a statistics artifact: rows ``stats`` (B,
        d) or arrays of objects, ``p_values`` (B,).
        """
        if isinstance(self.stats, Objects):
            arrays = dict(self.stats.to_arrays())
        else:
            arrays = {"stats": self.stats}
        values = {
            "p_method": self.p_method,
            "seconds": self.seconds,
            "p_note": self.p_note or None,
            "p_values": self.p_values,
            "p_floors": self.p_floors,
            "p_sums": self.p_sums,
        }
        for name, value in values.items():
            if value is not None:
                arrays[name] = np.asarray(value)
        return arrays

    @classmethod
    def join(cls, shards: Sequence[Scored]) -> Scored:
        """Return the results of shards as one;
        statistics are padded with NaN to the widest.
        """
        if len(shards) == 1:
            return shards[0]

        # A shard may have no p-values: the metric can score none of its examples.
        p_values = p_floors = None
        if any(shard.p_values is not None for shard in shards):
            sizes = [len(shard.stats) for shard in shards]
            p_values = np.concatenate(
                [_or_nan(shard.p_values, n) for shard, n in zip(shards, sizes)]
            )
            p_floors = np.concatenate(
                [_or_nan(shard.p_floors, n) for shard, n in zip(shards, sizes)]
            )
        sums = [shard.p_sums for shard in shards if shard.p_sums is not None]

        methods: set[str] = set()
        for shard in shards:
            methods |= set(filter(None, shard.p_method.split(" + ")))
        notes = [shard.p_note for shard in shards if shard.p_note]
        return cls(
            join_statistics([shard.stats for shard in shards]),
            p_values,
            p_floors,
            " + ".join(sorted(methods)),
            sum(shard.seconds for shard in shards),
            notes[0] if notes else "",
            np.sum(sums, axis=0) if sums else None,
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Scored:
        """Return the content of :meth:`to_arrays`."""
        return cls(
            read_statistics(arrays),
            arrays.get("p_values"),
            arrays.get("p_floors"),
            str(arrays.get("p_method", "")),
            float(arrays["seconds"]),
            str(arrays.get("p_note", "")),
            arrays.get("p_sums"),
        )


def read_statistics(arrays: Mapping[str, np.ndarray]) -> Statistics:
    """Return the statistics among the arrays of a statistics artifact: rows (B, d),
    or objects.
    """
    return arrays["stats"] if "stats" in arrays else Objects.from_arrays(arrays)


def _or_nan(values: np.ndarray | None, count: int) -> np.ndarray:
    return np.full(count, np.nan) if values is None else values
