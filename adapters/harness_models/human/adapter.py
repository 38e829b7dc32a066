"""The ``human`` adapter: held-out references are the candidates,
the other references remain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from harness.contracts import Decoding, Example, Generation, TaskView
from harness.errors import InputError


class Human:
    """Human captions scored against human captions.

    A sound metric does not separate the two groups.

    Candidates and remaining references together are the references of the example, each
    once. Two references with the same words count as two.

    Parameters
    ----------
    held_out
        Number of references that become candidates; ``leave-one-out`` is 1.
    split
        ``random`` (drawn with the seed of the example) or ``first``.
    index
        Position, from 0, of the reference to hold out, in place of a draw. Requires
        ``leave-one-out``.
    skip_small
        If true, examples with too few references are skipped and counted; else they are
        an error.

    Raises
    ------
    InputError
        For a parameter out of range, and in :meth:`prepare` for examples with too few
        references.
    """

    prepare_only_checks = True

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
                f"human: held_out is {held_out!r}; expected 'leave-one-out' or a "
                "whole number of at least 1"
            )
        if split not in ("first", "random"):
            raise InputError(f"human: split is {split!r}; expected 'first' or 'random'")
        if index is not None and (
            held_out != 1
            or not isinstance(index, int)
            or isinstance(index, bool)
            or index < 0
        ):
            raise InputError(
                f"human: index is {index!r} with held_out {held_out}; "
                "expected the position from 0 of a single held-out reference"
            )

        self.held_out = held_out
        self.split = split
        self.index = index
        self.skip_small = skip_small

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        selection = self.split if self.index is None else f"index-{self.index}"
        return (
            f"human:held_out={self.held_out}|{selection}|skip_small={self.skip_small}"
        )

    def prepare(self, task: TaskView) -> None:
        """Raise :class:`InputError` with the number and ids of the examples with too
        few references, unless they are skipped.
        """
        refuse_small(
            task.examples,
            self._needed,
            "human",
            f"hold {self.held_out} out",
            skip=self.skip_small,
        )

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation]:
        """Yield ``held_out`` candidates and the remaining references per example; no
        candidates for a skipped example.
        """
        for example, seed in zip(examples, seeds):
            if len(example.references) < self._needed:
                refuse_small(
                    [example],
                    self._needed,
                    "human",
                    f"hold {self.held_out} out",
                    skip=self.skip_small,
                )
                yield Generation((), example.references)
            else:
                yield hold_out(
                    example.references, self._indices(len(example.references), seed)
                )

    @property
    def _needed(self) -> int:
        return max(self.held_out + 1, (self.index or 0) + 1)

    def _indices(self, m: int, seed: int) -> list[int]:
        if self.index is not None:
            return [self.index]
        if self.split == "first":
            return list(range(self.held_out))
        return np.random.default_rng(seed).permutation(m)[: self.held_out].tolist()


def hold_out(references: Sequence[str], indices: Sequence[int]) -> Generation:
    """Return the references at ``indices`` as candidates, in that order, and the others
    as references, in their original order.

    >>> split = hold_out(["a", "b", "c"], [2])
    >>> split.candidates, split.references, split.held_out
    (('c',), ('a', 'b'), (2,))
    """
    held_out = set(indices)
    remaining = tuple(text for i, text in enumerate(references) if i not in held_out)
    return Generation(
        tuple(references[i] for i in indices), remaining, held_out=tuple(indices)
    )


def refuse_small(
    examples: Sequence[Example], needed: int, name: str, purpose: str, *, skip: bool
) -> None:
    """Raise :class:`InputError` for examples with fewer references than ``needed``,
    unless ``skip`` is true.

    The message gives their number, the first ids, the adapter ``name`` and the
    ``purpose`` of the references ("hold 2 out").
    """
    small = [example for example in examples if len(example.references) < needed]
    if not small or skip:
        return

    ids = ", ".join(
        f"'{example.id}' ({len(example.references)})" for example in small[:3]
    )
    more = ", ..." if len(small) > 3 else ""
    raise InputError(
        f"{name}: {len(small)} of {len(examples)} examples have fewer than {needed} "
        f"references, too few to {purpose} and keep one: {ids}{more} "
        "(skip_small: true skips them)"
    )
