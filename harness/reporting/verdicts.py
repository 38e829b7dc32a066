"""Views of verdicts: paired tests of every model against a baseline on the scores of the same examples."""

from __future__ import annotations

from collections.abc import Sequence

from harness.analysis.compare import compare_on, verdict
from harness.errors import HarnessError, did_you_mean
from harness.reporting.captions import system_heads
from harness.reporting.numbers import number
from harness.reporting.views import ViewTable
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable, System
from harness.spec.models import ViewSpec
from harness.stats.paired import LEVEL

DRAWS = 10_000
"""Random sign patterns of the paired test."""
METHOD_NOTE = f"mean difference of the examples' scores; paired sign flips, {DRAWS} draws, level {LEVEL}, no correction for many tests"


def verdict_table(view: ViewSpec, records: Sequence[ResultRecord], samples: SampleTable) -> ViewTable:
    """Return a row per model (and decoding) and a column per metric: ``better``, ``worse`` or ``=`` with the mean difference.

    The baseline is the model ``view.against``. For ``y: "*"`` metrics without scores per example or without a direction are
    left out. Raises :class:`HarnessError` for an unknown baseline or metric.
    """
    directions = {record.metric: record.higher_is_better for record in records}
    scored = [name for name in samples.scored_columns if directions.get(name) is not None]
    metrics = scored if view.metrics == ["*"] else view.metrics
    for name in metrics:
        if name not in scored:
            raise HarnessError(
                f"a view of verdicts asks for '{name}'{did_you_mean(name, scored)}; with a score per example there are {', '.join(scored)}"
            )
    models = list(dict.fromkeys(system.model for system in samples.systems))
    baseline = str(view.against)
    if baseline not in models:
        hint = did_you_mean(baseline, models)
        raise HarnessError(f"there is no model '{baseline}'{hint} to compare with; there are {', '.join(models)}")
    baselines = {system.decoding_key: system for system in samples.systems if system.model == baseline}
    rows: list[tuple[str, tuple[str, ...]]] = []
    for label, system in zip(system_heads(samples.systems), samples.systems):
        if system.model != baseline and system.decoding_key in baselines:
            other = baselines[system.decoding_key]
            rows.append((label, tuple(_cell(system, other, name, directions[name]) for name in metrics)))
    return ViewTable(f"against {baseline}", tuple(metrics), tuple(rows), None)


def _cell(system: System, baseline: System, metric: str, higher_is_better: bool | None) -> str:
    shared = [example for example in system.examples if example in baseline.row_of]
    outcome = compare_on(system, baseline, metric, shared, draws=DRAWS, samples=0) if shared else None
    if outcome is None:
        return "–"
    paired, _ = outcome
    sign = "+" if paired.difference > 0 else ""
    difference = f"{sign}{number(paired.difference)}"
    word = {"A": "better", "B": "worse"}.get(verdict(paired.difference, paired.p_value, higher_is_better))
    return f"{word} {difference}" if word else f"= {difference} (p {paired.p_value:.2g})"
