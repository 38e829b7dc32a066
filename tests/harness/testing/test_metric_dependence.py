"""Check of the set sizes on which a number depends."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import MeanMetric, MetricSpec
from harness.testing import check_metric


class Counted(MeanMetric):
    """A score of the texts of one side."""

    def __init__(self, side: str, combine, **fields) -> None:
        self.side = side
        self.combine = combine
        self.spec = MetricSpec("counted", True, **fields)

    def signature(self) -> str:
        return f"counted|{self.side}"

    def scores(self, batch, features, state):
        return np.array(
            [
                float(self.combine([len(text) for text in getattr(item, self.side)]))
                for item in batch.sets
            ]
        )


def outcome(metric):
    return next(
        result for result in check_metric(metric) if result.check == "depends-on"
    )


@pytest.mark.parametrize("side", ["candidates", "references"])
def test_a_maximum_depends_on_the_number_of_texts_and_a_mean_does_not(side):
    needs = frozenset({"references"}) if side == "references" else frozenset()
    undeclared = outcome(Counted(side, max, needs=needs, depends_on=frozenset()))
    assert undeclared.failed
    assert f"depends on the number of {side}" in undeclared.reason
    assert not outcome(
        Counted(side, np.mean, needs=needs, depends_on=frozenset())
    ).failed
    assert not outcome(
        Counted(side, max, needs=needs, depends_on=frozenset({side}))
    ).failed


def test_a_metric_that_declares_all_sizes_or_needs_the_whole_set_is_not_checked():
    both = frozenset({"candidates", "references"})
    assert (
        outcome(Counted("candidates", max, depends_on=both)).status == "not applicable"
    )
    whole = Counted(
        "candidates", max, depends_on=frozenset(), min_candidates=3, min_references=3
    )
    assert outcome(whole).status == "not applicable"
