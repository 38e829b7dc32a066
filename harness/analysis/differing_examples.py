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
    if any(metric not in system.table.metrics for system in (pair.a, pair.b)):
        return []
    shared = [example for example in pair.a.examples if example in pair.b.row_of]
    rows_a = [pair.a.row_of[example] for example in shared]
    rows_b = [pair.b.row_of[example] for example in shared]
    scores_a = pair.a.scores(metric)[rows_a]
    scores_b = pair.b.scores(metric)[rows_b]

    gap = np.nan_to_num(np.abs(scores_a - scores_b), nan=0.0)
    largest = [int(k) for k in np.argsort(-gap, kind="stable")[:count] if gap[k] > 0]
    # a log of scores has no captions
    if not largest or not any(pair.a.table["candidates"]):
        return []

    sets_a = pair.a.caption_sets(rows_a[k] for k in largest)
    sets_b = pair.b.caption_sets(rows_b[k] for k in largest)
    return [
        DifferingExample(
            example=shared[k],
            score_a=float(scores_a[k]),
            score_b=float(scores_b[k]),
            candidates_a=of_a.candidates,
            candidates_b=of_b.candidates,
            references=of_a.references,
        )
        for k, of_a, of_b in zip(largest, sets_a, sets_b)
    ]
