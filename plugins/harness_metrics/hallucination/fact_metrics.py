"""Metrics ``fact-precision``, ``fact-recall``, ``fact-f1``: facts of descriptions by
the rule parser against those of references.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec, PathParam
from harness.contracts.parameters import check_arguments
from harness_metrics.bases.example_values import features_by_example, mean_of_defined
from harness_metrics.hallucination.facts import Facts, parse
from harness_metrics.hallucination.objects import ObjectTable, object_table

Kind = Literal["all", "objects", "attributes", "relations"]
KINDS = ("objects", "attributes", "relations")
WEIGHTS = (5.0, 5.0, 2.0)
"""Weights of the kinds in ``all``, those of CAPTURE."""


def union(facts: Sequence[Facts]) -> Facts:
    """Return the facts of several texts together."""
    return Facts(*(frozenset[tuple[str, ...]]().union(*kind) for kind in zip(*facts)))


def shares(facts: Facts, others: Facts) -> np.ndarray:
    """Return the share of each kind of facts that the others contain, shape (3,); NaN
    for a kind without facts.

    >>> one = Facts(
    ...     frozenset({("dog",), ("cat",)}), frozenset({("dog", "wet")}), frozenset()
    ... )
    >>> shares(one, Facts(frozenset({("dog",)}), frozenset(), frozenset())).tolist()
    [0.5, 0.0, nan]
    """
    out = np.full(len(facts), np.nan)
    for kind, (members, other_members) in enumerate(zip(facts, others)):
        if members:
            out[kind] = len(members & other_members) / len(members)
    return out


def pool_kinds(values: np.ndarray, kind: str) -> float:
    """Return the share of one kind, or the mean of the defined kinds by
    :data:`WEIGHTS`; NaN without facts.

    >>> pool_kinds(np.array([0.5, 1.0, np.nan]), "all")
    0.75
    """
    if kind != "all":
        return float(values[KINDS.index(kind)])

    defined = ~np.isnan(values)
    if not defined.any():
        return float("nan")
    weights = np.array(WEIGHTS)[defined]
    return float((values[defined] * weights).sum() / weights.sum())


class FactMetric(MeanMetric):
    """Base class: facts of each candidate against those of all references together; a
    subclass defines ``name`` and ``score``.

    Facts are compared by equality of their base forms and of the objects of the table.
    An example is undefined when the score of none of its candidates is defined.

    Parameters
    ----------
    kind : {"all", "objects", "attributes", "relations"}
        Facts that count; ``all`` is the mean of the three shares with the weights 5, 5
        and 2.
    table : path or None, default "coco"
        Table of synonyms: ``coco``, a YAML or JSON file, or null for none.

    References
    ----------
    Dong et al. 2024, *Benchmarking and Improving Detail Image Caption* (CAPTURE); Ye et
    al. 2025, *Painting with Words: Elevating Detailed Image Captioning with Benchmark
    and Alignment Learning* (DCScore). Both extract facts with trained models.
    """

    name = "unnamed"

    @check_arguments
    def __init__(self, *, kind: Kind = "all", table: PathParam | None = "coco") -> None:
        self.kind = kind
        self.table = ObjectTable({}, name="none")
        if table is not None:
            self.table = object_table(table)

        details: list[str] = []
        if kind != "all":
            details.append(kind)
        if table != "coco":
            details.append(self.table.name)
        label = f"{self.name}({','.join(details)})" if details else self.name
        self.spec = MetricSpec(label, True, bounds=(0.0, 1.0))

    def signature(self) -> str:
        """Return a text such as ``fact-f1|all|rules|coco-1acdb52088df``."""
        return f"{self.name}|{self.kind}|rules|{self.table.signature()}"

    def score(self, candidate: Facts, references: Facts) -> float:
        """Return the score of a candidate, NaN where it is undefined."""
        raise NotImplementedError(
            f"{type(self).__name__} must define score(candidate, references)"
        )

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the mean over the defined scores of an example's candidates,
        shape (B,).
        """

        def find(texts: list[str]) -> list[Facts]:
            return [parse(text, self.table) for text in texts]

        key = ("facts", self.table.signature())
        means: list[float] = []
        for candidates, references in features_by_example(features, batch, key, find):
            stated = union(references)
            means.append(mean_of_defined([self.score(c, stated) for c in candidates]))
        return np.array(means)


class FactPrecision(FactMetric):
    """Share of the facts of a candidate that some reference states, in [0, 1];
    higher is better.

    Parameters are those of :class:`FactMetric`. A candidate without facts is undefined.
    """

    name = "fact-precision"

    def score(self, candidate: Facts, references: Facts) -> float:
        """Return the precision."""
        return pool_kinds(shares(candidate, references), self.kind)


class FactRecall(FactMetric):
    """Share of the facts of all references together that a candidate states, in [0,
    1]; higher is better.

    Parameters are those of :class:`FactMetric`. An example whose references state no
    fact is undefined.
    """

    name = "fact-recall"

    def score(self, candidate: Facts, references: Facts) -> float:
        """Return the recall."""
        return pool_kinds(shares(references, candidate), self.kind)


class FactF1(FactMetric):
    """Harmonic mean of precision and recall of facts, per kind, in [0, 1];
    higher is better.

    Parameters are those of :class:`FactMetric`. A kind counts where candidate or
    references have facts of it.
    """

    name = "fact-f1"

    def score(self, candidate: Facts, references: Facts) -> float:
        """Return F1: 2 common / (facts of the candidate + facts of the references)."""
        values = np.full(len(candidate), np.nan)
        for kind, (stated, expected) in enumerate(zip(candidate, references)):
            total = len(stated) + len(expected)
            if total:
                values[kind] = 2 * len(stated & expected) / total
        return pool_kinds(values, self.kind)
