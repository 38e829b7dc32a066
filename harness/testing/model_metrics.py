"""The checks of a metric of level ``model``, on made-up token scores."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from harness.contracts import TokenScores
from harness.testing.metric_subject import MetricSubject
from harness.testing.metrics import METRIC_CHECKS
from harness.testing.results import NotApplicable, ensure


def token_scores(examples: int = 5, references: int = 3, seed: int = 0) -> list[list[TokenScores]]:
    """Random log-probabilities and ranks of ``references`` texts for each example."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(examples):
        own = []
        for length in rng.integers(3, 9, references).tolist():
            p = rng.uniform(0.01, 0.9, length)
            words = tuple(f"w{k}" for k in rng.integers(0, 30, length))
            own.append(TokenScores(np.log(p), np.where(p > 0.5, 0, rng.integers(1, 50, length)), words))
        made.append(own)
    return made


@METRIC_CHECKS.add
def columns(subject: MetricSubject) -> None:
    """``evaluate_scores`` gives named numbers, the same again, and ``per_example`` columns of one score per example."""
    metric = _model_metric(subject)
    given = token_scores()
    made = metric.evaluate_scores(given)
    ensure(isinstance(made, dict) and made, f"evaluate_scores gives {type(made).__name__}; expected columns")
    wrong = [name for name, value in made.items() if not isinstance(name, str) or np.ndim(value) != 0]
    ensure(not wrong, f"the column {wrong[:1]} is no number with a name")
    again = metric.evaluate_scores(token_scores())
    ensure(list(made) == list(again), "gives other columns when run again")
    same = np.allclose(list(made.values()), list(again.values()), rtol=0, atol=0, equal_nan=True)
    ensure(same, "gives other numbers when run again")
    for name, values in metric.per_example(given).items():
        ensure(np.shape(values) == (len(given),), f"per_example: column '{name}' has shape {np.shape(values)}")


@METRIC_CHECKS.add
def token_scores_unchanged(subject: MetricSubject) -> None:
    """The token scores stay as they were."""
    metric = _model_metric(subject)
    given = token_scores()
    before = copy.deepcopy(given)
    metric.evaluate_scores(given)
    for own, kept in zip(given, before):
        for one, other in zip(own, kept):
            same = np.array_equal(one.log_probs, other.log_probs) and np.array_equal(one.ranks, other.ranks)
            ensure(same, "changes the token scores")


def _model_metric(subject: MetricSubject) -> Any:
    if not subject.model_level:
        raise NotApplicable("judges captions, not token scores")
    return subject.metric
