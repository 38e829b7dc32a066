"""The league of metrics: order, clusters, published values, numbers as texts."""

import math

import pytest

from harness.reporting.league import League, LeagueSet, percent_text, rate_text
from harness.reporting.league_tables import advice_table
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable


def one_set(name, values, statistic="kendall_c", form="captions", rates=(100.0, 10.0, 1.0), published=()):
    records = tuple(
        ResultRecord(
            model="", metric=metric, value=value, ci95=None if math.isnan(value) else (value - 0.1, value + 0.1), n=9,
            statistic=statistic, group="all",
            details={"headline": True, "cluster": cluster, "captions_per_second": rate, "against": {}},
        )
        for (metric, value, cluster), rate in zip(values, rates)
    )  # fmt: skip
    spec = {"judgments": {"form": form}, "published": list(published)}
    content = {"kind": "judgments", "task": f"judgments/{name}", "spec": spec, "data": {"examples": 3}}
    return LeagueSet(Run(Provenance(content), records, SampleTable.empty()))


NAN = float("nan")
LEAGUE = League(
    (
        one_set("one", [("a", 0.5, 1), ("b", 0.45, 1), ("c", 0.1, 2)], published=[{"reference": "R", "values": {"a": 50.1, "d": [1, 2]}}]),
        one_set("two", [("a", 0.4, 2), ("b", 0.6, 1), ("c", NAN, None)]),
        one_set("three", [("a", 0.9, 1), ("b", 0.6, 2), ("c", 0.5, 2)], "accuracy", "foil"),
        one_set("four", [("a", 0.9, 1)], "auc"),
        one_set("five", [("a", 0.9, 1)], "accuracy", "pairs"),
        one_set("six", [("a", 0.9, 1)], "soft_pairwise_accuracy"),
    ),
)  # fmt: skip


def test_order_and_ranks():
    assert LEAGUE.metrics == ["a", "b", "c"]
    assert LEAGUE.mean_rank("b") == pytest.approx(4 / 3) and math.isnan(League(()).mean_rank("a"))
    assert [one.kind for one in LEAGUE.sets] == ["captions", "captions", "foil", "labels", "pairs", "systems"]


def test_advice_names_the_first_clusters_and_the_fastest():
    rows = advice_table(LEAGUE).rows
    assert rows[0] == ["grades of single captions", "one, two", "b (2 of 2 sets)", "b, 10/s"]
    assert [best for _, _, best, _ in rows[1:]] == ["a (1 of 1 sets)"] * 4


def test_published_rows():
    (row,) = LEAGUE.sets[0].published_values()
    assert (row.text("a"), row.text("d"), row.text("b"), row.reference) == ("50.1", "1–2", "", "R")
    other = one_set("x", [("a", 0.5, 1)], published=[{"reference": "R", "values": {"a": 1}, "statistic": "pearson"}])
    assert other.published_values() == []


def test_numbers():
    assert [percent_text(v) for v in (0.32349, -0.05, NAN)] == ["32.3", "-5.0", "–"]
    assert [rate_text(v) for v in (123456.0, 45.2, 0.123, NAN)] == ["120,000/s", "45/s", "0.12/s", "–"]
