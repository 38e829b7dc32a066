"""Embedding metrics through the interface of the runner."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet, Metric, Permutes
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.stats.significance import metric_p_values
from harness_metrics.kernel.metric import Energy, Frechet, Mmd, SlicedWasserstein
from tests.support import kernel_values

METRICS = {
    "mmd": lambda e: Mmd(embedding=e),
    "mmd-unbiased": lambda e: Mmd(embedding=e, estimator="unbiased"),
    "frechet": lambda e: Frechet(embedding=e),
    "energy": lambda e: Energy(embedding=e),
    "sliced": lambda e: SlicedWasserstein(embedding=e, projections=8),
}


class Letters:
    """Embedding by counts of letters in some unit, which records its calls."""

    name = "letters"

    def __init__(self, unit: float = 1.0):
        self.calls: list[list[str]] = []
        self.unit = unit

    def signature(self):
        return "letters"

    def fit(self, references):
        pass

    def encode(self, texts):
        self.calls.append(list(texts))
        return np.array(
            [[text.count(c) * self.unit for c in "abcdefgh"] for text in texts],
            dtype=np.float32,
        )


def batch_of(n, m, number=3, seed=0):
    rng = np.random.default_rng([seed, n, m])

    def text():
        return "".join(rng.choice(list("abcdefgh"), size=rng.integers(1, 9)))

    sets = [
        CaptionSet(
            str(i), tuple(text() for _ in range(n)), tuple(text() for _ in range(m))
        )
        for i in range(number)
    ]
    features = FeatureCache([item.references for item in sets])
    return features.batch(sets), features


@pytest.mark.parametrize("name", METRICS)
def test_exact_p_values_agree_with_monte_carlo(name):
    metric = METRICS[name](Letters())
    batch, features = batch_of(4, 3)
    observed = metric.per_example(metric.stats(batch, features, None))
    exact = metric_p_values(metric, batch, features, None, observed)
    sampled = metric_p_values(
        metric, batch, features, None, observed, method="monte-carlo", draws=4000
    )
    assert isinstance(metric, (Metric, Permutes))
    assert exact.method == "exact"
    assert (exact.values >= exact.floor).all()
    assert np.abs(exact.values - sampled.values).max() < 0.03


@pytest.mark.parametrize("method", ["exact", "monte-carlo"])
@pytest.mark.parametrize("name", METRICS)
def test_the_unit_of_the_embedding_changes_no_p_value(name, method):
    values = []
    for unit in (2.0**-40, 2.0**-14, 1.0, 2.0**40):
        metric = METRICS[name](Letters(unit))
        batch, features = batch_of(3, 3, number=6)
        observed = metric.per_example(metric.stats(batch, features, None))
        p = metric_p_values(
            metric, batch, features, None, observed, method=method, draws=300
        )
        values.append(p.values.tolist())
    assert values.count(values[0]) == len(values)


@pytest.mark.equal_bits
@pytest.mark.parametrize("method", ["exact", "monte-carlo"])
@pytest.mark.parametrize("unit", [1e-12, 0.1, 1e12])
@pytest.mark.parametrize("name", METRICS)
def test_identical_texts_score_zero_with_p_one(name, unit, method):
    metric = METRICS[name](Letters(unit))
    features = FeatureCache()
    batch = features.batch([CaptionSet("1", ("abc",) * 3, ("abc",) * 2)])
    observed = metric.per_example(metric.stats(batch, features, None))
    assert observed.tolist() == [0.0]
    p = metric_p_values(
        metric, batch, features, None, observed, method=method, draws=50
    )
    assert p.values.tolist() == [1.0]


def test_values_are_the_pure_functions():
    batch, features = batch_of(4, 3)
    embedding = Letters()
    vectors = features.vectors(embedding, batch.text_ids)
    x, y = vectors[:, :4], vectors[:, 4:]
    assert Mmd(embedding=embedding).scores(batch, features, None) == pytest.approx(
        kernel_values.mmd(x, y)
    )
    assert Frechet(embedding=embedding).scores(batch, features, None) == pytest.approx(
        kernel_values.frechet(x, y)
    )


def test_each_distinct_text_is_encoded_once_for_all_metrics():
    batch, features = batch_of(4, 3)
    models = [Letters(), Letters()]
    for model in models:
        for metric in METRICS.values():
            metric(model).stats(batch, features, None)
    texts = [text for model in models for call in model.calls for text in call]
    assert len(texts) == len(set(texts)) == len(features.texts)


def test_names_and_least_sizes():
    assert Mmd(embedding=Letters()).spec.name == "mmd(letters)"
    unbiased = Mmd(embedding=Letters(), estimator="unbiased")
    assert unbiased.spec.name == "mmd(letters, unbiased)"
    assert (unbiased.spec.min_candidates, unbiased.spec.min_references) == (2, 2)
    assert len({metric(Letters()).signature() for metric in METRICS.values()}) == len(
        METRICS
    )
    assert (
        SlicedWasserstein(embedding=Letters(), seed=1).signature()
        != SlicedWasserstein(embedding=Letters()).signature()
    )


def test_bad_parameters_and_vectors_are_errors():
    with pytest.raises(HarnessError, match="estimator"):
        Mmd(embedding=Letters(), estimator="biassed")
    with pytest.raises(
        HarnessError, match="projections is 0 and p is 2.0; both must be at least 1"
    ):
        SlicedWasserstein(embedding=Letters(), projections=0)
    assert SlicedWasserstein(embedding=Letters(), projections=1).projections == 1

    class Wrong(Letters):
        def encode(self, texts):
            return np.zeros((len(texts) + 1, 2))

    batch, features = batch_of(2, 2)
    with pytest.raises(HarnessError, match="embedding 'letters' returned shape"):
        Mmd(embedding=Wrong()).stats(batch, features, None)
