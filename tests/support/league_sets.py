"""Judgment sets in memory, and a league of six of them."""

from __future__ import annotations

import math

from harness.judgments.league import League, LeagueSet
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable

NAN = float("nan")


def one_set(
    name, values, statistic="kendall_c", form="captions", published=(), skipped=0
):
    """Return a set of judgments; ``values`` are metric, value and cluster."""
    records = tuple(
        ResultRecord(
            model="",
            metric=metric,
            value=value,
            ci95=None if math.isnan(value) else (value - 0.1, value + 0.1),
            n=9,
            statistic=statistic,
            group="all",
            skipped=skipped if cluster is None else 0,
            details={
                "headline": True,
                "cluster": cluster,
                "items": 3,
                "captions": 9,
                "against": {},
            },
        )
        for metric, value, cluster in values
    )
    spec = {"judgments": {"form": form}, "published": list(published)}
    content = {
        "kind": "judgments",
        "task": f"judgments/{name}",
        "spec": spec,
        "data": {"examples": 3},
    }
    return LeagueSet(Run(Provenance(content), records, SampleTable.empty()))


LEAGUE = League(
    (
        one_set(
            "one",
            [("a", 0.5, 1), ("b", 0.45, 1), ("c", 0.1, 2)],
            published=[{"reference": "R", "values": {"a": 50.1, "d": [1, 2]}}],
        ),
        one_set("two", [("a", 0.4, 2), ("b", 0.6, 1), ("c", NAN, None)]),
        one_set(
            "three", [("a", 0.9, 1), ("b", 0.6, 2), ("c", 0.5, 2)], "accuracy", "foil"
        ),
        one_set("four", [("a", 0.9, 1)], "auc"),
        one_set("five", [("a", 0.9, 1)], "accuracy", "pairs"),
        one_set("six", [("a", 0.9, 1)], "soft_pairwise_accuracy"),
    ),
)
