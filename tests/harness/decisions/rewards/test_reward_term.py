"""Credits of the captions of sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import CaptionSet, CreditsCandidates
from harness.decisions.rewards.reward_term import leave_each_out
from harness.registry import current
from harness.run.features import FeatureCache
from harness.run.score import fit_once
from harness_metrics.kernel import geometry
from harness_metrics.kernel.energy import energy_kernel

REFERENCES = [
    ["a dog runs", "the dog", "a brown dog runs in the park", "dog", "two dogs run"],
    ["a cat sat", "one cat", "a black cat sits", "cats", "a cat on a mat"],
]
METRICS: dict[str, tuple[str, dict[str, Any]]] = {
    "trm": ("trm", {"distance": "cider"}),
    "trm-per-direction": ("trm", {"distance": "bleu", "pooling": "per-direction"}),
    "mmd": ("mmd", {"embedding": "bow", "estimator": "unbiased"}),
    "vendi": ("vendi", {"embedding": "bow"}),
    "vendi-inf": ("vendi", {"embedding": "bow", "q": "inf"}),
    "self-cider": ("self-cider", {}),
    "coverage": ("coverage-example", {"distance": "cider"}),
    "coverage-k2": ("coverage-example", {"distance": "bleu", "k": 2}),
}
TEXTS = st.lists(
    st.sampled_from(["a", "the", "dog", "cat", "runs", "sits", "park"]), max_size=5
).map(" ".join)


def scorer(name: str) -> tuple[Any, FeatureCache, Any]:
    metric = (
        current().create("metrics", *METRICS[name])
        if name in METRICS
        else current().create("metrics", name, {"embedding": "bow"})
    )
    features = FeatureCache(REFERENCES)
    return metric, features, fit_once(metric, features)


@pytest.mark.parametrize("name", METRICS)
@given(candidates=st.lists(TEXTS, min_size=3, max_size=6))
def test_credits_are_those_of_scoring_again(name: str, candidates: list[str]) -> None:
    metric, features, state = scorer(name)
    batch = features.batch(
        [
            CaptionSet(str(k), tuple(candidates), tuple(texts))
            for k, texts in enumerate(REFERENCES)
        ]
    )
    assert isinstance(metric, CreditsCandidates)
    credits = metric.credits(batch, features, state)
    assert credits.shape == (2, len(candidates))
    np.testing.assert_allclose(
        credits, leave_each_out(metric, batch, features, state), rtol=0, atol=1e-12
    )


@given(candidates=st.lists(TEXTS, min_size=3, max_size=6))
def test_credits_of_the_energy_distance_are_those_of_the_u_statistic(
    candidates: list[str],
) -> None:
    metric, features, state = scorer("energy")
    batch = features.batch([CaptionSet("0", tuple(candidates), tuple(REFERENCES[0]))])
    vectors = features.vectors(metric.embedding, batch.text_ids)

    def value(rows: list[int]) -> float:
        inner = geometry.gram(vectors[:, [*rows, *range(batch.n, batch.n + batch.m)]])
        return float(
            geometry.two_sample(energy_kernel(inner), len(rows), "unbiased")[0]
        )

    all_rows = list(range(batch.n))
    expected = [
        value(all_rows) - value([row for row in all_rows if row != i]) for i in all_rows
    ]
    np.testing.assert_allclose(
        metric.credits(batch, features, state)[0], expected, rtol=0, atol=1e-12
    )
