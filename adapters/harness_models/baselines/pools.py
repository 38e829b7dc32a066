"""The ``pools`` baseline: captions from a pool of correct and one of incorrect ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.contracts.parameters import Count, Index, check_arguments
from harness.errors import InputError
from harness_models.baselines.mixed import Mixture, draw_in_turn


class Pools(Mixture):
    """Sets of n captions: m from k references of the example, n - m from k captions of
    other examples, one of each.

    A draw takes the captions of a pool in a random order, again and again where m or
    n - m is above k, so that each caption of a pool occurs equally often, give or take
    one. All draws use the seed of the example.

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
        If true, examples with too few references are skipped and counted; else they are
        an error.

    Raises
    ------
    InputError
        For a parameter out of range, and in :meth:`prepare` for examples with too few
        references.

    References
    ----------
    Chan et al. (2022), Distribution Aware Metrics for Conditional Natural Language
    Generation, appendix B.2. The paper does not state whether a draw is with
    replacement.
    """

    name = "pools"

    @check_arguments
    def __init__(
        self,
        *,
        unique: Count,
        correct: Index,
        n: Count | None = None,
        held_out: Index | None = None,
        skip_small: bool = False,
    ) -> None:
        if held_out is not None and held_out < unique:
            raise InputError(
                f"pools: held_out is {held_out}, fewer than the {unique} captions of "
                "the correct pool"
            )
        if n is not None and correct > n:
            raise InputError(
                f"pools: correct is {correct}, more than the {n} candidates of a set"
            )

        super().__init__(unique=unique, held_out=held_out, skip_small=skip_small)
        # A mixture of ``unique`` correct captions, with as many wrong ones beside them.
        self.correct = correct
        self.n = n
        self.drawn_wrong = unique

    def check_size(self, size: int) -> None:
        """Raise :class:`InputError` for more correct candidates than candidates."""
        if self.correct > size:
            raise InputError(
                f"pools: {size} candidates are too few for {self.correct} correct ones"
            )

    def arrange(
        self,
        correct: Sequence[str],
        wrong: Sequence[str],
        size: int,
        rng: np.random.Generator,
    ) -> tuple[str, ...]:
        """Return ``size`` candidates in a random order, ``correct`` of them correct."""
        texts = [
            *draw_in_turn(correct, self.correct, rng),
            *draw_in_turn(wrong, size - self.correct, rng),
        ]
        return tuple(texts[i] for i in rng.permutation(size).tolist())
