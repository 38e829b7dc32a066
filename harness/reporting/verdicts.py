"""Views that say who beats a baseline: paired tests on the scores of the same examples."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.errors import HarnessError, did_you_mean
from harness.reporting.captions import FIXED, Samples
from harness.reporting.console import decoding_text, number
from harness.reporting.views import ViewTable
from harness.stats.paired import compare

LEVEL = 0.05
DRAWS = 10_000
HOW = f"mean difference of the examples' scores; paired sign flips, {DRAWS} draws, level {LEVEL}, no correction for many tests"


def verdict_table(view: Mapping[str, Any], results: Sequence[Mapping[str, Any]], samples: Samples) -> ViewTable:
    """A row per model (and decoding), a column per metric: ``better``, ``worse`` or ``=`` beside the model called ``view["against"]``,
    with the mean difference. Metrics without scores per example or without a direction are left out where ``y`` is ``"*"``.

    Raises :class:`HarnessError` for a baseline or a metric that is not there.
    """
    directions = {record["metric"]: record["higher_is_better"] for record in results}
    scored = [name for name in samples if name not in FIXED and directions.get(name) is not None]
    wanted = [view["y"]] if isinstance(view["y"], str) else list(view["y"])
    metrics = scored if wanted == ["*"] else wanted
    for name in metrics:
        if name not in scored:
            raise HarnessError(
                f"a view of verdicts asks for '{name}'{did_you_mean(name, scored)}; with a score per example there are {', '.join(scored)}"
            )
    systems = _systems(samples)
    models = list(dict.fromkeys(model for model, _ in systems))
    against = str(view["against"])
    if against not in models:
        hint = did_you_mean(against, models)
        raise HarnessError(f"there is no model '{against}'{hint} to compare with; there are {', '.join(models)}")
    several = len({decoding for _, decoding in systems}) > 1
    rows = []
    for (model, decoding), own in systems.items():
        if model == against or (against, decoding) not in systems:
            continue
        other = systems[against, decoding]
        label = f"{model} {decoding_text(json.loads(decoding))}".strip() if several else model
        rows.append((label, tuple(_cell(own, other, samples[name], bool(directions[name])) for name in metrics)))
    return ViewTable(f"against {against}", tuple(metrics), tuple(rows), None)


def _systems(samples: Samples) -> dict[tuple[str, str], dict[str, int]]:
    """(model, decoding) -> example -> row of the samples."""
    systems: dict[tuple[str, str], dict[str, int]] = {}
    for row, key in enumerate(zip(samples["model"], samples["decoding"])):
        systems.setdefault(key, {})[samples["example"][row]] = row
    return systems


def _cell(own: Mapping[str, int], other: Mapping[str, int], scores: Sequence[float | None], higher: bool) -> str:
    shared = [example for example in own if example in other]
    a, b = (np.array([_float(scores[at[e]]) for e in shared]) for at in (own, other))
    if not shared or np.all(np.isnan(a) | np.isnan(b)):
        return "–"
    outcome = compare(a, b, draws=DRAWS, samples=0)
    sign = "+" if outcome.difference > 0 else ""
    told = f"{sign}{number(outcome.difference)}"
    if outcome.p_value > LEVEL or outcome.difference == 0:
        return f"= {told} (p {outcome.p_value:.2g})"
    return f"{'better' if (outcome.difference > 0) == higher else 'worse'} {told}"


def _float(value: float | None) -> float:
    return math.nan if value is None else value
