"""The ``mbr`` adapter: minimum-Bayes-risk choice among the captions of a model, by any distance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.contracts import (
    Adapter,
    Candidates,
    CaptionSet,
    Decoding,
    Distance,
    Example,
    Failure,
    Generation,
    Prepares,
    Scorer,
    TaskView,
    TokenScores,
)
from harness.errors import HarnessError
from harness.registry import resolve
from harness.run.features import FeatureCache

BATCH = 512
"""Examples per batch of distances."""


class Mbr:
    """The captions of ``model`` with the smallest mean distance to its other captions of the same example, best first.

    The model gives ``pool`` captions under the decoding of the run, which should be a sample; the ``candidates`` of the run (default 1)
    are chosen from them. Different captions come before repeated ones. Corpus statistics of the distance come from the examples of the
    run; the captions to choose from serve as their references.

    Parameters
    ----------
    model
        An adapter: its name, ``{name: {parameters}}``, or an instance.
    distance
        A distance by name or ``{name: {params}}``, or an instance; a caption is the hypothesis, the others are the references.
    pool
        Number of captions to choose from, at least 2.

    Raises
    ------
    HarnessError
        For a pool of fewer than 2 captions, or fewer than the candidates of the run.

    References
    ----------
    Kumar & Byrne (2004), Minimum Bayes-Risk Decoding for Statistical Machine Translation; Eikema & Aziz (2022), Sampling-Based
    Approximations to Minimum Bayes Risk Decoding for Neural Machine Translation (a sample as the references).
    """

    def __init__(
        self,
        *,
        model: str | Mapping[str, Any] | Adapter,
        distance: str | Mapping[str, Any] | Distance = "meteor",
        pool: int = 16,
    ) -> None:
        if isinstance(pool, bool) or not isinstance(pool, int) or pool < 2:
            raise HarnessError(
                f"mbr: pool is {pool!r}; expected an integer of at least 2", parameter="pool", value=pool
            )
        self.model: Any = resolve("adapters", model)
        self.distance: Distance = resolve("distances", distance)
        self.pool = pool
        self._references: list[tuple[str, ...]] = []

    def fingerprint(self) -> str:
        """Return the pool, the distance and the fingerprint of the model."""
        return f"mbr|pool={self.pool}|{self.distance.signature()}|{self.model.fingerprint()}"

    def _decoding(self, decoding: Decoding) -> Decoding:
        """Return the decoding with ``pool`` candidates; raise :class:`HarnessError` when the run asks for more."""
        if (decoding.candidates or 1) > self.pool:
            raise HarnessError(f"mbr: {decoding.candidates} candidates cannot be chosen from a pool of {self.pool}")
        return replace(decoding, candidates=self.pool)

    def prepare(self, task: TaskView) -> None:
        """Store the references for the statistics of the distance, and call ``prepare`` of the model with the pool."""
        self._references = [example.references for example in task.examples]
        if isinstance(self.model, Prepares):
            self.model.prepare(replace(task, decoding=self._decoding(task.decoding)))

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Generation | Failure]:
        """Yield the chosen captions of each example; the failures of the model are passed on."""
        results = [
            result if isinstance(result, (Generation, Failure)) else Generation(tuple(result))
            for result in self.model.generate(examples, self._decoding(decoding), seeds)
        ]
        pools = [(e, r.candidates) for e, r in zip(examples, results) if isinstance(r, Generation)]
        references = self._references or [example.references for example in examples]
        orders = iter(chosen(pools, self.distance, references))
        for result in results:
            yield _taken(result, next(orders)[: decoding.candidates or 1]) if isinstance(result, Generation) else result

    def score_references(self, examples: Sequence[Example]) -> Iterable[list[TokenScores]]:
        """Yield the reference scores of the model; they do not depend on the decoding.

        Raises :class:`HarnessError` if the model does not score references.
        """
        if not isinstance(self.model, Scorer):
            raise HarnessError(f"mbr: {type(self.model).__name__} does not score references")
        return self.model.score_references(examples)


def chosen(
    pools: Sequence[tuple[Example, Candidates]], distance: Distance, references: Sequence[Sequence[str]]
) -> list[list[int]]:
    """Return for each pool the indices of its captions, the smallest mean distance to the others first, repeated texts last.

    Of equal distances the earlier caption comes first.

    Parameters
    ----------
    pools
        Examples with their captions.
    distance
        Distance whose matrices (B, P, P) are used: rows are hypotheses, columns references.
    references
        References for the corpus statistics of the distance.
    """
    features = FeatureCache(references)
    by_count: dict[int, list[int]] = defaultdict(list)
    for index, (_, texts) in enumerate(pools):
        by_count[len(texts)].append(index)
    orders: list[list[int]] = [[] for _ in pools]
    for count, group in by_count.items():
        for start in range(0, len(group), BATCH):
            part = group[start : start + BATCH]
            if count == 1:
                orders = [[0] if index in part else order for index, order in enumerate(orders)]
                continue
            # The split into candidates and references has no effect on the P x P matrix.
            sets = [CaptionSet(e.id, texts[:1], texts[1:]) for e, texts in (pools[index] for index in part)]
            batch = features.batch(sets)
            # Sums of equal distances in another order may differ in the last digit; rounding keeps them equal.
            risks = features.distances(distance, batch).sum(axis=2).round(12)
            for index, risk in zip(part, risks):
                orders[index] = _distinct_first(np.argsort(risk, kind="stable").tolist(), pools[index][1])
            features.forget(batch)
    return orders


def _distinct_first(order: Sequence[int], texts: Candidates) -> list[int]:
    """Return the order with the first occurrence of each text before all repetitions.

    >>> _distinct_first([2, 0, 1], ("a", "b", "a"))
    [2, 1, 0]
    """
    seen: set[str] = set()
    repeated = {index: texts[index] in seen or bool(seen.add(texts[index])) for index in order}
    return sorted(order, key=lambda index: repeated[index])


def _taken(generation: Generation, order: Sequence[int]) -> Generation:
    """Return the generation with the captions of some indices, and their log-probabilities, lengths and stop reasons."""
    fields = {
        name: tuple(values[index] for index in order)
        for name in ("candidates", "log_probs", "lengths", "stop_reasons")
        if (values := getattr(generation, name)) is not None
    }
    return replace(generation, **fields)
