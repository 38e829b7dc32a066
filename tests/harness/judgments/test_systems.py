"""Agreement on systems: values of systems, human scores of systems, names that are missing."""

import numpy as np
import pytest
from scipy import stats

from harness.contracts import JudgedCaption, JudgedItem, Judgments
from harness.errors import InputError
from harness.judgments.agreement import agreements
from harness.judgments.metric_scores import MetricScores
from harness.judgments.rows import JudgmentRows
from harness.spec.judgment_models import JudgmentSpec


def spec(**keys):
    judgments = {"form": "captions", "path": "f", **keys.pop("judgments", {})}
    return JudgmentSpec.model_validate(
        {"task": "t", "metrics": ["m"], "statistics": ["kendall_b"], "judgments": judgments, **keys}
    )


def rated_rows(seed=0, items=12, **keys):
    rng = np.random.default_rng(seed)
    captions = [
        JudgedCaption(item, (f"{item}{k}",), f"s{k}", (float(rng.integers(1, 5)), float(rng.integers(1, 5))), (), {}, {"kind": "ab"[k % 2]})
        for item in range(items)
        for k in range(3)
    ]  # fmt: skip
    judgments = Judgments("f", tuple(JudgedItem(str(i), ("r",)) for i in range(items)), tuple(captions))
    return JudgmentRows(judgments, spec(**keys)), rng.normal(size=(len(captions), 1))


def value(rows, scores, statistic, group="all", weights=None):
    reduce = agreements(rows, MetricScores(scores), statistic)[group].reduce
    return float(reduce(np.ones((1, rows.items)) if weights is None else weights[None].astype(float))[0])


def test_systems():
    rows, scores = rated_rows(statistics=["kendall_system"])
    human = np.array([np.mean(c.ratings) for c in rows.judgments.captions])
    means = [[v[k::3].mean() for k in range(3)] for v in (scores[:, 0], human)]
    assert value(rows, scores, "kendall_system") == pytest.approx(stats.kendalltau(*means)[0])
    assert value(rows, scores, "pearson_system") == pytest.approx(stats.pearsonr(*means)[0])
    assert 0 <= value(rows, scores, "soft_pairwise_accuracy") <= 1
    assert value(rows, human[:, None], "soft_pairwise_accuracy") == 1.0
    corpus = MetricScores(scores, lambda captions, weights: weights.sum(axis=1) * captions.sum())
    result = agreements(rows, corpus, "accuracy_system")["all"]
    assert result.n == 3 and 0 <= result.reduce(np.ones((1, 12)))[0] <= 1


def test_systems_need_names_and_scores():
    rows, scores = rated_rows(statistics=["kendall_system"])
    nameless = Judgments(
        "f", rows.judgments.items, tuple(JudgedCaption(c.item, c.texts, "", c.ratings) for c in rows.judgments.captions)
    )
    with pytest.raises(InputError, match=r"at least two systems; found none .*columns\.system"):
        agreements(JudgmentRows(nameless, rows.spec), MetricScores(scores), "kendall_system")
    other = Judgments("f", rows.judgments.items, rows.judgments.captions, (), {"s0": 1.0, "s1": 2.0, "s22": 0.0})
    with pytest.raises(InputError, match="the system 's2' has no human score; did you mean 's22'"):
        agreements(JudgmentRows(other, rows.spec), MetricScores(scores), "kendall_system")
    fixed = Judgments("f", rows.judgments.items, rows.judgments.captions, (), {"s0": 1.0, "s1": 2.0, "s2": 3.0})
    means = [scores[k::3, 0].mean() for k in range(3)]
    assert value(JudgmentRows(fixed, rows.spec), scores, "kendall_system") == pytest.approx(
        stats.kendalltau(means, [1, 2, 3])[0]
    )
