"""Checks of a metric's conduct: unchanged inputs, plain data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.testing.metric_conduct import CONDUCT_CHECKS

Base: Any = object
"""At run time each class is combined with the sound metric of conftest.py."""


class SortsStatistics(Base):
    """Sorts the statistics in place."""

    def reduce(self, stats, weights=None):
        stats[:, 0] = np.sort(stats[:, 0])
        return super().reduce(stats, weights)


class NormalisesWeights(Base):
    """Divides the weights in place."""

    def reduce(self, stats, weights=None):
        if weights is not None:
            weights /= weights.sum(axis=1, keepdims=True)
        return super().reduce(stats, weights)


class SortsIds(Base):
    """Sorts the text ids in place."""

    def scores(self, batch, features, state):
        (batch.text_ids if batch.text_ids.base is None else batch.text_ids.base).setflags(write=True)
        batch.text_ids.setflags(write=True)  # batches are read-only
        batch.text_ids.sort(axis=1)
        batch.text_ids[:, :2] = batch.text_ids[:, 1::-1]
        return super().scores(batch, features, state)


class ObjectInDetails(Base):
    """Has an object among its details."""

    def details(self, stats):
        return {"object": object()}


class ListOfDetails(Base):
    """Returns its details as a list."""

    def details(self, stats):
        return [len(stats)]


@pytest.mark.parametrize(
    ("check", "broken", "reason"),
    [
        ("inputs-unchanged", SortsStatistics, "per_example or reduce modifies the statistics"),
        ("inputs-unchanged", NormalisesWeights, "reduce modifies the weights"),
        ("inputs-unchanged", SortsIds, "modifies the batch's text_ids"),
        ("json-safe", ObjectInDetails, "details()['object'] is <object object at "),
        ("json-safe", ListOfDetails, "details() returns list; expected a dict"),
    ],
)
def test_a_fault_is_detected(check, broken, reason, overlap, outcome):
    result = outcome("metrics", check, overlap(broken))
    assert result.failed
    assert result.reason.startswith(reason)


def test_details_of_plain_data_pass(overlap, outcome):
    class Details(Base):
        """Has numbers among its details."""

        def details(self, stats):
            row = {"mean": np.float64(stats.mean()), "nan": float("nan"), "none": None}
            return {"count": len(stats), "rows": [row], "column": stats[:, 0]}

    assert outcome("metrics", "json-safe", overlap(Details)).status == "pass"
    assert outcome("metrics", "json-safe", overlap()).reason == "has no details"


def test_the_shared_checks_are_among_them():
    shared = {"deterministic", "random-state", "pickles", "parameters", "signature-in-use", "no-network"}
    assert shared < set(CONDUCT_CHECKS.names)
