"""The ``mbr`` adapter: minimum-Bayes-risk choice among the captions of a model, by any
distance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from harness.contracts import (
    Candidates,
    Decoding,
    Distance,
    Example,
    Failure,
    Generation,
    TaskView,
)
from harness.contracts.models import Adapter, GeneratesUnordered
from harness.contracts.parameters import Ge, check_arguments
from harness.errors import HarnessError
from harness.registry import resolve
from harness.run.features import FeatureCache
from harness_models.baselines.mutual_distances import sum_distances
from harness_models.wrappers.wrapper import Wrapper

KEPT_POOLS = 256
"""Number of pools after which what was computed of their texts is dropped."""


class Mbr(Wrapper):
    """The captions of ``model`` with the smallest mean distance to its other captions
    of the same example, best first.

    The model gives ``pool`` captions under the decoding of the run, which should be a
    sample; the ``candidates`` of the run (default 1) are chosen from them. Different
    captions come before repeated ones. Corpus statistics of the distance come from the
    examples of the run; the captions to choose from serve as their references.

    Parameters
    ----------
    model
        An adapter: its name, ``{name: {parameters}}``, or an instance.
    distance
        A distance by name or ``{name: {params}}``, or an instance; a caption is the
        hypothesis, the others are the references.
    pool
        Number of captions to choose from, at least 2.

    Raises
    ------
    HarnessError
        For a pool of fewer than 2 captions, or fewer than the candidates of the run.

    References
    ----------
    Kumar & Byrne (2004), Minimum Bayes-Risk Decoding for Statistical Machine
    Translation; Eikema & Aziz (2022), Sampling-Based Approximations to Minimum Bayes
    Risk Decoding for Neural Machine Translation (a sample as the references).
    """

    kind = "mbr"
    whole_task = True  # the statistics of the distance are those of all examples

    @check_arguments
    def __init__(
        self,
        *,
        model: str | Mapping[str, Any] | Adapter,
        distance: str | Mapping[str, Any] | Distance = "meteor",
        pool: Annotated[int, Ge(2)] = 16,
    ) -> None:
        self.model: Any = resolve("adapters", model)
        self.distance: Distance = resolve("distances", distance)
        self.pool = pool
        self._features: FeatureCache | None = None
        self._ranked = 0
        if isinstance(self.model, GeneratesUnordered):
            self.generate_unordered = self._pass_on

    def fingerprint(self) -> str:
        """Return the pool, the distance and the fingerprint of the model."""
        distance = self.distance.signature()
        return f"mbr|pool={self.pool}|{distance}|{self.model.fingerprint()}"

    def inner_decoding(self, decoding: Decoding) -> Decoding:
        """Return the decoding with ``pool`` candidates; raise :class:`HarnessError`
        when the run asks for more.
        """
        if (decoding.candidates or 1) > self.pool:
            raise HarnessError(
                f"mbr: {decoding.candidates} candidates cannot be chosen from a pool "
                f"of {self.pool}"
            )
        return replace(decoding, candidates=self.pool)

    def prepare(self, task: TaskView) -> None:
        """Fit the distance on the references of the task,
        and call ``prepare`` of the model with the pool.
        """
        self._features = FeatureCache([example.references for example in task.examples])
        super().prepare(task)

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Candidates | Generation | Failure]:
        """Yield the chosen captions of each example;
        the failures of the model are passed on.
        """
        if self._features is None:
            self._features = FeatureCache([example.references for example in examples])
        return super().generate(examples, decoding, seeds)

    def finish(
        self, result: Candidates | Generation | Failure, decoding: Decoding
    ) -> Generation | Failure:
        """Return the chosen captions of a pool; a failure stays."""
        if isinstance(result, Failure):
            return result
        generation = (
            result if isinstance(result, Generation) else Generation(tuple(result))
        )
        assert self._features is not None
        (order,) = rank_captions([generation.candidates], self.distance, self._features)
        self._ranked += 1
        if self._ranked % KEPT_POOLS == 0:
            self._features.next_shard()
        return select_captions(generation, order[: decoding.candidates or 1])


def rank_captions(
    pools: Sequence[Candidates], distance: Distance, features: FeatureCache
) -> list[list[int]]:
    """Return for each pool the indices of its captions, the smallest mean distance to
    the others first, repeated texts last.

    Of equal distances the earlier caption comes first. The arguments are those of
    :func:`~harness_models.baselines.mutual_distances.sum_distances`.
    """
    risks = sum_distances(pools, distance, features)
    return [
        put_distinct_first(np.argsort(risk, kind="stable").tolist(), pool)
        for risk, pool in zip(risks, pools)
    ]


def put_distinct_first(order: Sequence[int], texts: Candidates) -> list[int]:
    """Return the order with the first occurrence of each text before all repetitions.

    >>> put_distinct_first([2, 0, 1], ("a", "b", "a"))
    [2, 1, 0]
    """
    seen: set[str] = set()
    repeated = {
        index: texts[index] in seen or bool(seen.add(texts[index])) for index in order
    }
    return sorted(order, key=lambda index: repeated[index])


def select_captions(generation: Generation, order: Sequence[int]) -> Generation:
    """Return the generation with the captions of some indices, and their
    log-probabilities, lengths and stop reasons.
    """
    fields = {
        name: tuple(values[index] for index in order)
        for name in ("candidates", "log_probs", "lengths", "stop_reasons")
        if (values := getattr(generation, name)) is not None
    }
    return replace(generation, **fields)
