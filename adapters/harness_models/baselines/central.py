"""The ``central`` baseline: the reference closest to the others, repeated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.contracts import Decoding, Distance, Example, Generation, TaskView
from harness.contracts.parameters import Count, check_arguments
from harness.errors import HarnessError
from harness.registry import resolve
from harness.run.features import FeatureCache
from harness_models.baselines.mutual_distances import sum_distances
from harness_models.human.adapter import hold_out, refuse_small

DEFAULT_N = 10
"""Number of candidates if neither the adapter nor the decoding gives one."""


class Central:
    """The central reference, repeated: metrics that average over candidates prefer it,
    metrics of distributions do not.

    The central reference is the hypothesis with the smallest mean distance to the other
    references; of equal ones the first is used. Corpus statistics of the distance come
    from the examples of the run.

    Parameters
    ----------
    distance
        A distance by name or ``{name: {params}}``, or an instance. The default
        ``cider`` needs neither weights nor Java. The caption favours the metric of the
        same distance: use the distance of the metric under study.
    n
        Number of repetitions; default ``decoding.candidates``, else 10.
    held_out
        If true, the central reference is removed from the references. The default
        follows the paper: the reference remains, so the caption matches it exactly.

    References
    ----------
    Chan et al. (2022), Distribution Aware Metrics for Conditional Natural Language
    Generation, appendix B.3.
    """

    @check_arguments
    def __init__(
        self,
        *,
        distance: str | Mapping[str, Any] | Distance = "cider",
        n: Count | None = None,
        held_out: bool = False,
    ) -> None:
        self.distance: Distance = resolve("distances", distance)
        self.n = n
        self.held_out = held_out
        self._examples: Sequence[Example] = ()
        self._central: dict[str, int] | None = None

    def fingerprint(self) -> str:
        """Return the parameters as text."""
        return (
            f"central:{self.distance.signature()}|n={self.n}|held_out={self.held_out}"
        )

    def prepare(self, task: TaskView) -> None:
        """Store the examples for the statistics of the distance; raise
        :class:`InputError` if no reference would remain.
        """
        if self.held_out:
            refuse_small(task.examples, 2, "central", "hold one out", skip=False)
        self._examples = task.examples
        self._central = None

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation]:
        """Yield the central reference ``n`` times per example,
        with the remaining references.
        """
        if self._central is None:
            sets = [example.references for example in self._examples]

            # The central caption depends on its example alone; distances are computed
            # in one go because their corpus statistics are those of the task.
            sums = sum_distances(sets, self.distance, FeatureCache(sets))
            self._central = {
                example.id: int(np.argmin(row))
                for example, row in zip(self._examples, sums)
            }

        times = self.n or decoding.candidates or DEFAULT_N
        for example in examples:
            if example.id not in self._central:
                raise HarnessError(
                    f"central: the example '{example.id}' is not one of the task"
                )
            index = self._central[example.id]
            split = hold_out(example.references, [index] if self.held_out else [])
            yield replace(split, candidates=(example.references[index],) * times)
