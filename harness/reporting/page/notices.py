"""Warnings of the page: severe ones stand before any number, the others below the matrix."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.reporting.metric_labels import shown_name
from harness.reporting.page.groups import Group
from harness.reporting.page.significance import Clusters
from harness.run.finished import Run

MAX_LISTED = 20
"""Maximum number of failed examples that a warning lists."""


@dataclass(frozen=True)
class Notice:
    """One warning or remark, with its details."""

    text: str
    severe: bool = False
    details: Sequence[tuple[str, str]] = ()
    """Names and texts of a list that opens on request."""


def notices_of(group: Group, clusters: Clusters) -> list[Notice]:
    """Return the warnings of a group, severe ones first."""
    notices: list[Notice] = []
    for side in group.sides:
        prefix = f"{side.name}: " if group.several_runs else ""
        notices += [Notice(prefix + notice.text, notice.severe, notice.details) for notice in _of_run(side.run)]
    if clusters.warning:
        notices.append(Notice(clusters.warning))
    return sorted(notices, key=lambda notice: not notice.severe)


def _of_run(run: Run) -> list[Notice]:
    content, column = run.provenance.content, "statistic" if run.provenance.kind else "model"
    notices = [Notice(str(content["notice"]))] if content.get("notice") else []
    if not run.records:
        notices.append(Notice("The run has no results.", severe=True))
    if run.failed:
        notices.append(_failure_notice(run))
    undefined = list(dict.fromkeys(shown_name(record) for record in run.records if math.isnan(record.value)))
    if undefined:
        notices.append(Notice(f"Undefined for some {column}: {', '.join(undefined)}.", severe=True))
    skipped = Counter(shown_name(record) for record in run.records if record.skipped)
    if skipped:
        largest_share = max(record.skipped / max(record.n + record.skipped, 1) for record in run.records)
        notices.append(
            Notice(f"Some examples have no score and are left out (up to {100 * largest_share:.0f} % of a {column}): {', '.join(skipped)}.")
        )
    return [*notices, *(Notice(note) for note in run.notes)]


def _failure_notice(run: Run) -> Notice:
    """Return the warning about examples that models could not process."""
    models = Counter(_model(name, run) for name in run.failed)
    total = int(run.provenance.data.get("examples") or 0)
    counts = ", ".join(f"{model} {count}{' (all)' if count == total else ''}" for model, count in models.items())
    details = list(run.failed.items())[:MAX_LISTED]
    if len(run.failed) > MAX_LISTED:
        details.append(("…", f"{len(run.failed) - MAX_LISTED} more"))
    return Notice(f"{len(run.failed)} example{'s' if len(run.failed) > 1 else ''} failed: {counts}.", severe=True, details=details)


def _model(name: str, run: Run) -> str:
    """Return the model of a failure ``model/example``; labels may contain slashes."""
    labels = [model.label for model in run.provenance.models if name.startswith(f"{model.label}/")]
    return max(labels, key=len, default=name.split("/", 1)[0])
