"""Intervals of the squared MMD and of the held-out accuracy: their two parts, what has
none, and their coverage.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.decisions.same import effects as same_effects
from harness.decisions.same.effects import (
    Effect,
    degrees_of_freedom,
    effect_over_prompts,
    held_out_accuracy,
)
from harness.decisions.same.sources import Prompt
from harness.decisions.same.statistics import Settings, evaluate
from harness.stats.quantiles import student_quantile

NO_NULL = np.zeros(40)
"""Relabelings that change nothing."""


def effect_of(values, totals=NO_NULL, freedom=np.inf):
    return effect_over_prompts(np.array(values), totals, np.full(len(values), freedom))


def test_without_spread_under_relabeling_the_interval_is_students_t():
    effect = effect_of([0.1, 0.2, 0.3])
    half = student_quantile(2, 0.975) * 0.1 / 3**0.5
    assert effect.value == pytest.approx(0.2)
    assert effect.interval == pytest.approx((0.2 - half, 0.2 + half))
    assert effect.upper == pytest.approx(0.2 + student_quantile(2, 0.95) * 0.1 / 3**0.5)


@pytest.mark.parametrize(
    ("value", "seldom"), [(38.5, True), (37.0, False), (12.0, False)]
)
def test_the_lower_end_is_above_0_only_where_relabelings_seldom_reach_the_estimate(
    value, seldom
):
    # Of 40 means under relabeling, from -39 to 39, one exceeds 37: a share of .025.
    effect = effect_of([value, value], 2 * np.arange(-39.0, 40.0, 2.0))
    assert effect.interval is not None and (effect.interval[0] > 0) == seldom
    assert effect.interval[0] in (value, 0.0)


def test_the_spread_under_relabeling_is_added_without_the_part_of_the_difference():
    totals = np.tile([-0.3, 0.3], 20)
    half = student_quantile(2, 0.975) * 0.1 / 3**0.5
    for freedom, noise in (
        (np.inf, 0.1),
        (35.0, (0.01 - 0.14 / 35 / 9) ** 0.5),
        (1.0, 0.0),
    ):
        effect = effect_of([0.1, 0.2, 0.3], totals, freedom)
        assert effect.interval is not None
        assert effect.interval[1] == pytest.approx(
            0.2 + np.hypot(half, 1.959964 * noise)
        )
    assert degrees_of_freedom(10) == 35


def test_the_upper_end_of_an_estimate_below_0_is_above_0():
    effect = effect_of([-0.5, -0.51, -0.49], np.linspace(-0.3, 0.3, 40))
    assert (
        effect.interval is not None
        and effect.interval[1] > 0
        and effect.upper is not None
        and effect.upper > 0
    )


def test_undefined_prompts_do_not_count():
    assert effect_of([0.25, np.nan, 0.75]) == effect_of([0.25, 0.75])


@pytest.mark.parametrize(
    ("values", "value", "reason"),
    [
        ([np.nan, np.nan], None, "it needs two answers of each source to a prompt"),
        ([np.nan, 0.5], 0.5, "it needs two prompts"),
        ([0.0, 0.0, 0.0], 0.0, "no prompt differs from another"),
    ],
)
def test_what_has_no_interval_says_why(values, value, reason):
    assert effect_of(values) == Effect(value, reason=reason)


def checked(seed, prompts=6, answers=4, end=1.0, words=4):
    """Return the statistics of a check of random answers; those of the second source
    end with a full stop in a share.
    """
    rng = np.random.default_rng(seed)
    texts = [
        [
            f"a{rng.integers(words)} b{rng.integers(words)} c{k}"
            for _ in range(2 * answers)
        ]
        for k in range(prompts)
    ]
    second = [
        [text + "." * (rng.random() < end) for text in row[answers:]] for row in texts
    ]
    pairs = [
        Prompt(str(k), [text + "." for text in row[:answers]], other)
        for k, (row, other) in enumerate(zip(texts, second))
    ]
    return evaluate(pairs, Settings(("n-grams",), 99))


def accuracy_by_hand(outcome):
    """Return the share of every prompt, by loops over folds, prompts and pairs."""
    (stratum,) = outcome.strata
    rows = outcome.features[stratum.rows]
    rows = rows - rows.mean(axis=1, keepdims=True)
    shares = []
    for position, own in enumerate(rows):
        others = [row for k, row in enumerate(rows) if k % 5 != position % 5]
        weights = sum(row[: stratum.n].sum(axis=0) for row in others) / sum(
            (row**2).sum(axis=0) + 1e-15 for row in others
        )
        scores = own @ weights
        pairs = [(a, b) for a in scores[: stratum.n] for b in scores[stratum.n :]]
        shares.append(
            np.mean([0.5 if abs(a - b) < 1e-9 else float(a > b) for a, b in pairs])
        )
    return np.array(shares)


@pytest.mark.parametrize("prompts", [2, 6, 11])
def test_the_accuracy_is_the_share_of_pairs_in_the_order_of_the_other_folds(prompts):
    outcome = checked(prompts, prompts, end=0.6)
    effect = held_out_accuracy(outcome.strata, outcome.features, 99, 0)
    shares = accuracy_by_hand(outcome)
    assert effect.value == pytest.approx(shares.mean())
    half = (
        student_quantile(prompts - 1, 0.975) * (2 * shares.var(ddof=1) / prompts) ** 0.5
    )
    low = max(shares.mean() - half, 0.0)
    high = min(shares.mean() + half, 1.0)
    assert effect.interval in (
        pytest.approx((low, high)),
        pytest.approx((min(low, 0.5), max(high, 0.5))),
    )


def test_the_accuracy_does_not_depend_on_how_many_scores_are_held(monkeypatch):
    outcome = checked(3, 12, end=0.5)
    expected = held_out_accuracy(outcome.strata, outcome.features, 99, 0)
    monkeypatch.setattr(same_effects, "_SCORES", 900)
    assert held_out_accuracy(outcome.strata, outcome.features, 99, 0) == expected


def test_the_accuracy_stays_between_0_and_1():
    apart = checked(1, prompts=5, end=0.2)
    effect = held_out_accuracy(apart.strata, apart.features, 99, 0)
    assert (
        effect.value
        and 0.8 < effect.value < 1
        and effect.interval is not None
        and effect.interval[1] == 1.0
    )


@pytest.mark.parametrize(
    ("value", "reason", "case"),
    [
        (0.5, "it needs two prompts", {"prompts": 1}),
        (0.5, "no prompt differs from another", {"words": 1}),
        (1.0, "no prompt differs from another", {"end": 0.0}),
    ],
)
def test_an_accuracy_without_an_interval_says_why(value, reason, case):
    outcome = checked(1, **case)
    assert held_out_accuracy(outcome.strata, outcome.features, 99, 0) == Effect(
        value, reason=reason
    )


@pytest.mark.slow
def test_the_intervals_of_equal_sources_contain_the_truth():
    accuracy = 0
    distance = 0
    runs = 400
    for run in range(runs):
        outcome = checked(run, prompts=10, answers=5)
        low, high = held_out_accuracy(
            outcome.strata, outcome.features, 99, run
        ).interval or (1.0, 0.0)
        accuracy += low <= 0.5 <= high
        low, high = outcome.effect("n-grams").interval or (1.0, 0.0)
        distance += low <= 0 <= high
    assert min(accuracy, distance) >= 0.93 * runs, (
        "a t interval over prompts has .87 for the accuracy"
    )
