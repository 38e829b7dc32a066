"""The paired tests of sacreBLEU, for :mod:`benchmarks.compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sacrebleu.significance import _paired_ar_test, _paired_bs_test

from benchmarks.timing import timed
from harness.contracts import CaptionSet, MeanMetric, MetricSpec


class Borrowed(MeanMetric):
    """A sacreBLEU metric: its statistics as addends, its formula applied to sums."""

    def __init__(self, *, scorer: Any) -> None:
        self.scorer = scorer
        self.spec = MetricSpec(type(scorer).__name__.lower(), True, "corpus")

    def summands(self, stats: np.ndarray) -> np.ndarray:
        return stats

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        rows = sums.reshape(-1, sums.shape[-1])
        values = [
            self.scorer._compute_score_from_stats(row.tolist()).score for row in rows
        ]
        return np.array(values).reshape(sums.shape[:-1])

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> Any:
        values = self.of_sums(
            (np.ones((1, len(stats))) if weights is None else weights) @ stats
        )
        return float(values[0]) if weights is None else values


@dataclass(frozen=True)
class Theirs:
    """Numbers of sacreBLEU for one pair."""

    difference: float
    p_randomisation: float
    p_bootstrap: float
    seconds_bootstrap: float


def sacrebleu_tests(
    scorer: Any, sets: Sequence[Sequence[CaptionSet]], draws: int, seed: int
) -> tuple[Theirs, list[np.ndarray]]:
    """Return sacreBLEU's tests of two systems, and its statistics of both."""
    texts = [[item.candidates[0] for item in own] for own in sets]
    most = max(len(item.references) for item in sets[0])
    by_position: Any = [
        [item.references[k] if k < len(item.references) else None for item in sets[0]]
        for k in range(most)
    ]
    stats = [
        np.array(scorer._extract_corpus_statistics(own, by_position), dtype=float)
        for own in texts
    ]
    values = [scorer._aggregate_and_compute(own.tolist()).score for own in stats]
    # its extraction is not timed
    scorer._extract_corpus_statistics = lambda hypotheses, _: stats[1].tolist()
    information: Any = {"x": (stats[0], type("Baseline", (), {"score": values[0]})())}
    seconds, (_, outcome) = timed(
        lambda: _paired_bs_test(
            information, "other", texts[1], by_position, {"x": scorer}, draws, seed=seed
        )
    )
    _, randomised = _paired_ar_test(
        information, "other", texts[1], by_position, {"x": scorer}, draws, seed=seed
    )
    del scorer._extract_corpus_statistics
    return Theirs(
        values[0] - values[1],
        float(randomised["x"].p_value or 0),
        float(outcome["x"].p_value or 0),
        seconds,
    ), stats


def one_sided(draws: np.ndarray, observed: float) -> float:
    """Return the bootstrap p-value by sacreBLEU's definition from differences
    (draws,).
    """
    sizes = np.abs(draws)
    return float((1 + np.sum(sizes - sizes.mean() > abs(observed))) / (1 + len(draws)))
