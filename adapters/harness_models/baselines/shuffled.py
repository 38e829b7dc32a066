"""The ``shuffled`` baseline: references of another example, which are fluent, in-domain
and irrelevant.
"""

from __future__ import annotations

import hashlib

import numpy as np

from harness.contracts import Example, Generation, TaskView
from harness.contracts.parameters import Count, Index, check_arguments
from harness.errors import HarnessError, InputError, counted
from harness_models.baselines.mixed import MixedCaptions


class Shuffled(MixedCaptions):
    """Captions of another example; the captions of every example are used exactly once.

    The examples form a ring, ordered by a hash of ``order`` and their ids. Each example
    gets references of the one before it, selected and ordered with its own seed. Its
    own references do not change. The result does not depend on the order of the file or
    on batches.

    Parameters
    ----------
    n
        Number of captions; default ``decoding.candidates``, else 1. An example with
        fewer references contributes all of them.
    order
        Number of the ring; another number gives another ring.

    Raises
    ------
    InputError
        For a parameter out of range, and in :meth:`prepare` for a task with one
        example.
    """

    default_size = 1

    @check_arguments
    def __init__(self, *, n: Count | None = None, order: Index = 0) -> None:
        self.n = n
        self.order = order
        self._partner: dict[str, Example] = {}

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        return f"shuffled:n={self.n}|order={self.order}"

    def prepare(self, task: TaskView) -> None:
        """Compute the ring; raise :class:`InputError` for a task with fewer than two
        examples.
        """
        if len(task.examples) < 2:
            raise InputError(
                f"shuffled: the task has {counted(len(task.examples), 'example')}; "
                "captions of another one need at least 2"
            )
        ring = sorted(
            task.examples,
            key=lambda example: (_hash(self.order, example.id), example.id),
        )
        self._partner = {example.id: ring[i - 1] for i, example in enumerate(ring)}

    def mix(self, example: Example, size: int, seed: int) -> Generation:
        """Return ``size`` references of the example before it in the ring,
        each once.
        """
        partner = self._partner.get(example.id)
        if partner is None:
            raise HarnessError(
                f"shuffled: the example '{example.id}' is not one of the task"
            )
        order = np.random.default_rng(seed).permutation(len(partner.references))[:size]
        return Generation(tuple(partner.references[i] for i in order.tolist()))


def _hash(order: int, name: str) -> bytes:
    """Return the position of an example in the ring."""
    return hashlib.blake2b(f"{order}\x1f{name}".encode(), digest_size=16).digest()
