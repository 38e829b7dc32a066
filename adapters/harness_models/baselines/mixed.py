"""The ``mixture`` baseline, and the base class of those that mix correct captions with
wrong ones.

All draws use the seed of the example, so that a set does not depend on the order of the
examples or on batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from harness.contracts import Candidates, Decoding, Example, Generation, TaskView
from harness.contracts.parameters import Count, Index, check_arguments
from harness.errors import HarnessError, InputError
from harness.files.captions import quote_list
from harness_models.baselines.central import DEFAULT_N
from harness_models.human.adapter import hold_out, refuse_small

TRIES = 64
"""Random draws per caption of another example before all examples are tried."""


class MixedCaptions:
    """Base: one set of ``n`` mixed captions per example.

    A subclass defines :meth:`mix`.
    """

    default_size: ClassVar[int] = DEFAULT_N
    """Size of a set if neither the adapter nor the decoding gives one."""
    n: int | None = None
    """Size of a set; default ``decoding.candidates``."""

    def size(self, decoding: Decoding) -> int:
        """Return the number of candidates of a set."""
        return self.n or decoding.candidates or self.default_size

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Candidates]:
        """Yield the set of each example."""
        for example, seed in zip(examples, seeds):
            yield self.mix(example, self.size(decoding), seed)

    def mix(self, example: Example, size: int, seed: int) -> Generation | Candidates:
        """Return ``size`` candidates of an example."""
        raise NotImplementedError


class Mixture(MixedCaptions):
    """Candidate sets with independent diversity and correctness: k unique captions, m
    of them references of the example.

    All draws use the seed of the example. The captions for smaller k and m are a subset
    of those for larger values.

    Parameters
    ----------
    unique
        Number k of different captions of a set; they are repeated in turn up to ``n``.
    correct
        Number m of captions, 0 to k, that are held-out references of the example. The
        others are references of other examples, one of each. Default: k.
    n
        Size of a set; default ``decoding.candidates``, else 10. If k does not divide n,
        the first captions occur once more.
    held_out
        Number of references of the example that are removed, at least m; default m.
        With equal values all cells of a k x m study are scored against the same
        references.
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
    Generation, appendix B.2.
    """

    name: ClassVar[str] = "mixture"

    @check_arguments
    def __init__(
        self,
        *,
        unique: Count = 5,
        correct: Index | None = None,
        n: Count | None = None,
        held_out: Index | None = None,
        skip_small: bool = False,
    ) -> None:
        correct = unique if correct is None else correct
        self.unique = unique
        self.correct = correct
        self.n = n
        self.skip_small = skip_small
        self.held_out = correct if held_out is None else held_out

        if correct > unique:
            raise InputError(
                f"mixture: correct is {correct}, more than the {unique} unique captions"
            )
        if self.held_out < correct:
            raise InputError(
                f"mixture: held_out is {self.held_out}, "
                f"fewer than the {correct} correct captions"
            )
        if n is not None and n < unique:
            raise InputError(f"mixture: n is {n}, too few for {unique} unique captions")

        self.drawn_correct = correct
        self.drawn_wrong = unique - correct
        self._pool: list[Example] = []

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        names = ("unique", "correct", "n", "held_out", "skip_small")
        return f"{self.name}:" + "|".join(
            f"{name}={getattr(self, name)}" for name in names
        )

    def prepare(self, task: TaskView) -> None:
        """Store the examples to draw from; raise :class:`InputError` for sets that
        cannot be drawn and examples with too few references.
        """
        self.check_size(self.size(task.decoding))
        if self.drawn_wrong > len(task.examples) - 1:
            raise InputError(
                f"{self.name}: {self.drawn_wrong} captions of other examples are "
                "needed; the task has"
                f" {len(task.examples) - 1} other examples"
            )
        self._refuse_small(task.examples)
        # sorted: the draws do not depend on the order of the file
        self._pool = sorted(task.examples, key=lambda example: example.id)

    def check_size(self, size: int) -> None:
        """Raise :class:`InputError` for sets of ``size`` candidates that are too
        small.
        """
        if size < self.unique:
            raise InputError(
                f"mixture: {size} candidates are too few for {self.unique} unique "
                "captions"
            )

    def mix(self, example: Example, size: int, seed: int) -> Generation:
        """Return ``size`` candidates and the remaining references;
        no candidates for an example that is skipped.
        """
        if (
            len(example.references) <= self.held_out
            or len(set(example.references)) < self.drawn_correct
        ):
            self._refuse_small([example])
            return Generation((), example.references)
        # One stream each: the correct captions stay the same when the number of wrong
        # ones changes.
        split = self._hold_correct_out(example, np.random.default_rng([seed, 0]))
        wrong = self._draw_wrong(example, np.random.default_rng([seed, 1]))
        correct = split.candidates[: self.drawn_correct]
        order = np.random.default_rng([seed, 2])
        return replace(split, candidates=self.arrange(correct, wrong, size, order))

    def arrange(
        self,
        correct: Sequence[str],
        wrong: Sequence[str],
        size: int,
        rng: np.random.Generator,
    ) -> tuple[str, ...]:
        """Return ``size`` candidates: the unique ones in a random order, in turn."""
        return tuple(draw_in_turn([*correct, *wrong], size, rng))

    def _refuse_small(self, examples: Sequence[Example]) -> None:
        refuse_small(
            examples,
            self.held_out + 1,
            self.name,
            f"hold {self.held_out} out",
            skip=self.skip_small,
        )

        # Equal references count once: a set has `correct` different correct captions.
        alike = [
            example
            for example in examples
            if len(set(example.references)) < self.drawn_correct
        ]
        if alike and not self.skip_small:
            raise InputError(
                f"{self.name}: {len(alike)} of {len(examples)} examples have fewer "
                f"than {self.drawn_correct} different references: "
                f"{quote_list([example.id for example in alike])} "
                "(skip_small: true skips them)"
            )

    def _hold_correct_out(
        self, example: Example, rng: np.random.Generator
    ) -> Generation:
        """Return the references that are held out, different ones first,
        and the remaining references.
        """
        references = example.references
        order: list[int] = rng.permutation(len(references)).tolist()
        first: dict[str, int] = {}
        for i in order:
            first.setdefault(references[i], i)
        # references that repeat another one are held out last
        order.sort(key=lambda i: first[references[i]] != i)
        return hold_out(references, order[: self.held_out])

    def _draw_wrong(self, example: Example, rng: np.random.Generator) -> list[str]:
        """Return captions of as many other examples;
        none of them is a reference of this example.
        """
        count = self.drawn_wrong
        texts: dict[str, None] = {}

        if not count:
            return []

        references = set(example.references)
        used = {example.id}

        # Each of the other examples gives at most one caption, and none that this
        # example has as a reference.
        for position in self._positions(count, rng):
            neighbour = self._pool[position]
            if neighbour.id in used:
                continue
            order = rng.permutation(len(neighbour.references)).tolist()
            shuffled = (neighbour.references[i] for i in order)
            fresh = (t for t in shuffled if t not in references and t not in texts)
            text = next(fresh, None)

            if text is not None:
                used.add(neighbour.id)
                texts[text] = None
                if len(texts) == count:
                    return list(texts)

        raise HarnessError(
            f"{self.name}: found {len(texts)} captions of other examples for "
            f"'{example.id}'; expected {count}"
        )

    def _positions(self, count: int, rng: np.random.Generator) -> Iterator[int]:
        """Yield positions of other examples: independent draws, sufficient in a large
        task, then a permutation of all positions.
        """
        total = len(self._pool)
        for _ in range(TRIES * count):
            yield int(rng.integers(total))
        yield from rng.permutation(total).tolist()


def draw_in_turn(
    pool: Sequence[str], count: int, rng: np.random.Generator
) -> list[str]:
    """Return ``count`` captions of a pool in a random order,
    which is repeated where the pool is smaller.
    """
    order: list[int] = rng.permutation(len(pool)).tolist()
    return [pool[order[i % len(pool)]] for i in range(count)]
