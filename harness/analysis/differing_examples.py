"""Examples on which the scores of two systems differ most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.analysis.pairs import Pair


@dataclass(frozen=True)
class DifferingExample:
    """An example with the captions and scores of two systems."""

    example: str
    score_a: float
    score_b: float
    candidates_a: tuple[str, ...]
    candidates_b: tuple[str, ...]
    references: tuple[str, ...]


def differing_most(pair: Pair, metric: str, count: int) -> list[DifferingExample]:
    """Return the examples with the largest absolute difference of their scores, largest
    first, in the order of the run for ties.
    """
    shared = [example for example in pair.a.examples if example in pair.b.row_of]
    rows = [
        [system.row_of[example] for example in shared] for system in (pair.a, pair.b)
    ]
    if any(metric not in system.table.metrics for system in (pair.a, pair.b)):
        return []
    x, y = (system.scores(metric)[at] for system, at in zip((pair.a, pair.b), rows))
    gap = np.nan_to_num(np.abs(x - y), nan=0.0)
    largest = [int(k) for k in np.argsort(-gap, kind="stable")[:count] if gap[k] > 0]
    # a log of scores has no captions
    if not largest or not any(pair.a.table.lists("candidates")):
        return []
    sets_a = pair.a.caption_sets()
    sets_b = pair.b.caption_sets()
    return [
        DifferingExample(
            shared[k],
            float(x[k]),
            float(y[k]),
            sets_a[rows[0][k]].candidates,
            sets_b[rows[1][k]].candidates,
            sets_a[rows[0][k]].references,
        )
        for k in largest
    ]
