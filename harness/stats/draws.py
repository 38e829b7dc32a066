"""One family of random weight vectors over examples,
shared by all systems and metrics of a comparison.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from harness.contracts import SplitColumns

Kind = Literal["resamples", "assignments"]
BLOCK = 256
"""Number of weight vectors that are drawn together. Each block has its own generator,
so that a family of fewer draws is the beginning of a larger one.
"""


class DrawFamily:
    """Bootstrap counts and random assignments over B examples, determined by B and the
    seed.

    Parameters
    ----------
    n_examples : int
        Number of examples B.
    count : int
        Number of weight vectors of each kind.
    seed : int
        Seed of the generators.
    """

    def __init__(self, n_examples: int, count: int, seed: int) -> None:
        self.n_examples = n_examples
        self.count = count
        self.seed = seed

    @property
    def exact(self) -> bool:
        """True when the assignments are all 2^B, since there are at most ``count``."""
        # Numbers of 60 bits and more are not formed.
        return self.n_examples < 60 and (1 << self.n_examples) <= self.count

    @property
    def n_assignments(self) -> int:
        """Number of assignments: ``count``, or 2^B."""
        return 1 << self.n_examples if self.exact else self.count

    def resamples(self, count: int | None = None) -> Iterator[np.ndarray]:
        """Yield bootstrap counts, float64, in blocks (at most :data:`BLOCK`, B): rows
        are draws with replacement and sum to B.
        """
        n = self.n_examples
        for rows, rng in self._blocks(self.count if count is None else count, 0):
            # The whole block is drawn, so that fewer rows are the beginning of more.
            draws = rng.integers(0, n, size=(BLOCK, n))[:rows]
            # Rows are counted at once, each in cells of its own.
            cells = draws + n * np.arange(rows)[:, None]
            flat = np.bincount(cells.ravel(), minlength=rows * n)
            yield flat.reshape(rows, n).astype(np.float64)

    def assignments(self, count: int | None = None) -> Iterator[np.ndarray]:
        """Yield assignments, float64 zeros and ones, in blocks (at most :data:`BLOCK`,
        B).

        A one leaves an example with its system, a zero exchanges the two systems. Every
        value has probability one half; with :attr:`exact` each of the 2^B patterns
        occurs once.
        """
        n = self.n_examples
        total = self.n_assignments if count is None else min(count, self.n_assignments)
        if self.exact:
            for start in range(0, total, BLOCK):
                patterns = np.arange(start, min(start + BLOCK, total))
                yield ((patterns[:, None] >> np.arange(n)) & 1).astype(np.float64)
            return

        for rows, rng in self._blocks(total, 1):
            octets = np.frombuffer(rng.bytes(BLOCK * -(-n // 8)), dtype=np.uint8)
            octets = octets.reshape(BLOCK, -1)
            yield np.unpackbits(octets[:rows], axis=1, count=n).astype(np.float64)

    def _blocks(
        self, total: int, kind: int
    ) -> Iterator[tuple[int, np.random.Generator]]:
        """Yield the number of rows and the generator of each block."""
        for index, start in enumerate(range(0, total, BLOCK)):
            rng = np.random.default_rng([self.seed, self.n_examples, kind, index])
            yield min(BLOCK, total - start), rng


def resampled_sums(family: DrawFamily, kind: Kind, columns: np.ndarray) -> np.ndarray:
    """Return weighted sums of columns (B, K) under every weight vector of a kind,
    shape (draws, K).

    The sums of a column do not depend on the columns beside it: a pair of systems has
    the same digits alone and among others.
    """
    blocks = family.resamples() if kind == "resamples" else family.assignments()
    split = SplitColumns(columns)
    return np.concatenate([split.weighted_sums(weights) for weights in blocks])
