"""The ``human`` adapter: references held out become the candidates, the others remain the references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from harness.contracts import Decoding, Example, Generation, TaskView
from harness.errors import InputError


class Human:
    """Humans scored against humans. A sound metric must not tell the two apart.

    held_out: how many references become candidates: a number, or ``leave-one-out`` for one.
    split: which ones: ``random`` (drawn from the example's seed) or ``first``.
    index: the one reference to hold out, by its position from 0, in place of a draw (leave-one-out only).
    skip_small: an example with too few references is left out and counted, instead of being an error.

    No reference is ever both: candidates and remaining references together are the example's references, each once. Two
    references with the same words are two references.
    """

    def __init__(
        self,
        *,
        held_out: int | Literal["leave-one-out"] = "leave-one-out",
        split: Literal["first", "random"] = "random",
        index: int | None = None,
        skip_small: bool = False,
    ) -> None:
        if held_out == "leave-one-out":
            held_out = 1
        if not isinstance(held_out, int) or isinstance(held_out, bool) or held_out < 1:
            raise InputError(
                f"human: held_out is {held_out!r}; expected 'leave-one-out' or a whole number of at least 1"
            )
        if split not in ("first", "random"):
            raise InputError(f"human: split is {split!r}; expected 'first' or 'random'")
        if index is not None and (held_out != 1 or not isinstance(index, int) or isinstance(index, bool) or index < 0):
            raise InputError(
                f"human: index is {index!r} with held_out {held_out}; it names the one reference held out, from 0"
            )
        self.held_out = held_out
        self.split = split
        self.index = index
        self.skip_small = skip_small

    def fingerprint(self) -> str:
        which = self.split if self.index is None else f"index-{self.index}"
        return f"human:held_out={self.held_out}|{which}|skip_small={self.skip_small}"

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` that counts and names the examples with too few references, unless they are skipped."""
        refuse_small(task.examples, self._needed, "human", f"hold {self.held_out} out", skip=self.skip_small)

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Generation]:
        """``held_out`` candidates and the other references; no candidates for an example that is skipped."""
        for example, seed in zip(examples, seeds):
            if len(example.references) < self._needed:
                refuse_small([example], self._needed, "human", f"hold {self.held_out} out", skip=self.skip_small)
                yield Generation((), example.references)
            else:
                yield divided(example.references, self._chosen(len(example.references), seed))

    @property
    def _needed(self) -> int:
        return max(self.held_out + 1, (self.index or 0) + 1)

    def _chosen(self, m: int, seed: int) -> list[int]:
        if self.index is not None:
            return [self.index]
        if self.split == "first":
            return list(range(self.held_out))
        return np.random.default_rng(seed).permutation(m)[: self.held_out].tolist()


def divided(references: Sequence[str], chosen: Sequence[int]) -> Generation:
    """The chosen references as candidates, in the order chosen, and the others as references, in their own order."""
    taken = set(chosen)
    return Generation(
        tuple(references[i] for i in chosen),
        tuple(text for i, text in enumerate(references) if i not in taken),
    )


def refuse_small(examples: Sequence[Example], needed: int, name: str, wanted: str, *, skip: bool) -> None:
    """Raise :class:`InputError` that counts and names the examples with fewer references than ``needed``, unless ``skip``."""
    small = [example for example in examples if len(example.references) < needed]
    if not small or skip:
        return
    shown = ", ".join(f"'{example.id}' ({len(example.references)})" for example in small[:3])
    more = ", ..." if len(small) > 3 else ""
    raise InputError(
        f"{name}: {len(small)} of {len(examples)} examples have fewer than {needed} references, too few to {wanted} and"
        f" keep one: {shown}{more} (skip_small: true leaves them out)"
    )
