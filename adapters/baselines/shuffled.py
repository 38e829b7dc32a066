"""The ``shuffled`` baseline: references of another example. Fluent, in-domain, irrelevant."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np

from harness.adapters.baselines.central import check_count
from harness.contracts import Decoding, Example, Generation, TaskView
from harness.errors import HarnessError, InputError


class Shuffled:
    """Every example is given captions of another one, and every example's captions are given to another one.

    n: how many captions; else ``decoding.candidates``, else 1. An example with fewer references gives all it has.
    order: the examples stand in a ring ordered by a hash of this number and their ids, and each is given captions of the
        next: no example keeps its own, none is used twice, and neither the order of the file nor batches matter.

    Which of the other's references, and in which order, is drawn from the example's seed. The references stay as they are.
    """

    def __init__(self, *, n: int | None = None, order: int = 0) -> None:
        check_count(n, "shuffled: n")
        check_count(order, "shuffled: order", least=0)
        self.n = n
        self.order = order
        self._partner: dict[str, Example] = {}

    def fingerprint(self) -> str:
        return f"shuffled:n={self.n}|order={self.order}"

    def prepare(self, task: TaskView) -> None:
        """Close the ring; raise :class:`InputError` where there is one example only."""
        if len(task.examples) < 2:
            raise InputError(f"shuffled: takes captions of another example, but there is only {len(task.examples)}")
        ring = sorted(task.examples, key=lambda example: (_hash(self.order, example.id), example.id))
        self._partner = {example.id: ring[i - 1] for i, example in enumerate(ring)}

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Generation]:
        """``n`` references of the example's partner, each once."""
        count = self.n or decoding.candidates or 1
        for example, seed in zip(examples, seeds):
            partner = self._partner.get(example.id)
            if partner is None:
                raise HarnessError(f"shuffled: the example '{example.id}' was not among those prepared")
            order = np.random.default_rng(seed).permutation(len(partner.references))[:count]
            yield Generation(tuple(partner.references[i] for i in order.tolist()))


def _hash(order: int, name: str) -> bytes:
    return hashlib.blake2b(f"{order}\x1f{name}".encode(), digest_size=16).digest()
