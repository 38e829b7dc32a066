"""The league of metrics: order, clusters and published values."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.judgments.league import League, LeagueSet
from tests.support.league_sets import LEAGUE, one_set


def test_order_and_ranks():
    assert LEAGUE.metrics == ["a", "b", "c"]
    assert LEAGUE.mean_rank("b") == pytest.approx(4 / 3) and math.isnan(
        League(()).mean_rank("a")
    )
    assert [one.kind for one in LEAGUE.sets] == [
        "captions",
        "captions",
        "foil",
        "labels",
        "pairs",
        "systems",
    ]


def test_a_metric_without_scores_for_a_few_rows_keeps_its_place():
    judged = one_set("one", [("judge", 0.9, None), ("cider", 0.4, 1)], skipped=1)
    records = [replace(record, n=1000) for record in judged.run.records]
    assert [
        record.model
        for record in LeagueSet(replace(judged.run, records=tuple(records))).groups[0]
    ] == ["judge", "cider"]


def test_published_rows():
    (row,) = LEAGUE.sets[0].published_values()
    assert (row.text("a"), row.text("d"), row.text("b"), row.reference) == (
        "50.1",
        "1–2",
        "",
        "R",
    )
    other = one_set(
        "x",
        [("a", 0.5, 1)],
        published=[{"reference": "R", "values": {"a": 1}, "statistic": "pearson"}],
    )
    assert other.published_values() == []
