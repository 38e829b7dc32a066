"""Agreement on rated captions: groupings, labels, draws, undefined scores."""

import numpy as np
import pytest
from scipy import stats

from harness.contracts import JudgedCaption, JudgedItem, Judgments
from harness.judgments.agreement import agreements
from harness.judgments.metric_scores import MetricScores
from harness.judgments.rated_agreement import (
    CORRELATIONS,
    agree_by_rows,
    correlate_groups,
    positions_in_grouping,
)
from harness.judgments.rows import JudgmentRows
from tests.support.judged_sets import rated_rows, rows_of_wmt, spec, value


@pytest.mark.parametrize("statistic", ["kendall_b", "kendall_c", "spearman", "pearson"])
def test_item_weights_repeat_whole_items(statistic):
    rows, scores = rated_rows()
    human = np.array([np.mean(c.ratings) for c in rows.judgments.captions])
    item = np.array([c.item for c in rows.judgments.captions])
    weights = np.random.default_rng(1).integers(0, 3, rows.items)
    x, h = (np.repeat(v, weights[item]) for v in (scores[:, 0], human))
    oracle = {
        "kendall_b": stats.kendalltau,
        "spearman": stats.spearmanr,
        "pearson": stats.pearsonr,
        "kendall_c": lambda a, b: stats.kendalltau(a, b, variant="c"),
    }[statistic]
    assert value(rows, scores, statistic, weights=weights) == pytest.approx(
        oracle(x, h)[0]
    )


def test_ratings_one_by_one():
    rows, scores = rated_rows(judgments={"raters": "each"})
    votes = np.array([r for c in rows.judgments.captions for r in c.ratings])
    assert agreements(rows, MetricScores(scores), "kendall_b")["all"].n == len(votes)
    assert value(rows, scores, "kendall_b") == pytest.approx(
        stats.kendalltau(np.repeat(scores[:, 0], 2), votes)[0]
    )


@pytest.mark.parametrize("grouping", ["item", "system"])
@pytest.mark.parametrize("statistic", ["kendall_b", "kendall_c", "spearman", "pearson"])
def test_the_mean_over_items_or_systems(statistic, grouping):
    rows, scores = rated_rows(grouping=grouping)
    human = rows.rated.human
    scores[human == human[0]] = 1.0  # some groups have tied scores
    group = rows.rated.item if grouping == "item" else np.arange(len(human)) % 3
    oracle = {
        "kendall_b": stats.kendalltau,
        "spearman": stats.spearmanr,
        "pearson": stats.pearsonr,
        "kendall_c": lambda a, b: stats.kendalltau(a, b, variant="c"),
    }[statistic]
    expected = []
    for k in np.unique(group):
        x = scores[group == k, 0]
        h = human[group == k]
        if np.ptp(h):
            expected.append(oracle(x, h)[0] if np.ptp(x) else 0.0)
    assert value(rows, scores, statistic) == pytest.approx(np.mean(expected), abs=1e-12)
    assert (
        rows.spec.label(statistic) == f"{statistic} by {grouping}"
        and rows.spec.label("accuracy") == "accuracy"
    )
    if grouping == "item":  # items are the units of a resample
        weights = np.random.default_rng(1).integers(0, 3, rows.items)
        defined = [w for k, w in enumerate(weights) if np.ptp(human[group == k])]
        assert value(rows, scores, statistic, weights=weights) == pytest.approx(
            np.average(expected, weights=defined)
        )


@pytest.mark.parametrize("statistic", [*CORRELATIONS, "kendall_within"])
def test_a_group_without_differences_between_its_judgments_has_no_correlation(
    statistic,
):
    scores = np.array([1.0, 2, 3, 1, 2, 5, 5])
    human = np.array([1.0, 2, 3, 4, 4, 1, 2])
    found = correlate_groups(
        statistic, scores, human, np.array([3, 3, 3, 0, 0, 1, 1]), 4
    )
    # equal judgments, equal scores, no row, the same order
    np.testing.assert_allclose(found, [np.nan, 0.0, np.nan, 1.0])


def test_the_grouping_of_the_rows_is_their_items_or_systems():
    rows, _ = rated_rows(grouping="system")
    positions, groups = positions_in_grouping(rows, "pearson")
    assert (positions.tolist(), groups) == ([0, 1, 2] * 12, 3)
    positions, groups = positions_in_grouping(rows, "kendall_within")
    assert (positions.tolist(), groups) == (np.repeat(np.arange(12), 3).tolist(), 12)


@pytest.mark.parametrize("statistic", [*CORRELATIONS, "auc", "average_precision"])
def test_one_row_has_no_agreement(statistic):
    rows, _ = rated_rows()
    found = agree_by_rows(rows, statistic, np.array([1.0]), np.array([1.0]))(
        np.ones((2, 1))
    )
    assert found.shape == (2,) and np.isnan(found).all()


