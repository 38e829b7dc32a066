"""The ``people-mixture`` baseline: captions of people, or their most central ones, and
captions of other examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from harness.contracts import Distance, Example, Generation, TaskView
from harness.contracts.parameters import Count, Index, check_arguments
from harness.errors import InputError
from harness.registry import resolve
from harness.run.features import FeatureCache
from harness_models.baselines.mixed import Mixture, draw_in_turn
from harness_models.baselines.mutual_distances import sum_distances
from harness_models.human.adapter import hold_out


class PeopleMixture(Mixture):
    """Sets of n captions: m of k held-out references of the example, n - m of as many
    other examples.

    The k captions are the first of a random order of the held-out references, so that a
    set with k = m = n is one of people, exchangeable with the references; or those
    nearest to the other held-out references, without a look at the references that
    remain. They are taken in turn up to m. Systems with the same ``held_out`` have the
    same references, and their random captions are subsets of each other.

    Parameters
    ----------
    unique
        Number k of captions of people.
    correct
        Number m of candidates that are captions of people, at least k; default k.
    choice
        ``random`` or ``central``.
    n
        Size of a set; default ``decoding.candidates``, else 10.
    held_out
        Number of references of the example that are removed, at least k; default k.
    distance
        Distance of the central captions by name or ``{name: {params}}``, or an
        instance; its corpus statistics are those of all references of the run. The
        choice favours the metric of the same distance.
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
    Li et al. (2020), On the Relation between Quality-Diversity Evaluation and
    Distribution-Fitting Goal in Text Generation, section 7, leave open how quality and
    diversity relate under a condition; the design is of this project.
    """

    name = "people-mixture"

    @check_arguments
    def __init__(
        self,
        *,
        unique: Index,
        correct: Index | None = None,
        choice: Literal["random", "central"] = "random",
        n: Count | None = None,
        held_out: Count | None = None,
        distance: str | Mapping[str, Any] | Distance = "cider",
        skip_small: bool = False,
    ) -> None:
        correct = unique if correct is None else correct
        held_out = max(unique, 1) if held_out is None else held_out
        if correct < unique or (correct and not unique):
            raise InputError(
                f"people-mixture: correct is {correct}; expected at least the {unique} "
                "captions of people, and 0 without any"
            )
        if held_out < unique:
            raise InputError(
                f"people-mixture: held_out is {held_out}, fewer than the {unique} "
                "captions of people"
            )
        if n is not None and n < correct:
            raise InputError(
                f"people-mixture: n is {n}, too few for {correct} captions of people"
            )

        super().__init__(
            unique=max(unique, 1), held_out=held_out, skip_small=skip_small
        )
        self.unique = unique
        self.correct = correct
        self.choice = choice
        self.n = n
        self.distance: Distance = resolve("distances", distance)
        # equal references stay equal: a set of people has as many as people write
        self.drawn_correct = 0
        self._features = FeatureCache()

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        central = f"|{self.distance.signature()}" if self.choice == "central" else ""
        return f"{super().fingerprint()}|choice={self.choice}{central}"

    def prepare(self, task: TaskView) -> None:
        """Store the examples to draw from and the references for the statistics of the
        distance; raise :class:`InputError` for sets that cannot be drawn.
        """
        self.drawn_wrong = self.size(task.decoding) - self.correct
        self._features = FeatureCache([example.references for example in task.examples])
        super().prepare(task)

    def check_size(self, size: int) -> None:
        """Raise :class:`InputError` for fewer candidates than captions of people."""
        if size < self.correct:
            raise InputError(
                f"people-mixture: {size} candidates are too few for {self.correct} "
                "captions of people"
            )

    def mix(self, example: Example, size: int, seed: int) -> Generation:
        """Return ``size`` candidates and the remaining references;
        no candidates for an example that is skipped.
        """
        if len(example.references) <= self.held_out:
            self._refuse_small([example])
            return Generation((), example.references)

        # One stream each: captions of people stay the same when the number of captions
        # of other examples changes.
        rng = np.random.default_rng([seed, 0])
        order: list[int] = rng.permutation(len(example.references)).tolist()
        split = hold_out(example.references, order[: self.held_out])
        wrong = self._draw_wrong(example, np.random.default_rng([seed, 1]))

        people = self._choose(split.candidates)
        texts = [people[i % len(people)] for i in range(self.correct)] + wrong
        shuffled = draw_in_turn(texts, size, np.random.default_rng([seed, 2]))
        return replace(split, candidates=tuple(shuffled))

    def _choose(self, captions: Sequence[str]) -> Sequence[str]:
        """Return the k captions of people."""
        if self.choice == "random" or len(captions) == 1:
            return captions[: self.unique]
        (sums,) = sum_distances([captions], self.distance, self._features)
        nearest = np.argsort(sums, kind="stable")[: self.unique]
        return [captions[int(i)] for i in nearest]
