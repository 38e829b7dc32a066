"""Set sizes of a run: the references that count where it uses fewer than an example
has, and the smallest common size.

Each example has one random order of its references, from the seed of the run and its
id. A cut keeps the first of this order, so that sets of different sizes are nested and
all models see the same ones; held-out people come from its other end
(:mod:`harness_models.human`). People and references are then exchangeable, whatever the
order of the data set.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from harness.contracts import Example
from harness.stats.seeds import derive


@dataclass(frozen=True, slots=True)
class ReferenceSubset:
    """Choice of the references of every example."""

    size: int | None = None
    """Number of references that count; None: all."""
    seed: int | None = None
    """Seed of the run, with which they are drawn; None: the first ones count."""

    def arrange(
        self,
        example: Example,
        own: Sequence[str] | None,
        held_out: Sequence[int] | None,
    ) -> tuple[str, ...]:
        """Return the references that an answer leaves, those that count first.

        They keep the order of the data set where the first ones count, and where there
        are no more than count.

        Parameters
        ----------
        example : Example
            The example.
        own : sequence of str or None
            The references that the answer of a model left; None: all.
        held_out : sequence of int or None
            The positions of the others, where the answer says so.
        """
        remaining = example.references if own is None else tuple(own)
        if self.seed is None or self.size is None or len(remaining) <= self.size:
            return remaining
        if own is None or held_out is not None:
            order = drawn_order(self.seed, example, held_out or ())
            return tuple(example.references[i] for i in order)

        # An adapter that does not say which references it removed: an order of those
        # that remain, independent of its own draws.
        seed = derive(self.seed, example.id, "references")
        return tuple(remaining[i] for i in _permutation(seed, len(remaining)))


def drawn_order(
    seed: int, example: Example, held_out: Collection[int] = ()
) -> list[int]:
    """Return the positions of an example's references in the order in which they are
    drawn, without those that are held out.

    >>> drawn_order(0, Example("image-1", tuple("abcde")))
    [4, 1, 0, 3, 2]
    >>> drawn_order(0, Example("image-1", tuple("abcde")), held_out=[2, 3])
    [4, 1, 0]
    """
    order = _permutation(derive(seed, example.id), len(example.references))
    removed = set(held_out)
    return [position for position in reversed(order) if position not in removed]


def _permutation(seed: int, count: int) -> list[int]:
    return np.random.default_rng(seed).permutation(count).tolist()
