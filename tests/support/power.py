"""Sizes of a pilot run without the search for those that reach a target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.decisions.power.sizes import Size, SizeRequest, model_studies, rule_of
from harness.decisions.power.trials import TrialOptions


def plan_sizes(
    path: str | Path,
    *,
    metrics: Sequence[str] = (),
    candidates: Iterable[int] = (),
    references: Iterable[int] = (),
    examples: Iterable[int] = (),
    repeats: int = 3,
    target_p: float = 0.05,
    alpha: float = 0.05,
    seed: int = 0,
    limit: int | None = None,
    combine: str = "fisher-discrete",
) -> list[Size]:
    """Return p-value and power of every metric and model at every size; parameters as
    for :func:`harness.power`.
    """
    request = SizeRequest(tuple(candidates), tuple(references), tuple(examples))
    options = TrialOptions(
        repeats, alpha, target_p, seed, rule_of(combine), lambda steps: None
    )
    return [
        size
        for study in model_studies(path, metrics, request, options, limit)
        for size in study.sizes
    ]
