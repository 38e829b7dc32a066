"""Metrics as kernels of ``harness same``: their statistics under relabelings,
exactness, what is refused.
"""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.decisions.same.metric_kernels import MetricKernels, metric_kernel
from harness.decisions.same.same import compare_sources
from harness.decisions.same.sources import Prompt, Source
from harness.decisions.same.statistics import Settings, evaluate
from harness.errors import HarnessError
from harness.stats import permutation
from harness.stats.stratified_test import Stratum

TEXTS = [
    "a dog runs",
    "a dog sits",
    "the cat sits",
    "a man sleeps",
    "a dog runs fast",
    "two cats",
]


@pytest.mark.parametrize("name", ["trm:distance=meteor", "mmd:embedding=bow", "rouge"])
def test_statistics_are_the_scores_of_the_relabeled_answers(name):
    labels = permutation.relabelings(3, 3)
    values = MetricKernels([name], [TEXTS]).scores(
        Stratum(np.array([0]), np.arange(6)[None], 3), labels[None].astype(float)
    )
    # vocabulary and document frequencies of the others are those of the references
    # alone in a score
    if name.startswith("trm"):
        sets = [
            (
                [t for t, s in zip(TEXTS, row) if s],
                [t for t, s in zip(TEXTS, row) if not s],
            )
            for row in labels
        ]
        scores = (
            harness.score([c for c, _ in sets], [r for _, r in sets], name)
            .popitem()[1]
            .per_example
        )
        assert values[0, :, 0] == pytest.approx(scores, abs=1e-9)
    assert (
        values.shape == (1, 20, 1)
        and np.isfinite(values).all()
        and len(np.unique(values.round(9))) > 3
    )


def test_a_p_value_of_all_relabelings_is_that_of_the_metric():
    prompts = [
        Prompt(
            "p",
            ["a dog runs", "a dog sits", "a dog lies"],
            ["a man sings", "the man sleeps", "one man", "men"],
        )
    ]
    outcome = evaluate(prompts, Settings(kernels=["trm:distance=meteor"], draws=99))
    expected = harness.metric("trm", distance="meteor", p_value="exact")(
        [list(prompts[0].a)], [list(prompts[0].b)]
    ).p_values[0]
    assert outcome.relabelings.exact and outcome.relabelings.number == 35
    column = outcome.columns[:, outcome.tested.index("trm:distance=meteor")]
    assert (column >= column[0] - 1e-9).mean() == pytest.approx(expected)


def test_metrics_and_strings_are_tested_together_and_the_effect_is_that_of_the_first():
    def answers(verbs, seed):
        rng = np.random.default_rng(seed)
        return {
            str(k): [
                f"a {rng.choice(['dog', 'cat'])} {rng.choice(verbs)}" for _ in range(5)
            ]
            for k in range(8)
        }

    a = Source("a", answers(["runs", "sits"], 0))
    b = Source("b", answers(["flies", "sits"], 1))
    settings = Settings(kernels=["mmd:embedding=bow", "tokens"], draws=99, power=False)
    result = compare_sources(a, b, settings)
    assert result.verdict == "different"
    assert list(result.kernels) == [
        "tokens",
        "mmd:embedding=bow",
        "largest shift",
        "all shifts",
        "similarity",
        "length",
    ]
    alone = compare_sources(
        a, b, Settings(kernels=["mmd:embedding=bow"], draws=99, power=False)
    )
    assert (
        alone.effect == result.effect
        and alone.effect.value > 0
        and "similarity" not in alone.kernels
    )


def test_sizes_that_a_metric_cannot_score_have_no_information():
    prompts = [
        Prompt("1", ["a dog"], ["a cat"]),
        Prompt("2", ["a dog", "a cow"], ["a cat"]),
    ]
    outcome = evaluate(prompts, Settings(kernels=["trm:distance=meteor"], draws=9))
    assert np.isnan(outcome.sums.effects[0, 0]) and outcome.p > 0.05


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("trm:distance=metoer", "did you mean 'meteor'"),
        ("token", "did you mean 'tokens'"),
        ("vendi", "vendi"),
        ("distinct", "candidates alone"),
    ],
)
def test_what_is_no_kernel_is_refused(name, message):
    with pytest.raises(HarnessError, match=message):
        metric_kernel(name)
