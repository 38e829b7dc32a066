"""The ``mixture`` baseline: so many unique captions, so many of them correct (Chan et al. 2022, appendix B.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness.adapters.baselines.central import DEFAULT_N, check_count
from harness.adapters.human.adapter import divided, refuse_small
from harness.contracts import Decoding, Example, Generation, TaskView
from harness.errors import HarnessError, InputError
from harness.files.captions import listed

TRIES = 64


class Mixture:
    """Candidate sets whose diversity and correctness are set apart: k unique captions, m of them of this example.

    unique: k, how many different captions a set holds; they are repeated in turn up to ``n``.
    correct: m (0 to k), how many of these are references of the example, held out; the others are references of other
        examples, each of another one. None: all.
    n: size of the set; else ``decoding.candidates``, else 10. Where k does not divide n, the first captions come once more.
    held_out: how many references of the example are taken away in any case (at least m; None: m). Give every cell of a
        k x m study the same number, so that all are scored against the same references.
    skip_small: an example with too few references is left out and counted, instead of being an error.

    All is drawn from the example's seed; the captions of a smaller m or k are among those of a larger one.
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
        return (
            f"mixture:unique={self.unique}|correct={self.correct}|n={self.n}|held_out={self.held_out}"
            f"|skip_small={self.skip_small}"
        )

    def prepare(self, task: TaskView) -> None:
        """Keep the examples to draw from; raise :class:`InputError` that names those with too few references."""
        size = self.n or task.decoding.candidates or DEFAULT_N
        if size < self.unique:
            raise InputError(f"mixture: {size} candidates are asked for, too few for {self.unique} unique captions")
        wrong = self.unique - self.correct
        if wrong > len(task.examples) - 1:
            raise InputError(
                f"mixture: {wrong} captions of other examples are asked for, but there are {len(task.examples) - 1}"
            )
        self._refuse_small(task.examples)
        self._others = sorted(
            task.examples, key=lambda example: example.id
        )  # draws do not depend on the order of the file

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Generation]:
        """``n`` candidates in turns of the k unique ones, and the references that were not held out."""
        size = self.n or decoding.candidates or DEFAULT_N
        for example, seed in zip(examples, seeds):
            if len(example.references) <= self.held_out or len(set(example.references)) < self.correct:
                self._refuse_small([example])
                yield Generation((), example.references)
                continue
            own, left = self._own(example, np.random.default_rng([seed, 0]))
            others = self._foreign(example, np.random.default_rng([seed, 1]))
            turn = np.random.default_rng([seed, 2]).permutation(self.unique).tolist()
            texts = [*own, *others]
            yield Generation(tuple(texts[turn[i % self.unique]] for i in range(size)), left)

    def _refuse_small(self, examples: Sequence[Example]) -> None:
        refuse_small(examples, self.held_out + 1, "mixture", f"hold {self.held_out} out", skip=self.skip_small)
        alike = [example for example in examples if len(set(example.references)) < self.correct]
        if alike and not self.skip_small:
            raise InputError(
                f"mixture: {len(alike)} of {len(examples)} examples have fewer than {self.correct} different references:"
                f" {listed([example.id for example in alike])} (skip_small: true leaves them out)"
            )

    def _own(self, example: Example, rng: np.random.Generator) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The correct captions, all different, and the references that are left."""
        references = example.references
        order = rng.permutation(len(references)).tolist()
        first: dict[str, int] = {}
        for i in order:
            first.setdefault(references[i], i)
        distinct = list(first.values())
        again = [i for i in order if i not in distinct]  # the same words once more: held out last
        parts = divided(references, [*distinct, *again][: self.held_out])
        assert parts.references is not None
        return parts.candidates[: self.correct], parts.references

    def _foreign(self, example: Example, rng: np.random.Generator) -> list[str]:
        """A caption each of as many other examples as are wanted, none of them said of this example too."""
        wanted = self.unique - self.correct
        texts: dict[str, None] = {}
        if not wanted:
            return []
        own, used = set(example.references), {example.id}
        for pick in self._picks(wanted, rng):
            other = self._others[pick]
            if other.id in used:
                continue
            order = rng.permutation(len(other.references)).tolist()
            text = next((t for i in order if (t := other.references[i]) not in own and t not in texts), None)
            if text is not None:
                used.add(other.id)
                texts[text] = None
                if len(texts) == wanted:
                    return list(texts)
        raise HarnessError(
            f"mixture: found {len(texts)} captions of other examples for '{example.id}'; {wanted} are asked for"
        )

    def _picks(self, wanted: int, rng: np.random.Generator) -> Iterator[int]:
        """Positions to try: draws, which suffice in a large task, then every position once in a random order."""
        count = len(self._others)
        for _ in range(TRIES * wanted):
            yield int(rng.integers(count))
        yield from rng.permutation(count).tolist()
