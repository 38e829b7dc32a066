"""Curves over the threshold of the overlap, of runs whose captions are events: the
numbers of metrics that are means over thresholds, and the localisation of matched
pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

import numpy as np

from harness.contracts import CaptionSet, EventSet, Metric, ScoresThresholds
from harness.contracts.parameters import Values
from harness.page.charts import axes, vega
from harness.page.charts.chart import Chart, Layout, Spec
from harness.reporting.event_matching import (
    event_sets,
    find_matches,
    readable_metrics,
    same_scores,
)
from harness.reporting.table import number, shown_names
from harness.results import Run, System
from harness.run import score as scoring
from harness.run.features import FeatureCache

GRID = tuple(k / 20 for k in range(1, 20))
"""Thresholds of a curve, beside those of the metric."""
MOST_EXAMPLES = 400
"""Examples of a curve, evenly spread over the data: the texts of each are scored
anew at every threshold.
"""
GROUP = "events"


def event_curves(run: Run) -> list[Chart]:
    """Return the curves of a run; an empty list for a run without sets of events."""
    systems = [system for system in run.samples.systems if event_sets(system)]
    if not systems or len(systems) != len(run.samples.systems):
        return []
    every_id = list(dict.fromkeys(name for s in systems for name in s.examples))
    ids = spread(every_id)
    note = ""
    if len(ids) < len(every_id):
        note = f" {len(ids):,} of {len(every_id):,} examples, evenly spread."

    charts: list[Chart] = []
    lines = _metric_lines(run, ids)
    if lines:
        caption = (
            "Numbers at single thresholds of the overlap (higher is stricter), the "
            "mean over examples; the number of the table is the mean over the "
            f"thresholds of its metric, which are the larger points.{note}"
        )
        charts.append(
            Chart(
                "over-thresholds",
                "Metrics over the threshold of the overlap",
                caption,
                GROUP,
                partial(_build, lines),
            )
        )
    name, lines = _localisation_lines(run, ids)
    if lines:
        caption = (
            "Share of predicted events (precision) and of annotated events (recall) "
            f"whose pair by {name} adds to the score and overlaps by at least the "
            "threshold; the mean over annotators, then over examples, where one "
            f"without predictions counts 0.{note}"
        )
        charts.append(
            Chart(
                "localisation",
                "Localisation of the matched pairs",
                caption,
                GROUP,
                partial(_build, lines),
            )
        )
    return charts


def spread(ids: Sequence[str]) -> list[str]:
    """Return at most :data:`MOST_EXAMPLES` examples: the middle of each of as many
    equal parts.
    """
    total = len(ids)
    if total <= MOST_EXAMPLES:
        return list(ids)
    return [
        ids[(2 * k + 1) * total // (2 * MOST_EXAMPLES)] for k in range(MOST_EXAMPLES)
    ]


def _metric_lines(run: Run, ids: Sequence[str]) -> list[Values]:
    """Return a row for each metric that is a mean over thresholds, system and
    threshold; metrics that compute other scores than those of the run have none.
    """
    names = shown_names(run.records)
    lines: list[Values] = []
    for entry, metric in readable_metrics(run):
        if not isinstance(metric, ScoresThresholds):
            continue
        own = {round(float(value), 9) for value in metric.thresholds}
        thresholds = sorted({*GRID, *own})
        of_metric: list[Values] = []
        for system in run.samples.systems:
            sets = event_sets(system, ids)
            scores = _scores_at(metric, system, entry.label, sets, thresholds)
            if scores is None:
                of_metric = []
                break
            label = run.samples.labels[system.model, system.decoding_key]
            means = _means(scores)
            of_metric += [
                _line(names[entry.label], label, threshold, mean, threshold in own)
                for threshold, mean in zip(thresholds, means)
            ]
        lines += of_metric
    return lines


def _scores_at(
    metric: Metric,
    system: System,
    label: str,
    sets: Sequence[CaptionSet],
    thresholds: Sequence[float],
) -> np.ndarray | None:
    """Return the scores of the examples at each threshold, shape (B, T); None where
    their means over the thresholds of the metric are not the scores of the run.
    """
    features = FeatureCache()
    rows: list[np.ndarray] = []
    for _, batch in scoring.batches(sets, features):
        if not scoring.can_score(metric, batch):
            continue
        values = metric.per_example(metric.stats(batch, features, None))
        if not same_scores(values, system, label, batch.ids):
            return None
        if isinstance(metric, ScoresThresholds):
            rows.append(metric.scores_at(batch, features, None, thresholds))
    return np.concatenate([np.zeros((0, len(thresholds))), *rows])


def _means(scores: np.ndarray) -> list[float]:
    """Return the means over the examples with a score, one for each threshold."""
    defined = scores[~np.isnan(scores).any(axis=1)]
    return defined.mean(axis=0).tolist() if len(defined) else []


def _localisation_lines(run: Run, ids: Sequence[str]) -> tuple[str, list[Values]]:
    """Return the name of the metric that matched the events, and a row for precision
    and recall of each system at each threshold; no rows without pairs.
    """
    # systems share the sets of their annotators
    count_events = cache(lambda text: len(EventSet.from_text(text).events))
    matches = find_matches(run, ids)
    lines: list[Values] = []
    for of_system, system in zip(matches.systems, run.samples.systems):
        label = run.samples.labels[system.model, system.decoding_key]
        sums = np.zeros((2, len(GRID)))
        count = 0
        for item in event_sets(system, ids):
            sizes = [count_events(text) for text in item.references]
            if item.id not in of_system or not any(sizes):
                continue
            for text, pairs in zip(item.candidates, of_system[item.id]):
                predictions = count_events(text)
                count += 1
                overlaps: dict[int, list[float]] = {}
                for pair in pairs:
                    own = overlaps.setdefault(pair.annotator, [])
                    # pairs that add nothing are matched at random
                    if pair.score > 0:
                        own.append(pair.overlap)
                if predictions:
                    sums += _shares(overlaps, predictions, sizes)
        if count:
            for measure, values in zip(
                ("precision of pairs", "recall of pairs"), sums / count
            ):
                lines += [
                    _line(measure, label, threshold, value, False)
                    for threshold, value in zip(GRID, values.tolist())
                ]
    return matches.name, lines


def _shares(
    overlaps: dict[int, list[float]], predictions: int, sizes: Sequence[int]
) -> np.ndarray:
    """Return precision and recall at each threshold, shape (2, T), the mean over the
    annotators with a matching.
    """
    shares = np.zeros((2, len(GRID)))
    for annotator, values in overlaps.items():
        hits = (np.array(values)[:, None] >= np.array(GRID)).sum(axis=0)
        shares += np.stack([hits / predictions, hits / sizes[annotator]])
    return shares / max(len(overlaps), 1)


def _line(
    metric: str, system: str, threshold: float, value: float, own: bool
) -> Values:
    return {
        "metric": metric,
        "system": system,
        "x": threshold,
        "y": value,
        "low": None,
        "high": None,
        "own": own,
        "text": number(value),
    }


def _build(lines: Sequence[Values], layout: Layout) -> Spec:
    """Return a panel per metric with a line per system."""
    metrics = vega.distinct(lines, "metric")
    systems = vega.distinct(lines, "system")
    legend = axes.legend_below(systems, layout)
    color, shape, dash = axes.series_channels("system", systems, legend)
    columns = layout.columns(len(metrics))
    width = (
        layout.panel_width(columns, 0, layout.gap + 4 * layout.font)
        - 4 * layout.font / columns
    )
    x = vega.quantitative(
        "x",
        scale={"domain": [0, 1], "nice": False},
        axis={"title": "threshold", "tickCount": 5, "grid": False, "format": "~g"},
    )
    y = vega.quantitative(
        "y",
        scale={"zero": True, "nice": True},
        axis={"tickCount": 4, "title": None, "format": axes.NUMBERS},
    )
    tooltip = [
        vega.nominal("system"),
        vega.quantitative("x", title="threshold"),
        vega.nominal("text", title="value"),
    ]

    panels: list[Spec] = []
    for metric in metrics:
        look = {"strokeWidth": 0.14 * layout.font}
        marks = [vega.mark("line", look, x=x, y=y, color=color, strokeDash=dash)]
        for own, size in ((True, 0.35), (False, 0.06)):
            marks.append(
                vega.mark(
                    "point",
                    {"filled": True, "opacity": 1, "size": size * layout.font**2},
                    where=f"datum.own == {str(own).lower()}",
                    x=x,
                    y=y,
                    color=color,
                    shape=shape,
                    tooltip=tooltip,
                )
            )
        panels.append(
            vega.layer(
                *marks,
                data="curves",
                where=vega.equal("metric", metric),
                width=width,
                height=min(0.7 * width, 14 * layout.font),
                title=metric,
            )
        )
    return vega.finish_chart(vega.panels(panels, columns), curves=lines)
