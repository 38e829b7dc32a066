"""Credits of metrics of sets: equal to scoring without each caption again, and an unbiased gradient."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import reward
from harness.contracts import CaptionSet, CreditsCandidates
from harness.registry import current
from harness.run.features import FeatureCache
from harness.run.reward_object import leave_each_out
from harness.run.score import fit_once
from harness_metrics.kernel import geometry
from harness_metrics.kernel.metric import energy_kernel

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
TEXTS = st.lists(st.sampled_from(["a", "the", "dog", "cat", "runs", "sits", "park"]), max_size=5).map(" ".join)


def scorer(name: str) -> tuple[Any, FeatureCache, Any]:
    metric = current().create("metrics", *METRICS[name]) if name in METRICS else current().create("metrics", name, {"embedding": "bow"})
    features = FeatureCache(REFERENCES)
    return metric, features, fit_once(metric, features)


@pytest.mark.parametrize("name", METRICS)
@given(candidates=st.lists(TEXTS, min_size=3, max_size=6))
def test_credits_are_those_of_scoring_again(name: str, candidates: list[str]) -> None:
    metric, features, state = scorer(name)
    batch = features.batch([CaptionSet(str(k), tuple(candidates), tuple(texts)) for k, texts in enumerate(REFERENCES)])
    assert isinstance(metric, CreditsCandidates)
    credits = metric.credits(batch, features, state)
    assert credits.shape == (2, len(candidates))
    np.testing.assert_allclose(credits, leave_each_out(metric, batch, features, state), rtol=0, atol=1e-12)


@given(candidates=st.lists(TEXTS, min_size=3, max_size=6))
def test_credits_of_the_energy_distance_are_those_of_the_u_statistic(candidates: list[str]) -> None:
    metric, features, state = scorer("energy")
    batch = features.batch([CaptionSet("0", tuple(candidates), tuple(REFERENCES[0]))])
    vectors = features.vectors(metric.embedding, batch.text_ids)

    def value(rows: list[int]) -> float:
        inner = geometry.gram(vectors[:, [*rows, *range(batch.n, batch.n + batch.m)]])
        return float(geometry.two_sample(energy_kernel(inner), len(rows), "unbiased")[0])

    all_rows = list(range(batch.n))
    expected = [value(all_rows) - value([row for row in all_rows if row != i]) for i in all_rows]
    np.testing.assert_allclose(metric.credits(batch, features, state)[0], expected, rtol=0, atol=1e-12)


def policy_gradients(name: str, scale: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact gradient of E[S] for a categorical policy over six captions and k = 3, and the expected estimate by credits."""
    captions = ["a dog runs", "the dog in the park", "a cat", "dogs", "a brown dog runs", "the park"]
    logits = np.array([0.3, -0.2, 0.5, 0.0, 1.0, -0.7])
    policy = np.exp(logits) / np.exp(logits).sum()
    sets = list(product(range(6), repeat=3))
    metric, features, state = scorer(name)
    batch = features.batch([CaptionSet("0", tuple(captions[c] for c in chosen), tuple(REFERENCES[0])) for chosen in sets])
    values, credits = metric.per_example(metric.stats(batch, features, state)), metric.credits(batch, features, state)
    if scale:  # as GRPO scales the rewards of a group
        credits = (credits - credits.mean(axis=1, keepdims=True)) / (credits.std(axis=1, ddof=1, keepdims=True) + 1e-4)
    probabilities = policy[np.array(sets)].prod(axis=1)
    scores = np.eye(6)[np.array(sets)] - policy  # grad log pi(c_i), shape (216, 3, 6)
    exact = probabilities @ (values[:, None] * scores.sum(axis=1))
    return exact, probabilities @ np.einsum("si,siv->sv", credits, scores)


@pytest.mark.parametrize("name", ["trm", "trm-per-direction", "mmd", "vendi", "self-cider", "coverage"])
def test_the_expected_estimate_by_credits_is_the_gradient(name: str) -> None:
    exact, estimate = policy_gradients(name)
    assert np.abs(exact).max() > 1e-3
    np.testing.assert_allclose(estimate, exact, rtol=0, atol=1e-10)


def test_the_scaling_of_grpo_biases_the_gradient() -> None:
    exact, estimate = policy_gradients("mmd", scale=True)
    assert not np.allclose(estimate / np.linalg.norm(estimate), exact / np.linalg.norm(exact), atol=0.05)


def test_small_groups_and_drawn_triangles_are_refused() -> None:
    mmd = current().create("metrics", "mmd", {"embedding": "bow"})
    features = FeatureCache(REFERENCES)
    with pytest.raises(Exception, match="needs groups of 3 and 2 references"):
        mmd.credits(features.batch([CaptionSet("0", ("a", "b"), ("c", "d"))]), features, None)
    drawn = current().create("metrics", "trm", {"triangles": "sampled"})
    with pytest.raises(Exception, match="a reward needs triangles=all"):
        drawn.credits(features.batch([CaptionSet("0", ("a", "b"), ("c", "d"))]), features, None)


def test_a_reward_shows_its_terms_with_their_weights() -> None:
    assert repr(reward("rouge", dict(zip("ab", REFERENCES)))) == "<reward +1 rouge>"
