"""Baselines that mix correct captions with wrong ones: ``mixture``,
``pools`` and ``epsilon-mixture``.

All draws use the seed of the example, so that a set does not depend on the order of the
examples or on batches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from harness.contracts import Candidates, Decoding, Example, Generation, TaskView
from harness.contracts.parameters import Count, Index, Share, check_arguments
from harness.errors import HarnessError, InputError, counted
from harness.files.captions import quote_list
from harness_metrics.discrepancy.mixing import draw
from harness_models.baselines.central import DEFAULT_N
from harness_models.human.adapter import hold_out, refuse_small
from harness_tasks.readers.lines import words_of

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
        return replace(
            split,
            candidates=self.arrange(
                correct, wrong, size, np.random.default_rng([seed, 2])
            ),
        )

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
        alike = [
            example
            for example in examples
            if len(set(example.references)) < self.drawn_correct
        ]
        if alike and not self.skip_small:
            raise InputError(
                f"{self.name}: {len(alike)} of {len(examples)} examples have fewer "
                f"than {self.drawn_correct} different"
                f" references: {quote_list([example.id for example in alike])} "
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
        for position in self._positions(count, rng):
            neighbour = self._pool[position]
            if neighbour.id in used:
                continue
            order = rng.permutation(len(neighbour.references)).tolist()
            text = next(
                (
                    t
                    for i in order
                    if (t := neighbour.references[i]) not in references
                    and t not in texts
                ),
                None,
            )
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


class Pools(Mixture):
    """Sets of n captions: m from k references of the example, n - m from k captions of
    other examples, one of each.

    A draw takes the captions of a pool in a random order, again and again where m or n -
    m is above k, so that each caption of a pool occurs equally often, give or take one.
    All draws use the seed of the example.

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


def draw_in_turn(
    pool: Sequence[str], count: int, rng: np.random.Generator
) -> list[str]:
    """Return ``count`` captions of a pool in a random order,
    which is repeated where the pool is smaller.
    """
    order: list[int] = rng.permutation(len(pool)).tolist()
    return [pool[order[i % len(pool)]] for i in range(count)]


class EpsilonMixture(MixedCaptions):
    """Draws from the distribution ``(1 - epsilon) * empirical + epsilon * noise``.

    Every candidate is an independent draw with the seed of its example. The words of a
    noise sentence are uniform over the distinct words of the references.

    Parameters
    ----------
    epsilon
        Share of noise, from 0 (a model that has memorised the references) to 1.
    length
        Number of words of a noise sentence (5 in the paper), or ``same``: that of a
        random reference.

    Raises
    ------
    InputError
        For a parameter out of range, and in :meth:`prepare` for references without
        words.

    References
    ----------
    Li et al. (ICML 2020), section 6, Figure 2.
    """

    default_size = 1

    @check_arguments
    def __init__(
        self, *, epsilon: Share, length: Count | Literal["same"] = "same"
    ) -> None:
        self.epsilon = float(epsilon)
        self.length = length
        self._sentences: list[list[str]] = []
        self._vocabulary: list[str] = []

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        return f"epsilon-mixture|epsilon:{self.epsilon:g}|length:{self.length}"

    def prepare(self, task: TaskView) -> None:
        """Store the references of all examples;
        raise :class:`InputError` if they contain no word.
        """
        self._sentences = [
            [text] for example in task.examples for text in example.references
        ]
        self._vocabulary = sorted(
            {word for (text,) in self._sentences for word in words_of(text)}
        )
        if not self._vocabulary:
            raise InputError("epsilon-mixture: the references contain no word")

    def mix(self, example: Example, size: int, seed: int) -> Candidates:
        """Return ``size`` draws."""
        rng = np.random.default_rng([seed, 0])
        return tuple(self._draw_caption(rng) for _ in range(size))

    def _draw_caption(self, rng: np.random.Generator) -> str:
        # Drawn for any ``length``, so that cells of a study with other lengths of noise
        # repeat the same references.
        (text,) = self._sentences[int(rng.integers(len(self._sentences)))]
        length = (
            self.length if isinstance(self.length, int) else max(1, len(words_of(text)))
        )
        return " ".join(
            draw(self._sentences, self._vocabulary, self.epsilon, length, rng)
        )


# --------------------------------------------------------------------------- shuffled
# The ``shuffled`` baseline: references of another example, which are fluent, in-domain
# and irrelevant.


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
