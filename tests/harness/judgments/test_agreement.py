"""Agreement: orientation, groups, clusters of the bootstrap, draws,
undefined scores.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from harness.contracts import JudgedCaption, JudgedItem, JudgedPair, Judgments
from harness.errors import InputError
from harness.judgments.agreement import agreements
from harness.judgments.metric_scores import MetricScores
from harness.judgments.pair_credit import calibrated_epsilon, correctness
from harness.judgments.rated_agreement import (
    CORRELATIONS,
    agree_by_rows,
    correlate_groups,
    positions_in_grouping,
)
from harness.judgments.rows import JudgmentRows
from harness.spec.judgment_models import JudgmentSpec

SCORES = np.array([[2.0], [1], [5], [4], [1], [1], [3], [3]])
HUMAN = np.array([1.0, 1.0, -1.0, 0.0, 0.0, 1.0])


def spec(**keys):
    judgments = {"form": "captions", "path": "f", **keys.pop("judgments", {})}
    return JudgmentSpec.model_validate(
        {
            "task": "t",
            "metrics": ["m"],
            "statistics": ["kendall_b"],
            "judgments": judgments,
            **keys,
        }
    )


def rated_rows(seed=0, items=12, kind="ab", **keys):
    rng = np.random.default_rng(seed)
    captions = [
        JudgedCaption(
            item,
            (f"{item}{k}",),
            f"s{k}",
            (float(rng.integers(1, 5)), float(rng.integers(1, 5))),
            (),
            {},
            {"kind": kind[k % 2]},
        )
        for item in range(items)
        for k in range(3)
    ]
    judgments = Judgments(
        "f", tuple(JudgedItem(str(i), ("r",)) for i in range(items)), tuple(captions)
    )
    return JudgmentRows(judgments, spec(**keys)), rng.normal(size=(len(captions), 1))


def value(rows, scores, statistic, group="all", weights=None):
    reduce = agreements(rows, MetricScores(scores), statistic)[group].reduce
    return float(
        reduce(
            np.ones((1, rows.items)) if weights is None else weights[None].astype(float)
        )[0]
    )


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


def pair_rows(**keys):
    captions = tuple(JudgedCaption(k // 4, (str(k),)) for k in range(8))
    pairs = tuple(
        JudgedPair(first, second, (preference,), {"code": code})
        for first, second, preference, code in (
            (0, 1, 3, 1),
            (2, 3, -1, 2),
            (4, 5, 0, 1),
            (6, 7, 1, 2),
        )
    )
    judgments = Judgments(
        "f", (JudgedItem("a", ("r",)), JudgedItem("b", ("r",))), captions, pairs
    )
    keys = {"statistics": ["accuracy"], "judgments": {"form": "pairs"}, **keys}
    return JudgmentRows(judgments, spec(**keys))


@pytest.mark.parametrize(
    ("ties", "expected", "n"),
    [("half", 0.5, 3), ("wrong", 1 / 3, 3), ("skip", 0.5, 2), ("epsilon", 0.5, 4)],
)
def test_accuracy(ties, expected, n):
    result = agreements(pair_rows(ties=ties), MetricScores(SCORES), "accuracy")["all"]
    assert result.reduce(np.ones((1, 2)))[0] == pytest.approx(expected)
    assert result.n == n and result.details["ties"] == pytest.approx(1 / 3)


def test_accuracy_by_group_and_item():
    rows = pair_rows(groups={"by": "code", "labels": {1: "HC", 2: "veracity"}})
    assert rows.group_names == ("all", "HC", "veracity", "mean")
    assert [value(rows, SCORES, "accuracy", g) for g in rows.group_names] == [
        0.5,
        1.0,
        0.25,
        0.625,
    ]
    assert value(rows, SCORES, "accuracy", weights=np.array([0, 1])) == 0.5


@pytest.mark.parametrize(
    ("ties", "expected"), [("half", 2.25 / 3), ("wrong", 2 / 3), ("skip", 2.5 / 3)]
)
def test_the_credit_of_a_pair_is_the_mean_over_the_draws_in_which_it_counts(
    ties, expected
):
    second = np.array([[1.0], [0], [0], [1], [0], [0], [2], [0]])
    result = agreements(
        pair_rows(ties=ties),
        MetricScores(np.concatenate([SCORES, second], axis=1)),
        "accuracy",
    )["all"]
    assert result.reduce(np.ones((1, 2)))[0] == pytest.approx(expected)
    # the last pair is tied in one of two draws
    assert result.n == 3 and result.details["ties"] == pytest.approx(1 / 6)


def test_the_threshold_of_ties_is_that_of_all_draws():
    differences = np.array([[2.0, 2.0], [-2.0, -3.0], [0.5, 0.5], [0.25, 3.0]])
    scores = np.stack([differences, np.zeros((4, 2))], axis=1).reshape(8, 2)
    result = agreements(pair_rows(ties="epsilon"), MetricScores(scores), "accuracy")[
        "all"
    ]
    assert result.details["epsilon"] == 0.5 and result.details["ties"] == pytest.approx(
        1 / 6
    )
    assert result.reduce(np.ones((1, 2)))[0] == pytest.approx(3.5 / 4) and result.n == 4


def test_pairs_without_a_score_have_no_ties():
    result = agreements(
        pair_rows(), MetricScores(np.full_like(SCORES, np.nan)), "accuracy"
    )["all"]
    assert (result.n, result.skipped, result.details) == (
        0,
        4,
        {"ties": 0.0, "items": 0, "captions": 0},
    )
    assert np.isnan(result.reduce(np.ones((1, 2)))[0])


def test_pairs_of_rated_captions():
    rows, scores = rated_rows(statistics=["accuracy"])
    human = np.array([np.mean(c.ratings) for c in rows.judgments.captions])
    right = total = 0.0
    for i in range(36):
        for j in range(i + 1, 36):
            if i // 3 == j // 3 and human[i] != human[j]:
                total += 1
                right += (scores[i, 0] - scores[j, 0]) * (human[i] - human[j]) > 0
    assert value(rows, scores, "accuracy") == pytest.approx(right / total)


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


D = np.array([1.0, -1.0, 0.0, 0.0, 3.0, np.nan])


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("half", [1, 0, 0.5, np.nan, np.nan, np.nan]),
        ("wrong", [1, 0, 0, np.nan, np.nan, np.nan]),
        ("skip", [1, 0, np.nan, np.nan, np.nan, np.nan]),
        ("epsilon", [1, 0, 0, 1, 0, np.nan]),
    ],
)
def test_policies(ties, expected):
    np.testing.assert_array_equal(correctness(D, HUMAN, ties), expected)


def test_draws_are_columns():
    both = correctness(np.stack([D, -D], axis=1), HUMAN, "half")
    np.testing.assert_array_equal(both[:, 0], correctness(D, HUMAN, "half"))
    np.testing.assert_array_equal(both[:3, 1], [0, 1, 0.5])


def test_the_threshold_maximises_the_accuracy():
    rng = np.random.default_rng(3)
    for _ in range(20):
        d = np.round(rng.normal(size=40), 1)
        human = rng.integers(-1, 2, 40).astype(float)
        epsilon = calibrated_epsilon(d, human)
        values = {
            e: correctness(d, human, "epsilon", e).mean() for e in (0.0, *np.abs(d))
        }
        assert values[epsilon] == pytest.approx(max(values.values()))
        assert epsilon == min(
            e for e, value in values.items() if value >= max(values.values()) - 1e-12
        )
    assert calibrated_epsilon(np.array([np.nan]), np.array([1.0])) == 0.0


@pytest.mark.parametrize(
    ("difference", "human", "expected"),
    [
        ([1, 2], [1, 1], 0.0),
        # a tie in place of the wrong answer makes no pair correct
        ([-1, 2], [1, 1], 0.0),
        # the tie of people is beyond two equal differences
        ([-1, -1, 2], [1, 1, 0], 2.0),
        ([-1, 1, 2], [0, 0, 1], 1.0),
    ],
)
def test_a_threshold_counts_where_it_makes_more_pairs_correct(
    difference, human, expected
):
    assert (
        calibrated_epsilon(
            np.array(difference, dtype=float), np.array(human, dtype=float)
        )
        == expected
    )


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


@pytest.fixture
def wmt(golden):
    """Scores of people and of two metrics, and the values of mt-metrics-eval
    (tests/golden/mt_metrics_eval).
    """
    return json.loads((golden / "mt_metrics_eval/values.json").read_text())


def rows_of_wmt(wmt, **keys):
    people = wmt["scores"]["people"]
    segments = len(wmt["scores"]["people"]) // wmt["systems"]
    captions = tuple(
        JudgedCaption(k % segments, (str(k),), f"s{k // segments}", (score,))
        for k, score in enumerate(people)
    )
    return JudgmentRows(
        Judgments(
            "f", tuple(JudgedItem(str(k), ("r",)) for k in range(segments)), captions
        ),
        spec(**keys),
    )


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
