"""The ``mixture`` baseline: candidate sets with a given number of unique and of correct captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness.adapters.baselines.central import DEFAULT_N, check_count
from harness.adapters.human.adapter import divided, refuse_small
from harness.contracts import Decoding, Example, Generation, TaskView
from harness.errors import HarnessError, InputError
from harness.files.captions import listed

TRIES = 64
"""Random draws per caption of another example before all examples are tried."""


class Mixture:
    """Candidate sets with independent diversity and correctness: k unique captions, m of them references of the example.

    All draws use the seed of the example. The captions for smaller k and m are a subset of those for larger values.

    Parameters
    ----------
    unique
        Number k of different captions of a set; they are repeated in turn up to ``n``.
    correct
        Number m of captions, 0 to k, that are held-out references of the example. The others are references of other examples, one of
        each. Default: k.
    n
        Size of a set; default ``decoding.candidates``, else 10. If k does not divide n, the first captions occur once more.
    held_out
        Number of references of the example that are removed, at least m; default m. With equal values all cells of a k x m study are
        scored against the same references.
    skip_small
        If true, examples with too few references are skipped and counted; else they are an error.

    Raises
    ------
    InputError
        For a parameter out of range, and in :meth:`prepare` for examples with too few references.

    References
    ----------
    Chan et al. (2022), Distribution Aware Metrics for Conditional Natural Language Generation, appendix B.2.
    """

    def __init__(
        self,
        *,
        unique: int = 5,
        correct: int | None = None,
        n: int | None = None,
        held_out: int | None = None,
        skip_small: bool = False,
    ) -> None:
        check_count(unique, "mixture: unique")
        check_count(correct, "mixture: correct", least=0)
        check_count(n, "mixture: n")
        self.unique = unique
        self.correct = unique if correct is None else correct
        self.held_out = self.correct if held_out is None else held_out
        check_count(self.held_out, "mixture: held_out", least=0)
        if self.correct > unique:
            raise InputError(f"mixture: correct is {self.correct}, more than the {unique} unique captions")
        if self.held_out < self.correct:
            raise InputError(f"mixture: held_out is {self.held_out}, fewer than the {self.correct} correct captions")
        if n is not None and n < unique:
            raise InputError(f"mixture: n is {n}, too few for {unique} unique captions")
        self.n = n
        self.skip_small = skip_small
        self._others: list[Example] = []

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        return (
            f"mixture:unique={self.unique}|correct={self.correct}|n={self.n}|held_out={self.held_out}"
            f"|skip_small={self.skip_small}"
        )

    def prepare(self, task: TaskView) -> None:
        """Store the examples to draw from; raise :class:`InputError` for sets that cannot be drawn and examples with too few references."""
        size = self.n or task.decoding.candidates or DEFAULT_N
        self.check_size(size)
        wrong = self.unique - self.correct
        if wrong > len(task.examples) - 1:
            raise InputError(
                f"mixture: {wrong} captions of other examples are needed; the task has {len(task.examples) - 1} other examples"
            )
        self._refuse_small(task.examples)
        # sorted: the draws do not depend on the order of the file
        self._others = sorted(task.examples, key=lambda example: example.id)

    def check_size(self, size: int) -> None:
        """Raise :class:`InputError` for sets of ``size`` candidates that are too small."""
        if size < self.unique:
            raise InputError(f"mixture: {size} candidates are too few for {self.unique} unique captions")

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Generation]:
        """Yield ``n`` candidates per example, the k unique ones in turn, and the remaining references."""
        size = self.n or decoding.candidates or DEFAULT_N
        for example, seed in zip(examples, seeds):
            if len(example.references) <= self.held_out or len(set(example.references)) < self.correct:
                self._refuse_small([example])
                yield Generation((), example.references)
                continue
            correct, references = self._correct(example, np.random.default_rng([seed, 0]))
            others = self._foreign(example, np.random.default_rng([seed, 1]))
            yield Generation(self._arranged(correct, others, size, np.random.default_rng([seed, 2])), references)

    def _arranged(
        self, correct: Sequence[str], others: Sequence[str], size: int, rng: np.random.Generator
    ) -> tuple[str, ...]:
        """Return ``size`` candidates: the unique ones in a random order, in turn."""
        turn: list[int] = rng.permutation(self.unique).tolist()
        texts = [*correct, *others]
        return tuple(texts[turn[i % self.unique]] for i in range(size))

    def _refuse_small(self, examples: Sequence[Example]) -> None:
        refuse_small(examples, self.held_out + 1, "mixture", f"hold {self.held_out} out", skip=self.skip_small)
        alike = [example for example in examples if len(set(example.references)) < self.correct]
        if alike and not self.skip_small:
            raise InputError(
                f"mixture: {len(alike)} of {len(examples)} examples have fewer than {self.correct} different references:"
                f" {listed([example.id for example in alike])} (skip_small: true skips them)"
            )

    def _correct(self, example: Example, rng: np.random.Generator) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return m different references of the example and its remaining references."""
        references = example.references
        order = rng.permutation(len(references)).tolist()
        first: dict[str, int] = {}
        for i in order:
            first.setdefault(references[i], i)
        distinct = list(first.values())
        repeated = [i for i in order if i not in distinct]  # same words as another reference: held out last
        parts = divided(references, [*distinct, *repeated][: self.held_out])
        assert parts.references is not None
        return parts.candidates[: self.correct], parts.references

    def _foreign(self, example: Example, rng: np.random.Generator) -> list[str]:
        """Return k - m captions of as many other examples; none of them is a reference of this example."""
        count = self.unique - self.correct
        texts: dict[str, None] = {}
        if not count:
            return []
        references, used = set(example.references), {example.id}
        for position in self._positions(count, rng):
            other = self._others[position]
            if other.id in used:
                continue
            order = rng.permutation(len(other.references)).tolist()
            text = next((t for i in order if (t := other.references[i]) not in references and t not in texts), None)
            if text is not None:
                used.add(other.id)
                texts[text] = None
                if len(texts) == count:
                    return list(texts)
        raise HarnessError(
            f"mixture: found {len(texts)} captions of other examples for '{example.id}'; expected {count}"
        )

    def _positions(self, count: int, rng: np.random.Generator) -> Iterator[int]:
        """Yield positions of other examples: independent draws, sufficient in a large task, then a permutation of all positions."""
        total = len(self._others)
        for _ in range(TRIES * count):
            yield int(rng.integers(total))
        yield from rng.permutation(total).tolist()
