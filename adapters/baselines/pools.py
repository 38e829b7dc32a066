"""The ``pools`` baseline: candidate sets drawn from a pool of correct and a pool of incorrect captions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.adapters.baselines.central import check_count
from harness.adapters.baselines.mixture import Mixture
from harness.errors import InputError


class Pools(Mixture):
    """Sets of n captions: m from k references of the example, n - m from k captions of other examples, one of each.

    A draw takes the captions of a pool in a random order, again and again where m or n - m is above k, so that each caption of a pool
    occurs equally often, give or take one. All draws use the seed of the example.

    Parameters
    ----------
    unique
        Number k of captions of each pool.
    correct
        Number m of candidates from the pool of correct captions, 0 to n.
    n
        Size of a set; default ``decoding.candidates``, else 10.
    held_out
        Number of references of the example that are removed, at least k; default k.
    skip_small
        If true, examples with too few references are skipped and counted; else they are an error.

    Raises
    ------
    InputError
        For a parameter out of range, and in :meth:`prepare` for examples with too few references.

    References
    ----------
    Chan et al. (2022), Distribution Aware Metrics for Conditional Natural Language Generation, appendix B.2. The paper does not state
    whether a draw is with replacement.
    """

    def __init__(
        self,
        *,
        unique: int,
        correct: int,
        n: int | None = None,
        held_out: int | None = None,
        skip_small: bool = False,
    ) -> None:
        check_count(unique, "pools: unique")
        check_count(correct, "pools: correct", least=0)
        if n is not None and correct > n:
            raise InputError(f"pools: correct is {correct}, more than the {n} candidates of a set")
        if held_out is not None and held_out < unique:
            raise InputError(f"pools: held_out is {held_out}, fewer than the {unique} captions of the correct pool")
        super().__init__(unique=2 * unique, correct=unique, held_out=held_out, skip_small=skip_small)
        check_count(n, "pools: n")
        self.pool, self.share, self.n = unique, correct, n

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        return f"pools:unique={self.pool}|correct={self.share}|n={self.n}|held_out={self.held_out}|skip_small={self.skip_small}"

    def check_size(self, size: int) -> None:
        """Raise :class:`InputError` for more correct candidates than candidates."""
        if self.share > size:
            raise InputError(f"pools: {size} candidates are too few for {self.share} correct ones")

    def _arranged(
        self, correct: Sequence[str], others: Sequence[str], size: int, rng: np.random.Generator
    ) -> tuple[str, ...]:
        """Return ``size`` candidates in a random order, ``share`` of them correct."""
        texts = [*_drawn(correct, self.share, rng), *_drawn(others, size - self.share, rng)]
        return tuple(texts[i] for i in rng.permutation(size).tolist())


def _drawn(pool: Sequence[str], count: int, rng: np.random.Generator) -> list[str]:
    """Return ``count`` captions of a pool in a random order, which is repeated where the pool is smaller."""
    order: list[int] = rng.permutation(len(pool)).tolist()
    return [pool[order[i % len(pool)]] for i in range(count)]
