"""Runs that stop when they have decided: conditions on metrics, watched while the
examples grow along a random order.

The examples are drawn in an order that depends on the seed and their ids alone. After
every batch the confidence sequence of each condition is evaluated; the run ends when
all of them are decided, or with the data. Corpus state such as document frequencies is
that of all references, known before the first caption, so that the scores do not change
as the run grows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import cast

import numpy as np

from harness.contracts import (
    Example,
    MeanMetric,
    Objects,
    Values,
    is_defined,
    place_statistics,
)
from harness.errors import HarnessError, counted
from harness.registry.display_names import display_name
from harness.run.example_store import ExampleStore
from harness.run.metric_plan import MetricPlan
from harness.run.scoring_pass import ScoringPass
from harness.run.sequences import metric_looks, random_order, spread_addends
from harness.run.stopping_conditions import Condition, describe_verdict, read_conditions
from harness.run.systems import PlannedSystem
from harness.rundir.samples import cluster_of
from harness.spec.models import UntilSpec
from harness.stats.anytime import LEVEL, Look
from harness.stats.bootstrap import sum_over_clusters

BATCH = 200
"""Examples of the first batch, and the unit of the later ones."""
GROWTH = 1.2
"""Factor by which the number of examples grows between two looks."""


@dataclass
class Stopping:
    """The conditions of a run, and the statistics of their metrics so far."""

    spec: UntilSpec
    metrics: Sequence[MetricPlan]
    examples: ExampleStore
    cluster: str = ""
    conditions: list[Condition] = field(default_factory=list[Condition])
    looks: list[int] = field(default_factory=list[int])
    """Numbers of examples after each batch."""
    _blocks: dict[tuple[int, int], list[np.ndarray]] = field(
        default_factory=dict["tuple[int, int]", "list[np.ndarray]"]
    )
    _labels: list[str] = field(default_factory=list[str])

    def begin(self, systems: Sequence[PlannedSystem]) -> None:
        """Read the conditions for the systems of the run."""
        self._labels = [system.label for system in systems]
        self.conditions = self.conditions or read_conditions(
            self.spec, self.metrics, self._labels
        )

    def add(self, scoring: ScoringPass) -> None:
        """Add the statistics of a batch."""
        self.begin(scoring.systems)
        start, stop = scoring.whole
        for metric in {condition.metric for condition in self.conditions}:
            for system, planned in enumerate(scoring.systems):
                stats = scoring.batch_statistics(system, metric)
                if stats is None or isinstance(stats, Objects):
                    name = display_name(self.metrics[metric].label)
                    raise HarnessError(
                        f"until: '{name}' has no confidence sequence: "
                        "its scores need all examples"
                    )

                # examples without captions are rows without a score
                block = [(np.flatnonzero(planned.present), stats)]
                rows = cast(np.ndarray, place_statistics(block, stop - start))
                self._blocks.setdefault((system, metric), []).append(rows)
        self.looks.append(stop)

    def decided(self) -> bool:
        """Return True when all conditions are answered by the examples so far."""
        for condition in self.conditions:
            sequences = self._sequences(condition, last=True)
            if condition.verdict(sequences, self.level) == "undecided":
                return False
        return True

    def summary(self) -> Values:
        """Return how the run ended, for manifest.json: examples, verdicts,
        and the paths of the sequences.
        """
        conditions: list[Values] = []
        for condition in self.conditions:
            paths = self._sequences(condition)
            verdict = condition.verdict(paths, self.level)
            entry: Values = {"condition": condition.text, "verdict": verdict}
            waits = dict.fromkeys(path[-1].waits for path in paths if path[-1].waits)
            if waits and verdict == "undecided":
                entry["waits"] = list(waits)

            sequences: list[Values] = []
            pairs = condition.pairs(len(self._labels))
            for (a, b), looks in zip(pairs, paths):
                name = self._labels[a]
                if b is not None:
                    name = f"{name} - {self._labels[b]}"
                path = [asdict(look) for look in looks]
                sequences.append({"systems": name, "path": path})
            conditions.append({**entry, "sequences": sequences})
        return {
            "examples": self.looks[-1],
            "of": len(self.examples),
            "level": self.level,
            "conditions": conditions,
        }

    @property
    def level(self) -> float:
        """1 minus the coverage of each sequence: several conditions share it."""
        return LEVEL / max(1, len(self.conditions))

    def note(self, summary: Values) -> str:
        """Return the remark on a run that stopped."""
        conditions = cast("list[Values]", summary["conditions"])
        answers = "; ".join(map(describe_verdict, conditions))
        return (
            f"stopped after {self.looks[-1]:,} of "
            f"{counted(len(self.examples), 'example')} ({answers}); "
            "the intervals of the table are those of a fixed number of examples, "
            "the confidence sequences are in manifest.json and in the report"
        )

    def _sequences(self, condition: Condition, last: bool = False) -> list[list[Look]]:
        """Return the confidence sequences of a condition; ``last``:
        no more of them than the answer needs.
        """
        plan = self.metrics[condition.metric]
        sequences: list[list[Look]] = []
        for a, b in condition.pairs(len(self._labels)):
            # A difference is that of the examples that both systems have.
            systems = (a,) if b is None else (a, b)
            sides = [
                np.concatenate(self._blocks[system, condition.metric])
                for system in systems
            ]
            defined = np.all([is_defined(side) for side in sides], axis=0)
            units = self._units[: len(defined)]

            # A cluster whose next example is not scored yet is no whole unit.
            after = [*self._units.tolist(), int(self._units[-1]) + 1]
            stops = [max(1, after[stop]) for stop in self.looks]
            addends = [self._addends(plan, side, defined) for side in sides]
            sums = [sum_over_clusters(side, units)[: stops[-1]] for side in addends]
            counts = sum_over_clusters(defined[:, None].astype(np.float64), units)
            sizes = counts[: stops[-1], 0]

            # Units without a defined example are left out of the sequence.
            has_example = sizes > 0
            numbers = [max(1, int(has_example[:stop].sum())) for stop in stops]
            population = None
            if self.spec.population:
                population = len(self.examples) - int((~defined).sum())
            sequences.append(
                metric_looks(
                    plan.metric,
                    sums[0][has_example],
                    sums[1][has_example] if b is not None else None,
                    sizes[has_example],
                    numbers[-1:] if last and not condition.systems else numbers,
                    level=self.level,
                    population=population,
                    largest=float(np.bincount(self._units).max()),
                    ends=not (last and condition.systems),
                    unit="clusters" if self.cluster else "examples",
                )
            )
        return sequences

    @staticmethod
    def _addends(plan: MetricPlan, rows: np.ndarray, defined: np.ndarray) -> np.ndarray:
        """Return the addends of all examples, zeros where undefined."""
        addends = spread_addends(cast(MeanMetric, plan.metric), rows, defined)
        if addends is None:
            raise HarnessError(
                f"until: '{display_name(plan.label)}' has no confidence sequence: "
                "its number is no function of sums"
            )
        return addends

    @cached_property
    def _units(self) -> np.ndarray:
        """Number of the unit of each example of the data set, shape (N,):
        the example itself, or its cluster.
        """
        if not self.cluster:
            return np.arange(len(self.examples))
        names = [
            cluster_of(example.meta, self.cluster, example.id)
            for example in self.examples
        ]
        return np.cumsum([False, *(name != last for last, name in pairwise(names))])


def order_examples(examples: ExampleStore, seed: int, cluster: str) -> ExampleStore:
    """Return the examples in a random order that depends on the seed and their ids,
    whole clusters one after the other.
    """
    items: list[Example] = list(examples)
    names = [
        cluster_of(item.meta, cluster, item.id) if cluster else item.id
        for item in items
    ]
    ordered = [items[int(k)] for k in random_order(names, seed)]
    return ExampleStore(ordered, "examples in random order")


def batches(shards: Sequence[tuple[int, int]]) -> Iterator[Sequence[tuple[int, int]]]:
    """Yield the shards of each batch, whose total grows by :data:`GROWTH`.

    >>> [len(batch) for batch in batches([(k, k + 1) for k in range(14)])]
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2]
    """
    start = 0
    while start < len(shards):
        stop = min(len(shards), max(start + 1, int(start * GROWTH)))
        yield shards[start:stop]
        start = stop
