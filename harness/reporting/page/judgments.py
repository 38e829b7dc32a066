"""Runs of judgments on the page: a row of the matrix per judged metric, a column per statistic and group of judgments."""

from __future__ import annotations

from dataclasses import replace

from harness.reporting.league import LeagueSet, cluster
from harness.reporting.page.groups import Group
from harness.reporting.page.significance import Clusters, system_key
from harness.rundir.samples import SampleTable

NOTE = (
    "Agreement of metrics with people, times 100, with 95 % intervals (bootstrap over items). The small number is the significance "
    "cluster: metrics of cluster 1 are marked, and no other one beats them (PERM-BOTH, Holm-corrected within a set); clusters of one set "
    "compare with each other only."
)


def metrics_as_systems(group: Group) -> tuple[Group, Clusters]:
    """Return a group of one run of judgments with its metrics as systems and its statistics as metrics, and their clusters.

    It has no samples: those are the judged captions, which belong to no metric.
    """
    (side,) = group.sides
    judged = LeagueSet(side.run)
    records = tuple(replace(record, model=judged.metric_names[record.model]) for statistic in judged.groups for record in statistic)
    ranks: dict[str, dict[str, str]] = {}
    leading: dict[str, set[str]] = {}
    for record in records:
        key = system_key(0, record.model, record.decoding_key)
        ranks.setdefault(record.metric, {})[key] = str(cluster(record) or "")
        if cluster(record) == 1:
            leading.setdefault(record.metric, set()).add(key)
    run = replace(side.run, records=records, samples=SampleTable.empty())
    return Group((replace(side, run=run),)), Clusters(ranks, leading, NOTE)
