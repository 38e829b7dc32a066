"""Examples of compared systems in one order, with the statistics and scores of each
system and metric on them.
"""

from __future__ import annotations

import numpy as np

from harness.analysis.anytime import AnytimeTest, anytime_test
from harness.analysis.paired_family import PairedMetric, SystemData
from harness.analysis.pairs import ComparedRun, Pair, state_difference
from harness.analysis.score_logs import ScoreLog
from harness.contracts import Metric, place_statistics
from harness.run.sequences import random_order
from harness.run.stored_metrics import StoredMetric, is_mean_of_scores, read_metric
from harness.rundir.samples import System
from harness.stats.bootstrap import number_clusters
from harness.stats.name_order import name_key


class Frame:
    """Examples of all systems in the order of their ids, with the statistics and scores
    of each system and metric on them.
    """

    def __init__(self) -> None:
        self.examples: dict[str, int] = {}
        self._systems: set[System] = set()
        self._clusters: dict[str, str] = {}
        self._order: np.ndarray | None = None
        self._data: dict[tuple[int, str, str], SystemData] = {}
        self._metrics: dict[tuple[int, str], Metric] = {}

    def add(self, pair: Pair) -> None:
        """Add the examples of the runs of a pair."""
        runs = pair.one.run, pair.other.run
        specs = [run.provenance.spec for run in runs]
        column = specs[0].get("cluster") or specs[1].get("cluster")

        for system in (*runs[0].samples.systems, *runs[1].samples.systems):
            if system in self._systems:
                continue
            self._systems.add(system)
            for example in system.examples:
                self.examples.setdefault(example, len(self.examples))
            if column:
                clusters = system.clusters(str(column))
                self._clusters.update(zip(system.examples, clusters))

        # Resamples and assignments are drawn in the order of the ids, whatever the
        # order of a file.
        self.examples = {
            example: k for k, example in enumerate(sorted(self.examples, key=name_key))
        }

    def clusters(self) -> np.ndarray | None:
        """Return the number of the cluster of each example, shape (B,); None for
        examples that are independent.
        """
        if not self._clusters:
            return None
        return number_clusters(
            np.array([self._clusters[example] for example in self.examples])
        )

    def item(self, pair: Pair, metric: str) -> PairedMetric:
        """Return a metric of a pair with the data of both systems."""
        instance = self.metric(pair.one, metric)
        sides = [(pair.one, pair.a), (pair.other, pair.b)]
        return PairedMetric(
            instance,
            *(self._system(side, system, metric, instance) for side, system in sides),
        )

    def anytime(self, pair: Pair, metric: str, seed: int) -> AnytimeTest:
        """Return the confidence sequence of a metric of a pair."""
        if self._order is None:  # one order serves all pairs and metrics
            units = list(self.examples)
            if self._clusters:
                units = list(dict.fromkeys(self._clusters[name] for name in units))
            self._order = random_order(units, seed)
        return anytime_test(self.item(pair, metric), self._order, self.clusters())

    def state_difference(self, pair: Pair, metric: str) -> str:
        """Return the fitted state of a metric that differs between the runs of a pair;
        empty where its numbers compare.
        """
        one, other = pair.one.run, pair.other.run
        if one is other:
            return ""
        return state_difference(one, other, self.metric(pair.one, metric))

    def metric(self, side: ComparedRun, label: str) -> Metric:
        """Return the metric of a label of a run;
        one that is not installed reads the stored scores.
        """
        key = (id(side), label)
        if key not in self._metrics:
            if isinstance(side.run, ScoreLog):
                self._metrics[key] = side.run.directed[label].metric
            else:
                self._metrics[key] = read_metric(side.run, label)
        return self._metrics[key]

    def refusal(self, pair: Pair, label: str) -> str:
        """Return why a metric that is not installed here cannot be compared;
        empty where it can.
        """
        metric = self.metric(pair.one, label)
        if not isinstance(metric, StoredMetric):
            return ""
        sides = ((pair.one, pair.a), (pair.other, pair.b))
        are_means = all(
            is_mean_of_scores(side.record(system, label), system, label)
            for side, system in sides
        )
        return "" if are_means else metric.refusal

    def _system(
        self, side: ComparedRun, system: System, metric: str, instance: Metric
    ) -> SystemData:
        """Return the data of a system and metric, which all its pairs share."""
        key = (id(side), f"{system.model}\0{system.decoding_key}", metric)
        if key not in self._data:
            positions = [self.examples[example] for example in system.examples]
            rows = np.array(positions, dtype=np.int64)

            scores = np.full(len(self.examples), np.nan)
            if metric in system.table.metrics:
                scores[rows] = system.scores(metric)

            # Without its component a metric is the mean of the stored scores.
            if isinstance(instance, StoredMetric):
                self._data[key] = SystemData(scores[:, None], scores)
                return self._data[key]

            record = side.record(system, metric)
            stats = None
            values = side.run.statistics(record) if record is not None else None
            if values is not None and len(values) == len(rows):
                stats = place_statistics([(rows, values)], len(self.examples))
            self._data[key] = SystemData(stats, scores)
        return self._data[key]
