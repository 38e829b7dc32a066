"""Checks of a metric's conduct: unchanged inputs, repeatable numbers, plain data,
no side effects.
"""

from __future__ import annotations

import copy
import time
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from harness.contracts import Details, is_defined
from harness.files.captions import count_words
from harness.testing import shared_checks
from harness.testing.metric_subject import (
    MetricSubject,
    TokenScoreSubject,
    copy_of_sets,
    same_rows,
    token_scores,
)
from harness.testing.results import Checks, NotApplicable, ensure

CONDUCT_CHECKS = Checks("metrics")
LARGE_SHAPE = (100, 5)
"""Candidates and references of the example on which the declared memory is checked:
cubic arrays of them take 10 MB.
"""
COST_SLACK = 4e6
"""Bytes by which the memory may differ from three times the declared one,
and the reverse.
"""
TOKEN_SCORE_CHECKS = Checks("metrics")


@CONDUCT_CHECKS.of(MetricSubject)
def inputs_unchanged(subject: MetricSubject) -> None:
    """Texts, ids, statistics and weights are not modified."""
    _ = subject.base
    metric = subject.component
    features = subject.fit_features()

    before = copy_of_sets(subject.sets)
    batch = features.batch(subject.sets)
    ids = batch.text_ids.copy()
    stats = metric.stats(batch, features, subject.state(features))

    ensure(np.array_equal(ids, batch.text_ids), "modifies the batch's text_ids")
    ensure(copy_of_sets(subject.sets) == before, "modifies the caption sets")

    # the statistics of a run are kept, and their weights are shared by all draws
    stats = stats[is_defined(stats)]
    stats_before = copy.deepcopy(stats)
    weights = np.ones((2, len(stats)))
    _ = metric.per_example(stats), metric.reduce(stats), metric.reduce(stats, weights)
    ensure(
        same_rows(stats_before, stats), "per_example or reduce modifies the statistics"
    )
    ensure((weights == 1).all(), "reduce modifies the weights")


CONDUCT_CHECKS.extend([*shared_checks.REPEATABLE, shared_checks.signature_in_use])


@CONDUCT_CHECKS.of(MetricSubject)
def json_safe(subject: MetricSubject) -> None:
    """``details`` returns a mapping of plain data, which JSON can hold."""
    subject.base  # noqa: B018  (raises when the recorded run failed)
    if not isinstance(subject.component, Details):
        raise NotApplicable("has no details")
    numbers = subject.compute()
    details = subject.component.details(numbers.stats[numbers.is_defined])
    ensure(
        isinstance(details, dict),
        f"details() returns {type(details).__name__}; expected a dict",
    )
    for key, value in details.items():
        ensure(isinstance(key, str), f"details() has the key {key!r}; expected a text")
        ensure(
            _is_plain(value),
            f"details()['{key}'] is {value!r:.60}; expected plain data",
        )


@CONDUCT_CHECKS.of(MetricSubject)
def left_out(subject: MetricSubject) -> None:
    """``left_out`` has a share in (0, 1) and degrees of freedom, and depends on the
    statistics and the seed alone.
    """
    subject.base  # noqa: B018  (raises when the recorded run failed)
    metric = subject.component
    if not hasattr(metric, "left_out"):
        raise NotApplicable("leaves out no parts")

    numbers = subject.compute()
    stats = numbers.stats[numbers.is_defined]

    # parts are drawn by the seed alone
    first = metric.left_out(stats, 3)
    again = metric.left_out(stats, 3)
    ensure(
        np.array_equal(first.values, again.values, equal_nan=True),
        "left_out differs when it is called again",
    )

    ensure(
        0 < first.share < 1,
        f"left_out has the share {first.share}; expected a number in (0, 1)",
    )
    ensure(
        first.freedom >= 1,
        f"left_out has {first.freedom} degrees of freedom; expected at least 1",
    )
    ensure(
        first.values.ndim == 1 and len(first.values) > 1,
        f"left_out has values of shape {first.values.shape}; expected (K,), "
        "K at least 2",
    )


@CONDUCT_CHECKS.of(MetricSubject)
def declared_cost(subject: MetricSubject) -> None:
    """The memory for 100 + 5 texts is within a factor of three, and 4 MB, of what
    ``cost`` declares; the time is not far above it.
    """
    # raises when the recorded run failed; models and dictionaries are loaded
    subject.base  # noqa: B018
    metric = subject.component
    features = subject.fit_features()
    if not hasattr(metric, "cost") or not subject.accepts(*LARGE_SHAPE):
        raise NotApplicable("declares no cost, or does not score 100 + 5 texts")

    example = subject.reshape_sets(*LARGE_SHAPE)[0]
    # features of equal texts are shared
    distinct = tuple(
        f"{text} {number}" for number, text in enumerate(example.candidates)
    )

    state = subject.state(features)
    batch = features.batch([replace(example, candidates=distinct)])
    longest = max(count_words(text) for text in batch.texts[0])
    declared = metric.cost(*LARGE_SHAPE, longest)

    # the peak of what is allocated while the example is scored
    started = time.perf_counter()
    tracemalloc.start()
    try:
        metric.stats(batch, features, state)
        seconds = time.perf_counter() - started
        _, measured = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    # a declaration that is far too large would refuse work that fits
    expected = declared.bytes + declared.fixed
    too_low = measured > 3 * expected + COST_SLACK
    too_high = expected > 3 * measured + COST_SLACK
    ensure(
        not too_low and not too_high,
        f"takes {measured / 1e6:.1f} MB for 100 + 5 texts; "
        f"cost declares {expected / 1e6:.1f} MB",
    )
    ensure(
        seconds <= 10 * declared.seconds + 30,
        f"takes {seconds:.0f} s for 100 + 5 texts; cost declares "
        f"{declared.seconds:.3g} s",
    )


def _is_plain(value: object) -> bool:
    """Return whether a value consists of texts, numbers, booleans, None,
    numpy values, and containers of these.
    """
    if isinstance(value, Mapping):
        return all(
            isinstance(key, str) and _is_plain(item) for key, item in value.items()
        )
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(_is_plain(item) for item in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufU"
    return value is None or isinstance(
        value, (str, int, float, bool, np.number, np.bool_)
    )


CONDUCT_CHECKS.extend(shared_checks.CONDUCT)


@TOKEN_SCORE_CHECKS.of(TokenScoreSubject)
def columns(subject: TokenScoreSubject) -> None:
    """``evaluate_scores`` returns named numbers,
    ``per_example`` arrays of one score per example, (B,).
    """
    values = subject.ensure_runs()
    scores = token_scores()

    ensure(values, "evaluate_scores returns no column")
    wrong = [
        name
        for name, value in values.items()
        if not isinstance(name, str) or np.ndim(value) != 0
    ]
    ensure(not wrong, f"the column {wrong[:1]} is not a number with a name")

    for name, column in subject.component.per_example(scores).items():
        ensure(
            np.shape(column) == (len(scores),),
            f"per_example: column '{name}' has shape {np.shape(column)}",
        )


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
