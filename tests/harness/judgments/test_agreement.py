"""Agreement: orientation, groups, clusters of the bootstrap, draws,
undefined scores.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from harness.contracts import JudgedCaption, Judgments
from harness.errors import InputError
from harness.judgments.agreement import agreements
from harness.judgments.metric_scores import MetricScores
from harness.judgments.rows import JudgmentRows
from tests.support.judged_sets import rated_rows, rows_of_wmt, value


def test_one_record_per_rating_counts_each_caption_once():
    rows, scores = rated_rows()
    captions = [
        replace(c, ratings=(r,)) for c in rows.judgments.captions for r in c.ratings
    ]
    by_rating = JudgmentRows(replace(rows.judgments, captions=captions), rows.spec)
    details = agreements(
        by_rating, MetricScores(np.repeat(scores, 2, axis=0)), "pearson"
    )["all"].details
    assert details == {"items": 12, "captions": 36, "ratings": 72}
    assert agreements(rows, MetricScores(scores), "pearson")["all"].details == details


def test_bad_scores_and_groups():
    rows, scores = rated_rows()
    flipped, _ = rated_rows(judgments={"higher_is_better": False})
    assert value(rows, scores, "pearson") == pytest.approx(
        -value(flipped, scores, "pearson")
    )
    grouped, _ = rated_rows(groups="kind")
    assert grouped.group_names == ("all", "a", "b", "mean")
    parts = [value(grouped, scores, "kendall_b", g) for g in ("a", "b")]
    assert value(grouped, scores, "kendall_b", "mean") == pytest.approx(np.mean(parts))


def test_a_group_has_its_own_rows_whatever_its_name():
    # one name is before "all" and one after "mean" in alphabetical order
    rows, scores = rated_rows(groups="kind", kind="Zz")
    assert rows.group_names == ("all", "Z", "z", "mean")
    kind = np.array([c.meta["kind"] for c in rows.judgments.captions])
    human = np.array([np.mean(c.ratings) for c in rows.judgments.captions])
    of_groups = {
        name: stats.kendalltau(scores[kind == name, 0], human[kind == name])[0]
        for name in "Zz"
    }
    expected = {
        "all": stats.kendalltau(scores[:, 0], human)[0],
        **of_groups,
        "mean": np.mean([*of_groups.values()]),
    }
    found = agreements(rows, MetricScores(scores), "kendall_b")
    assert {
        name: agreement.reduce(np.ones((1, rows.items)))[0]
        for name, agreement in found.items()
    } == pytest.approx(expected)
    assert {name: agreement.n for name, agreement in found.items()} == {
        "all": 36,
        "Z": 24,
        "z": 12,
        "mean": 36,
    }


def test_systems():
    rows, scores = rated_rows(statistics=["kendall_system"])
    human = np.array([np.mean(c.ratings) for c in rows.judgments.captions])
    means = [[v[k::3].mean() for k in range(3)] for v in (scores[:, 0], human)]
    assert value(rows, scores, "kendall_system") == pytest.approx(
        stats.kendalltau(*means)[0]
    )
    assert value(rows, scores, "pearson_system") == pytest.approx(
        stats.pearsonr(*means)[0]
    )
    assert 0 <= value(rows, scores, "soft_pairwise_accuracy") <= 1
    assert value(rows, human[:, None], "soft_pairwise_accuracy") == 1.0
    corpus = MetricScores(
        scores, lambda captions, weights: weights.sum(axis=1) * captions.sum()
    )
    result = agreements(rows, corpus, "accuracy_system")["all"]
    assert result.n == 3 and 0 <= result.reduce(np.ones((1, 12)))[0] <= 1


def test_systems_need_names_and_scores():
    rows, scores = rated_rows(statistics=["kendall_system"])
    nameless = Judgments(
        "f",
        rows.judgments.items,
        tuple(
            JudgedCaption(c.item, c.texts, "", c.ratings)
            for c in rows.judgments.captions
        ),
    )
    with pytest.raises(
        InputError, match=r"at least two systems; found none .*columns\.system"
    ):
        agreements(
            JudgmentRows(nameless, rows.spec), MetricScores(scores), "kendall_system"
        )
    other = Judgments(
        "f",
        rows.judgments.items,
        rows.judgments.captions,
        (),
        {"s0": 1.0, "s1": 2.0, "s22": 0.0},
    )
    with pytest.raises(
        InputError, match="the system 's2' has no human score; did you mean 's22'"
    ):
        agreements(
            JudgmentRows(other, rows.spec), MetricScores(scores), "kendall_system"
        )
    fixed = Judgments(
        "f",
        rows.judgments.items,
        rows.judgments.captions,
        (),
        {"s0": 1.0, "s1": 2.0, "s2": 3.0},
    )
    means = [scores[k::3, 0].mean() for k in range(3)]
    assert value(
        JudgmentRows(fixed, rows.spec), scores, "kendall_system"
    ) == pytest.approx(stats.kendalltau(means, [1, 2, 3])[0])


@pytest.mark.parametrize(
    "statistic", ["pearson_system", "accuracy_system", "soft_pairwise_accuracy"]
)
def test_systems_of_other_sizes_are_not_compared(statistic):
    rows, scores = rated_rows()
    counts = np.array(
        [4 if caption.system == "s0" else 5 for caption in rows.judgments.captions]
    )
    found = agreements(
        rows, MetricScores(scores, sizes={"references": counts}), statistic
    )["all"]
    assert np.isnan(found.reduce(np.ones((2, rows.items)))).all() and (
        found.n,
        found.skipped,
    ) == (0, 3)
    assert found.details["unequal"] == 3
    equal = agreements(
        rows,
        MetricScores(scores, sizes={"references": np.full(len(counts), 5)}),
        statistic,
    )["all"]
    assert (
        "unequal" not in equal.details
        and np.isfinite(equal.reduce(np.ones((1, rows.items)))).all()
    )


@pytest.mark.parametrize("metric", ["fine", "coarse"])
def test_accuracy_with_ties_and_soft_pairwise_accuracy_of_mt_metrics_eval(wmt, metric):
    rows = rows_of_wmt(wmt, ties="epsilon")
    scores = MetricScores(np.array(wmt["scores"][metric])[:, None])
    accuracy = agreements(rows, scores, "accuracy")["all"]
    golden = wmt["values"][metric]
    assert accuracy.reduce(np.ones((1, rows.items)))[0] == pytest.approx(
        golden["accuracy_by_item"], abs=1e-12
    )
    assert accuracy.details["epsilon"] == pytest.approx(golden["epsilon"], abs=1e-12)
    soft = value(rows, scores.scores, "soft_pairwise_accuracy")
    assert soft == pytest.approx(golden["soft_pairwise_accuracy"], abs=0.003)
