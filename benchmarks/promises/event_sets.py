"""Permutation tests of whole sets of events keep their level where the system is one
more annotator, who cuts coarsely, finely, in a burst or in unequal numbers.
"""

from __future__ import annotations

from benchmarks.event_tests import (
    VIDEOS,
    count_rejections,
    leave,
    make_examples,
    make_metrics,
    relabeled_values,
)
from benchmarks.promises.promise import Cell, Promise

QUICK = 400
FULL = 4000
"""Drawn data sets of a cell."""
GOAL = 0.06
ANNOTATORS = (2, 4)


def measure_event_sets(full: bool) -> list[Cell]:
    """Return the cells of each metric, number of annotators and number of videos."""
    draws = FULL if full else QUICK
    metrics = make_metrics()
    cells: list[Cell] = []
    for annotators in ANNOTATORS:
        examples = make_examples(leave, annotators, 1)
        columns = relabeled_values(list(metrics.values()), examples)
        for metric, values in zip(metrics.values(), columns):
            for videos in VIDEOS:
                hits = count_rejections(values, videos, draws, 1, any_person=True)
                case = f"{metric.spec.name}, {videos} videos, {annotators} annotators"
                cells.append(Cell(case, hits, draws))
    return cells


PROMISES = (
    Promise(
        "event-sets",
        "Events of one more annotator have a summed permutation p of .05 or less in at "
        "most 6 % of the data sets of 5, 20 and 100 videos",
        ("docs/dense.md", "docs/metrics/event-sets.md"),
        GOAL,
        measure_event_sets,
    ),
)