def test_undefined_scores_are_left_out_and_counted():
    rows, scores = rated_rows()
    scores[[0, 5]] = np.nan
    result = agreements(rows, MetricScores(scores), "kendall_b")["all"]
    assert (result.n, result.skipped) == (34, 2)
    everything = agreements(
        rows, MetricScores(np.full_like(scores, np.nan)), "pearson"
    )["all"]
    assert (
        np.isnan(everything.reduce(np.ones((1, rows.items)))).all()
        and everything.n == 0
    )
    for count, defined in ((1, False), (2, True)):
        scores[count:] = np.nan
        scores[:count, 0] = np.arange(count)
        few = agreements(rows, MetricScores(scores), "kendall_b")["all"]
        assert (few.n, np.isfinite(few.reduce(np.ones((1, rows.items)))).all()) == (
            count,
            defined,
        )


def test_the_mean_over_draws():
    rows, first = rated_rows()
    second = np.random.default_rng(9).normal(size=first.shape)
    both = np.concatenate([first, second], axis=1)
    expected = (value(rows, first, "kendall_c") + value(rows, second, "kendall_c")) / 2
    assert value(rows, both, "kendall_c") == pytest.approx(expected)
    both[3, 1] = np.nan
    of_draws = agreements(rows, MetricScores(both), "kendall_c")["all"]
    assert (of_draws.n, of_draws.skipped) == (36, 0), "counts of the first draw"


def test_a_true_label_may_mean_a_bad_caption():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(4)
    label = rng.random(30) < 0.4
    scores = rng.normal(size=(30, 1))
    captions = tuple(
        JudgedCaption(k // 3, ("x",), "", (float(v),)) for k, v in enumerate(label)
    )
    judgments = Judgments(
        "f", tuple(JudgedItem(str(i), ("r",)) for i in range(10)), captions
    )
    bad = JudgmentRows(
        judgments, spec(statistics=["auc"], judgments={"higher_is_better": False})
    )
    good = JudgmentRows(judgments, spec(statistics=["auc"]))
    assert value(bad, scores, "auc") == pytest.approx(
        metrics.roc_auc_score(label, -scores[:, 0])
    )
    assert value(bad, scores, "average_precision") == pytest.approx(
        metrics.average_precision_score(label, -scores[:, 0])
    )
    assert value(good, scores, "average_precision") == pytest.approx(
        metrics.average_precision_score(label, scores[:, 0])
    )


@pytest.mark.parametrize(
    ("better", "area", "precision"),
    [(True, 5 / 6, (1 + 2 / 3) / 2), (False, 1 / 6, (1 / 3 + 2 / 5) / 2)],
)
def test_a_high_score_detects_a_good_caption_and_a_low_one_a_bad_one(
    better, area, precision
):
    captions = tuple(
        JudgedCaption(k // 3, (str(k),), "", (float(label),))
        for k, label in enumerate([0, 1, 0, 1, 0])
    )
    judgments = Judgments(
        "f", (JudgedItem("a", ("r",)), JudgedItem("b", ("r",))), captions
    )
    rows = JudgmentRows(
        judgments, spec(statistics=["auc"], judgments={"higher_is_better": better})
    )
    # the labels are of the scores 5 and 3
    scores = np.array([[4.0], [5.0], [1.0], [3.0], [2.0]])
    assert value(rows, scores, "auc") == pytest.approx(area)
    assert value(rows, scores, "average_precision") == pytest.approx(precision)


@pytest.mark.parametrize("odd", [0, 1])
def test_captions_of_sets_of_other_sizes_are_not_compared(odd):
    rows, scores = rated_rows()
    counts = np.full(len(scores), 5)
    counts[odd] = 4  # one caption of the first item has one reference fewer
    metric = MetricScores(scores, sizes={"references": counts})
    pairs = agreements(rows, metric, "accuracy")["all"]
    assert pairs.details["unequal"] == pairs.skipped == 2
    ignored = agreements(rows, MetricScores(scores), "accuracy")["all"]
    assert ignored.skipped == 0 and "unequal" not in ignored.details
    within = agreements(rows, metric, "kendall_within")["all"]
    assert (
        within.details == {"items": 11, "captions": 33, "ratings": 66, "unequal": 3}
        and within.skipped == 3
    )
    of_others = np.ones(rows.items)
    of_others[0] = 0
    assert value(rows, scores, "kendall_within", weights=of_others) == float(
        within.reduce(np.ones((1, rows.items)))[0]
    )
    # A correlation over all items is of captions with their own references, as papers
    # compute it.
    for statistic in ("kendall_b", "pearson"):
        assert "unequal" not in agreements(rows, metric, statistic)["all"].details


@pytest.mark.parametrize("metric", ["fine", "coarse"])
@pytest.mark.parametrize("grouping", ["none", "item", "system"])
def test_groupings_of_mt_metrics_eval(wmt, metric, grouping):
    rows = rows_of_wmt(wmt, grouping=grouping)
    scores = np.array(wmt["scores"][metric])[:, None]
    found = {
        name: value(rows, scores, name)
        for name in ("pearson", "spearman", "kendall_b", "kendall_c")
    }
    assert found == pytest.approx(wmt["values"][metric][grouping], abs=1e-12)
