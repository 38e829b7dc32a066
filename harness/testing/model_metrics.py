"""Checks of metrics of level ``model``, on random token scores."""

from __future__ import annotations

import copy

import numpy as np

from harness.testing.metric_subject import TokenScoreSubject, token_scores
from harness.testing.results import Checks, ensure

TOKEN_SCORE_CHECKS = Checks("metrics")


@TOKEN_SCORE_CHECKS.of(TokenScoreSubject)
def columns(subject: TokenScoreSubject) -> None:
    """``evaluate_scores`` returns named numbers, ``per_example`` arrays of one score per example, (B,)."""
    values, scores = subject.ensure_runs(), token_scores()
    ensure(values, "evaluate_scores returns no column")
    wrong = [name for name, value in values.items() if not isinstance(name, str) or np.ndim(value) != 0]
    ensure(not wrong, f"the column {wrong[:1]} is not a number with a name")
    for name, column in subject.component.per_example(scores).items():
        ensure(np.shape(column) == (len(scores),), f"per_example: column '{name}' has shape {np.shape(column)}")


@TOKEN_SCORE_CHECKS.of(TokenScoreSubject)
def token_scores_unchanged(subject: TokenScoreSubject) -> None:
    """The token scores are not modified."""
    scores = token_scores()
    before = copy.deepcopy(scores)
    subject.component.evaluate_scores(scores)
    for example, example_before in zip(scores, before):
        for entry, entry_before in zip(example, example_before):
            same = np.array_equal(entry.log_probs, entry_before.log_probs)
            same &= np.array_equal(entry.ranks, entry_before.ranks)
            ensure(same, "modifies the token scores")
