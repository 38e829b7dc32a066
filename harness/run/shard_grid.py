"""Division of the examples of a run into shards: the unit of scoring, of memory, and of
work for other processes.

One example has limits in time and memory, by what the metric declares.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.contracts import Metric, cost_of
from harness.errors import HarnessError, InputError

MAX_SHARD = 5_000
"""Maximum number of examples per shard unless the user asks for more."""
MIN_SHARD = 64
BYTES_PER_TEXT = 4_000
"""Memory per text of a shard with its tokens, n-grams and statistics, by measurement
(``benchmarks/scale.py``).
"""
MAX_MEMORY = 1 << 30
"""Maximum memory of a shard in bytes."""
SHARE_OF_MEMORY = 1 / 8
"""Share of the available memory that a shard may take."""
SMALL_MEMORY = 64 << 20
"""Bytes that a process always has, so that the system is not asked."""
SHARDS_PER_WORKER = 4
MAX_SECONDS = 30.0
"""Maximum time of one example under one metric, unless the environment variable
``HARNESS_EXAMPLE_SECONDS`` gives another.
"""


@dataclass(frozen=True)
class ShardGrid:
    """Shards of equal size over the examples."""

    examples: int
    size: int

    def __len__(self) -> int:
        return -(-self.examples // self.size)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield the first example of each shard and its end."""
        return (
            (start, min(start + self.size, self.examples))
            for start in range(0, self.examples, self.size)
        )

    def of_part(self, run_part: Part | None) -> list[tuple[int, int]]:
        """Return the shards of a part of the run, in order; all for None."""
        shards = list(self)
        if run_part is None:
            return shards
        first = (run_part.index - 1) * len(shards) // run_part.count
        last = run_part.index * len(shards) // run_part.count
        return shards[first:last]


@dataclass(frozen=True)
class Part:
    """One of several parts of a run that different processes compute,
    ``index`` from 1 to ``count``.
    """

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """Return the part of a text ``i/N``.

        >>> Part.parse("2/3")
        Part(index=2, count=3)

        Raises :class:`InputError` for anything else, and for i outside 1 to N.
        """
        index, _, count = text.partition("/")
        if not index.strip().isdecimal() or not count.strip().isdecimal():
            raise InputError(
                f"shard is {text!r}; expected i/N, such as 1/3",
                parameter="shard",
                value=text,
            )
        run_part = cls(int(index), int(count))
        if not 1 <= run_part.index <= run_part.count:
            raise InputError(
                f"shard is {text!r}; expected i from 1 to {max(1, run_part.count)} "
                "in i/N",
                parameter="shard",
                value=text,
            )
        return run_part

    @classmethod
    def from_environment(cls) -> Part:
        """Return the part of this rank: ``RANK`` and ``WORLD_SIZE`` (torchrun), or
        ``SLURM_PROCID`` and ``SLURM_NTASKS``.

        Raises :class:`InputError` where neither pair is set to numbers.
        """
        for rank, size in (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")):
            values = [os.environ.get(name, "") for name in (rank, size)]
            if all(value.isdecimal() for value in values):
                return cls.parse(f"{int(values[0]) + 1}/{values[1]}")
        raise InputError(
            "the part of this rank needs RANK and WORLD_SIZE, "
            "or SLURM_PROCID and SLURM_NTASKS, in the environment"
        )

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


def grid_of(
    examples: int,
    texts_per_example: float,
    *,
    size: int | None = None,
    workers: int = 1,
    parts: int = 1,
) -> ShardGrid:
    """Return the shards of a run.

    Parameters
    ----------
    examples : int
        Number of examples.
    texts_per_example : float
        Number of texts of an example: candidates of all models and decodings, and
        references.
    size : int, optional
        Examples per shard; None: found from the available memory, the number of workers
        and of parts.
    workers, parts : int
        Number of workers that score shards at the same time, and of parts of the run.
    """
    if size is None:
        memory = min(MAX_MEMORY, int(available_memory() * SHARE_OF_MEMORY / workers))
        bytes_per_example = BYTES_PER_TEXT * max(1.0, texts_per_example)
        size = min(MAX_SHARD, max(MIN_SHARD, int(memory / bytes_per_example)))

        # Workers and parts that wait for the last shard should not wait long.
        if workers > 1:
            of_worker = -(-examples // (SHARDS_PER_WORKER * workers))
            size = min(size, max(MIN_SHARD, of_worker))
        if parts > 1:
            size = min(size, max(1, -(-examples // parts)))
    return ShardGrid(examples, max(1, size))


def available_memory() -> int:
    """Return the memory in bytes that processes can take without swapping;
    4 GiB where the system does not say.
    """
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 4 << 30
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    if "MemAvailable" not in fields:
        return 4 << 30
    return int(fields["MemAvailable"].split()[0]) * 1024


def check_example(
    label: str, metric: Metric, n: int, m: int, tokens: int, *, tested: bool
) -> None:
    """Raise :class:`HarnessError` where one example is too large for a metric.

    Parameters
    ----------
    label : str
        Label of the metric.
    metric : Metric
        The metric.
    n, m, tokens : int
        Numbers of candidates, of references, and of words of the longest text.
    tested : bool
        True with p-values.
    """
    cost = cost_of(metric, n, m, tokens, tested=tested)
    needed = cost.bytes + cost.fixed
    limit = _max_seconds()
    subject = f"{label} of {n} + {m} captions of up to {tokens:,} words"
    if needed > SMALL_MEMORY and needed > (memory := available_memory()):
        raise HarnessError(
            f"{subject} needs about {memory_text(needed)} of memory, "
            f"and {memory_text(memory)} are free; expected {cost.advice}"
        )
    if cost.seconds > limit:
        raise HarnessError(
            f"{subject} takes about {duration_text(cost.seconds)} for one example, "
            f"more than {limit:g} s (HARNESS_EXAMPLE_SECONDS); expected {cost.advice}"
        )


def _max_seconds() -> float:
    text = os.environ.get("HARNESS_EXAMPLE_SECONDS") or str(MAX_SECONDS)
    try:
        return float(text)
    except ValueError:
        raise HarnessError(
            f"HARNESS_EXAMPLE_SECONDS is {text!r}; expected a number of seconds"
        ) from None


def memory_text(count: float) -> str:
    """Return a number of bytes in words, such as ``1.2 GB``."""
    return f"{count / 1e9:,.1f} GB" if count >= 1e8 else f"{count / 1e6:,.0f} MB"


def duration_text(seconds: float) -> str:
    """Return a time in words, such as ``3 min``."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:,.0f} s"
