"""Tests between metrics on each kind of headline: a better metric wins, equal metrics share a cluster."""

import numpy as np
import pytest

from harness.contracts import JudgedCaption, JudgedItem, JudgedPair, Judgments
from harness.judgments.agreement import MetricScores, agreements
from harness.judgments.between_metrics import compare_metrics
from harness.judgments.rows import JudgmentRows
from harness.spec.judgment_models import JudgmentSpec

ITEMS = 40


def rows(statistic, **keys):
    """Captions of two systems with ratings in two halves, or pairs of them."""
    rng = np.random.default_rng(0)
    label = statistic in ("auc", "average_precision")
    human = rng.integers(0, 2, 4 * ITEMS) if label else rng.integers(1, 6, 4 * ITEMS)
    form = "pairs" if statistic == "accuracy" else "captions"
    captions = tuple(JudgedCaption(k // 4, (str(k),), f"s{k % 4}", (float(h),), (), {}, {"kind": "ab"[k % 2]}) for k, h in enumerate(human))
    pairs = tuple(JudgedPair(k, k + 1, float(human[k] - human[k + 1]), {"kind": "ab"[k // 2 % 2]}) for k in range(0, 4 * ITEMS, 2))
    judgments = Judgments("f", tuple(JudgedItem(str(i), ("r",)) for i in range(ITEMS)), captions, pairs if form == "pairs" else ())
    spec = {"task": "t", "metrics": ["m"], "judgments": {"form": form, "path": "f"}, "tests": {"draws": 200}, **keys}
    return JudgmentRows(judgments, JudgmentSpec.model_validate({**spec, "statistics": [statistic, *keys.get("statistics", [])]})), human


def metrics(human):
    rng = np.random.default_rng(1)
    good = human + rng.normal(size=len(human)) * 0.7
    noise = [good, good + rng.normal(size=len(human)) * 0.01, rng.normal(size=len(human))]
    return [MetricScores(values[:, None]) for values in noise]


@pytest.mark.parametrize(
    "statistic", ["kendall_b", "kendall_c", "pearson", "spearman", "kendall_within", "accuracy", "auc", "average_precision"]
)
@pytest.mark.parametrize("groups", [None, {"by": "kind", "headline": "mean"}])
def test_a_metric_beats_noise(statistic, groups):
    judged, human = rows(statistic, **({"groups": groups} if groups else {}))
    scores = metrics(human)
    headline = judged.spec.headline
    values = [float(agreements(judged, m, statistic)[headline[1]].reduce(np.ones((1, ITEMS)))[0]) for m in scores]
    tests = compare_metrics(judged, scores, values)
    assert tests.ranks == (1, 1, 2)
    assert tests.p_values[0, 2] <= 0.05 < tests.p_values[0, 1]
    assert (tests.raw[0, 2] <= tests.p_values[0, 2]) and tests.raw[0, 2] == tests.raw[2, 0]


@pytest.mark.parametrize("statistic", ["kendall_system", "accuracy_system", "soft_pairwise_accuracy"])
def test_few_systems_decide_nothing(statistic):
    judged, human = rows(statistic)
    values = [float(agreements(judged, m, statistic)["all"].reduce(np.ones((1, ITEMS)))[0]) for m in metrics(human)]
    tests = compare_metrics(judged, metrics(human), values)
    assert tests.ranks == (1, 1, 1) and not np.isnan(tests.raw[0, 1])


def test_williams_comes_with_pearson():
    judged, human = rows("kendall_b", statistics=["kendall_b", "pearson"])
    tests = compare_metrics(judged, metrics(human), [0.5, 0.4, 0.1])
    assert set(tests.williams) == {(0, 1), (0, 2), (1, 2)}
    assert tests.williams[0, 2]["t"] > 0 and tests.williams[0, 2]["p_holm"] < 0.001
    judged, _ = rows("kendall_b")
    assert compare_metrics(judged, metrics(human), [0.5, 0.4, float("nan")]).williams == {}


def test_many_metrics_raise_the_number_of_draws():
    judged, human = rows("accuracy")
    scores = [metrics(human)[k % 3] for k in range(12)]
    tests = compare_metrics(judged, scores, [0.9 - k % 3 * 0.2 for k in range(12)])
    assert np.nanmin(tests.p_values) < 0.05  # 66 pairs: 200 draws could not be significant after the correction
