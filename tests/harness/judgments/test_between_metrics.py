"""Tests between metrics on each kind of headline: a better metric wins,
equal metrics share a cluster.
"""

import json
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from harness.contracts import JudgedCaption, JudgedItem, JudgedPair, Judgments
from harness.errors import InputError
from harness.judgments import between_metrics
from harness.judgments.agreement import agreements
from harness.judgments.between_metrics import _groups_of, compare_metrics
from harness.judgments.judgment_models import JudgmentSpec
from harness.judgments.metric_scores import MetricScores
from harness.judgments.rows import JudgmentRows
from harness.stats import jackknife
from harness.stats.metric_tests import (
    KendallOfScores,
    permute_credit,
    permute_scores,
    williams,
)
from harness.stats.multiplicity import holm

ITEMS = 40
MEAN = {"groups": {"by": "kind", "headline": "mean"}}


def rows(statistic, **keys):
    """Captions of two systems with ratings in two halves, or pairs of them."""
    rng = np.random.default_rng(0)
    label = statistic in ("auc", "average_precision")
    human = rng.integers(0, 2, 4 * ITEMS) if label else rng.integers(1, 6, 4 * ITEMS)
    form = "pairs" if statistic == "accuracy" else "captions"
    captions = tuple(
        JudgedCaption(
            k // 4, (str(k),), f"s{k % 4}", (float(h),), (), {}, {"kind": "ab"[k % 2]}
        )
        for k, h in enumerate(human)
    )
    pairs = tuple(
        JudgedPair(
            k, k + 1, (float(human[k] - human[k + 1]),), {"kind": "ab"[k // 2 % 2]}
        )
        for k in range(0, 4 * ITEMS, 2)
    )
    judgments = Judgments(
        "f",
        tuple(JudgedItem(str(i), ("r",)) for i in range(ITEMS)),
        captions,
        pairs if form == "pairs" else (),
    )
    spec = {
        "task": "t",
        "metrics": ["m"],
        "judgments": {"form": form, "path": "f"},
        "tests": {"draws": 200},
        **keys,
    }
    return JudgmentRows(
        judgments,
        JudgmentSpec.model_validate(
            {**spec, "statistics": [statistic, *keys.get("statistics", [])]}
        ),
    ), human


def metrics(human):
    rng = np.random.default_rng(1)
    good = human + rng.normal(size=len(human)) * 0.7
    noise = [
        good,
        good + rng.normal(size=len(human)) * 0.01,
        rng.normal(size=len(human)),
    ]
    return [MetricScores(values[:, None]) for values in noise]


@pytest.mark.parametrize(
    "statistic",
    [
        "kendall_b",
        "kendall_c",
        "pearson",
        "spearman",
        "kendall_within",
        "accuracy",
        "auc",
        "average_precision",
    ],
)
@pytest.mark.parametrize(
    "groups",
    [None, {"by": "kind", "headline": "all"}, {"by": "kind", "headline": "mean"}],
)
def test_a_metric_beats_noise(statistic, groups):
    judged, human = rows(statistic, **({"groups": groups} if groups else {}))
    scores = metrics(human)
    headline = judged.spec.headline
    values = [
        float(
            agreements(judged, m, statistic)[headline[1]].reduce(np.ones((1, ITEMS)))[0]
        )
        for m in scores
    ]
    tests = compare_metrics(judged, scores, values)
    assert tests.ranks == (1, 1, 2)
    assert tests.p_values[0, 2] <= 0.05 < tests.p_values[0, 1]
    assert (tests.raw[0, 2] <= tests.p_values[0, 2]) and tests.raw[0, 2] == tests.raw[
        2, 0
    ]


def test_a_group_without_a_scored_pair_has_no_credit():
    judged, human = rows("accuracy", groups={"by": "kind", "headline": "mean"})
    # no score in the pairs of kind a
    scores = np.where(np.arange(len(human)) // 2 % 2 == 0, np.nan, human)[:, None]
    credit = between_metrics._weighted_credit(judged, MetricScores(scores), "mean")
    assert np.isnan(credit[::2]).all() and np.nansum(credit) == pytest.approx(0.5)


def test_weighted_credits_sum_to_the_mean_accuracy_of_the_groups():
    judged, human = rows("accuracy", groups={"by": "kind", "headline": "mean"})
    scores = metrics(human)[0]
    values = scores.scores.copy()
    values[:12] = np.nan  # some pairs are left out
    scores = MetricScores(values)
    credit = between_metrics._weighted_credit(judged, scores, "mean")
    assert np.isnan(credit[:6]).all()
    expected = agreements(judged, scores, "accuracy")["mean"].reduce(
        np.ones((1, ITEMS))
    )[0]
    assert np.nansum(credit) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("draws", "level", "count", "expected"),
    [(10, 0.05, 3, 66), (100, 0.05, 3, 100), (0, 0.05, 3, None), (10, 0.1, 5, 110)],
)
def test_the_draws_suffice_for_a_significant_pair_after_correction(
    monkeypatch, draws, level, count, expected
):
    asked = []
    monkeypatch.setattr(
        between_metrics,
        "_comparison",
        lambda rows, metrics: lambda i, j, draws: asked.append(draws) or 0.5,
    )
    judged, human = rows("kendall_b", tests={"draws": draws, "level": level})
    compare_metrics(
        judged,
        [*metrics(human), *metrics(human)][:count],
        [0.5, 0.4, 0.1, 0.2, 0.3][:count],
    )
    assert asked == (
        [] if expected is None else [expected] * (count * (count - 1) // 2)
    )


@pytest.mark.parametrize(
    "statistic", ["kendall_system", "accuracy_system", "soft_pairwise_accuracy"]
)
def test_few_systems_decide_nothing(statistic):
    judged, human = rows(statistic)
    values = [
        float(agreements(judged, m, statistic)["all"].reduce(np.ones((1, ITEMS)))[0])
        for m in metrics(human)
    ]
    tests = compare_metrics(judged, metrics(human), values)
    assert tests.ranks == (1, 1, 1) and not np.isnan(tests.raw[0, 1])


def first_of_items(judged, human):
    """Return rows with the first caption of each item alone, and their human scores."""
    return JudgmentRows(
        replace(judged.judgments, captions=judged.judgments.captions[::4]), judged.spec
    ), human[::4]


def test_williams_needs_one_row_per_item():
    judged, human = rows("kendall_b", statistics=["kendall_b", "pearson"])
    single, of_single = first_of_items(judged, human)
    tests = compare_metrics(single, metrics(of_single), [0.5, 0.4, 0.1]).of_pearson
    assert set(tests) == {(0, 1), (0, 2), (1, 2)} and set(tests[0, 2]) == {
        "williams_t",
        "williams",
        "williams_holm",
    }
    assert tests[0, 2]["williams_t"] > 0 and tests[0, 2]["williams_holm"] < 0.001
    r = np.corrcoef([of_single, *(item.scores[:, 0] for item in metrics(of_single))])
    assert tests[0, 2]["williams_t"] == pytest.approx(
        williams(r[0, 1], r[0, 3], r[1, 3], ITEMS)[0]
    )
    # With several captions per item the jackknife over items stands in.
    scores = metrics(human)
    tests = compare_metrics(judged, scores, [0.5, 0.4, 0.1]).of_pearson
    item = np.arange(len(human)) // 4
    r = [
        [
            np.corrcoef(human[item != k], m.scores[item != k, 0])[0, 1]
            for k in range(ITEMS)
        ]
        for m in scores
    ]
    without = np.array(r[0]) - np.array(r[2])
    difference = (
        np.corrcoef(human, scores[0].scores[:, 0])[0, 1]
        - np.corrcoef(human, scores[2].scores[:, 0])[0, 1]
    )
    t = difference / np.sqrt(
        (ITEMS - 1) / ITEMS * np.sum((without - without.mean()) ** 2)
    )
    assert tests[0, 2]["jackknife_t"] == pytest.approx(t) and tests[0, 2][
        "jackknife"
    ] == pytest.approx(2 * stats.t.sf(t, ITEMS - 1))
    for statistic, keys in (
        ("kendall_b", {}),
        ("pearson", {"grouping": "system"}),
        ("pearson", {"grouping": "item"}),
    ):
        judged, _ = rows(statistic, **keys)
        assert (
            compare_metrics(judged, metrics(human), [0.5, 0.4, float("nan")]).of_pearson
            == {}
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statistic", "keys"),
    [
        ("kendall_b", {}),
        ("pearson", {}),
        ("kendall_within", {}),
        ("pearson", {"grouping": "item"}),
        ("spearman", {"grouping": "system"}),
        ("pearson_system", {}),
        ("spearman_system", {}),
        ("kendall_system", {}),
    ],
)
def test_all_captions_of_an_item_are_exchanged(statistic, keys):
    judged, human = rows(statistic, tests={"draws": 4000}, **keys)
    kept = judged.judgments.captions[:28]  # seven items: 128 exchanges
    judged = JudgmentRows(replace(judged.judgments, captions=kept), judged.spec)
    human = human[:28]
    a, b = (
        m.scores[:, 0] - m.scores[:, 0].mean()
        for m in (metrics(human)[0], metrics(human)[2])
    )
    a = a / a.std()
    b = b / b.std()

    def agreement(scores):
        return agreements(judged, MetricScores(scores[:, None]), statistic)[
            "all"
        ].reduce(np.ones((1, ITEMS)))[0]

    shifts = []
    for signs in product([True, False], repeat=7):
        keep = np.repeat(signs, 4)
        shifts.append(
            abs(agreement(np.where(keep, a, b)) - agreement(np.where(keep, b, a)))
        )
    exact = np.mean(np.array(shifts) >= shifts[0] - 1e-9)
    p = compare_metrics(
        judged, [MetricScores(a[:, None]), MetricScores(b[:, None])], [0.5, 0.4]
    ).raw[0, 1]
    # drawing ends early where the result is clear
    assert p == pytest.approx(exact, abs=0.12 if exact > 0.1 else 0.02)


def test_coefficients_of_items_are_exchanged_as_they_are(monkeypatch):
    """The mean over items is not computed again for each exchange."""
    judged, human = rows("pearson", grouping="item")
    monkeypatch.setattr(between_metrics, "permute_scores", None)
    assert compare_metrics(judged, metrics(human), [0.5, 0.4, 0.1]).raw[0, 2] < 0.05


def test_records_of_a_caption_are_one_unit():
    judged, human = rows("pearson", tests={"draws": 200, "unit": "record"})
    twice = tuple(caption for caption in judged.judgments.captions for _ in range(2))
    doubled = JudgmentRows(replace(judged.judgments, captions=twice), judged.spec)
    scores = metrics(human)
    repeated = [MetricScores(np.repeat(m.scores, 2, axis=0)) for m in scores]
    once, again = (
        compare_metrics(r, m, [0.9, 0.9, 0.1])
        for r, m in ((judged, scores), (doubled, repeated))
    )
    assert once.exchange == "perm_both"
    np.testing.assert_allclose(once.raw, again.raw)


def test_systems_are_exchanged():
    judged, human = rows("pearson", tests={"draws": 2000, "unit": "system"})
    tests = compare_metrics(judged, metrics(human), [0.9, 0.9, 0.1])
    # four systems
    assert tests.exchange == "perm_sys" and tests.raw[0, 2] == pytest.approx(
        2 / 16, abs=0.06
    )
    judged, human = rows("accuracy", tests={"unit": "system"})
    with pytest.raises(InputError, match="judged are pairs"):
        compare_metrics(judged, metrics(human), [0.9, 0.9, 0.1])


def test_a_metric_that_skips_many_rows_is_not_ranked():
    judged, human = rows("pearson")
    assert compare_metrics(
        judged, metrics(human), [0.9, 0.8, 0.1], [0.47, 0.05, 0.0]
    ).ranks == (None, 1, 2)


def only(metric, kept):
    """Return the scores of a metric on some rows, NaN on the others."""
    return np.where(
        np.isin(np.arange(len(metric.scores)), kept)[:, None], metric.scores, np.nan
    )


def test_two_rows_in_common_suffice_for_a_test():
    judged, human = rows("kendall_b", tests={"draws": 20, "unit": "record"})
    good, _, noise = metrics(human)
    p = [
        compare_metrics(
            judged, [MetricScores(only(good, np.arange(n))), noise], [0.5, 0.4]
        ).raw[0, 1]
        for n in (1, 2)
    ]
    assert np.isnan(p[0]) and p[1] == 1.0


@pytest.mark.parametrize(
    "statistic", ["kendall_b", "kendall_c", "pearson", "spearman", "auc"]
)
@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"groups": {"by": "kind", "headline": "mean"}},
        {"groups": {"by": "kind", "headline": "mean"}, "grouping": "system"},
    ],
)
def test_metrics_without_a_row_in_common_are_not_tested(statistic, keys):
    judged, human = rows(
        statistic,
        **({} if statistic == "auc" else {"statistics": ["pearson"]}),
        **keys,
        tests={"draws": 20},
    )
    good, _, noise = metrics(human)
    # in a mean over groups, one group without a row suffices
    of_kind_b = np.arange(1, len(human), 2) if keys else np.arange(0)
    of_each = [
        MetricScores(only(metric, [*range(k, len(human), 4), *of_kind_b]))
        for k, metric in ((0, good), (2, noise))
    ]
    tests = compare_metrics(judged, of_each, [0.5, 0.4])
    assert np.isnan(tests.raw[0, 1])
    assert keys or np.isnan([*tests.of_pearson.get((0, 1), {}).values()]).all()


@pytest.mark.parametrize(
    ("statistic", "keys", "key"),
    [
        ("kendall_b", {}, "jackknife_input"),
        ("kendall_b", {"statistics": ["pearson"]}, "jackknife_input"),
        (
            "kendall_b",
            {"groups": {"by": "kind", "headline": "mean"}},
            "jackknife_input",
        ),
        ("kendall_b", {"grouping": "item"}, "perm_input"),
        ("kendall_b", {"grouping": "system"}, "perm_input"),
        ("kendall_b", {"unit": "record"}, "perm_both"),
        ("kendall_b", {"unit": "system"}, "perm_sys"),
        ("kendall_c", {}, "perm_input"),
        ("auc", {}, "perm_input"),
        ("accuracy", {"unit": "record"}, "perm_both"),
    ],
)
def test_the_key_of_the_test_of_the_headline(statistic, keys, key):
    unit = keys.get("unit", "item")
    judged, human = rows(
        statistic,
        tests={"draws": 0, "unit": unit},
        **{name: value for name, value in keys.items() if name != "unit"},
    )
    assert compare_metrics(judged, metrics(human), [0.5, 0.4, 0.1]).exchange == key


def few(statistic, unit="item", draws=100, **keys):
    """Rows of the first eight items, and two metrics of two draws each that have no
    score for some captions.
    """
    judged, human = rows(
        statistic, tests={"draws": draws, "unit": unit}, seed=3, **keys
    )
    kinds = [
        replace(c, meta={"kind": "abc"[k % 3]})
        for k, c in enumerate(judged.judgments.captions[:32])
    ]
    rng = np.random.default_rng(5)
    drawn = (
        human[:32, None]
        + rng.normal(size=(2, 32, 2)) * np.array([2.0, 5.0])[:, None, None]
    )
    drawn[1] = drawn[1].round()  # it has ties
    drawn[0, [2, 21], 0] = drawn[1, [9, 10, 21], 1] = np.nan
    return JudgmentRows(
        replace(judged.judgments, captions=kinds, pairs=()), judged.spec
    ), [MetricScores(scores) for scores in drawn]


@pytest.mark.parametrize(
    ("statistic", "unit", "keys"),
    [
        ("kendall_b", "record", {}),
        ("kendall_b", "item", {"grouping": "system"}),
        ("kendall_c", "item", {"groups": "kind"}),
        ("kendall_c", "record", MEAN),
        ("spearman", "item", MEAN),
        ("pearson", "system", {"grouping": "system"}),
        ("pearson", "record", {**MEAN, "grouping": "system"}),
        ("kendall_within", "item", MEAN),
        ("auc", "item", {}),
        ("pearson_system", "item", {}),
        ("spearman_system", "record", {}),
        ("accuracy_system", "item", {}),
        ("soft_pairwise_accuracy", "item", {}),
    ],
)
def test_the_headline_of_exchanged_scores_is_the_agreement_that_they_have(
    statistic, unit, keys
):
    judged, both = few(statistic, unit, 60, **keys)
    a, b = (metric.scores.mean(axis=1) for metric in both)
    usable = np.isfinite(a) & np.isfinite(b)
    # tested by its hard form
    kind = "accuracy_system" if statistic == "soft_pairwise_accuracy" else statistic

    def headline(drawn):
        values = []
        for scores in drawn:
            full = np.full((32, 1), np.nan)
            full[usable, 0] = scores
            values.append(
                agreements(judged, MetricScores(full), kind)[
                    judged.spec.headline[1]
                ].reduce(np.ones((1, ITEMS)))[0]
            )
        return np.array(values)

    units = {
        "item": np.arange(32) // 4,
        "record": np.arange(32),
        "system": np.arange(32) % 4,
    }[unit]
    expected = permute_scores(
        headline, a[usable], b[usable], unit=units[usable], draws=60, seed=3
    )
    assert compare_metrics(judged, both, [0.5, 0.4]).raw[0, 1] == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize(
    ("statistic", "oracle"),
    [("pearson_system", stats.pearsonr), ("spearman_system", stats.spearmanr)],
)
def test_the_human_scores_of_a_file_are_those_of_the_test(statistic, oracle):
    judged, both = few(statistic, draws=60)
    of_file = replace(
        judged.judgments, systems={"s0": 3.0, "s1": 9.0, "s2": -2.0, "s3": 4.0}
    )
    p = compare_metrics(JudgmentRows(of_file, judged.spec), both, [0.5, 0.4]).raw[0, 1]
    a, b = (metric.scores.mean(axis=1) for metric in both)
    usable = np.isfinite(a) & np.isfinite(b)
    system = np.arange(32) % 4

    def correlation(drawn):
        means = np.array(
            [[scores[system[usable] == k].mean() for k in range(4)] for scores in drawn]
        )
        return np.array([oracle(row, [3.0, 9.0, -2.0, 4.0])[0] for row in means])

    items = np.arange(32)[usable] // 4
    assert p == permute_scores(
        correlation, a[usable], b[usable], unit=items, draws=60, seed=3
    )
    assert p != compare_metrics(judged, both, [0.5, 0.4]).raw[0, 1]


def test_soft_pairwise_accuracy_is_of_ratings_of_items_which_no_file_of_systems_has():
    judged, both = few("soft_pairwise_accuracy", draws=60)
    of_ratings, with_file = (
        compare_metrics(
            JudgmentRows(replace(judged.judgments, systems=systems), judged.spec),
            both,
            [0.5, 0.4],
        ).raw[0, 1]
        for systems in ({}, {"s0": 3.0, "s1": 9.0, "s2": -2.0, "s3": 4.0})
    )
    assert of_ratings == with_file


@pytest.mark.parametrize(
    "statistic",
    ["pearson_system", "spearman_system", "kendall_system", "accuracy_system"],
)
def test_a_system_without_a_row_that_two_metrics_share_leaves_no_test(statistic):
    judged, both = few(statistic)
    for metric, rows_of_system in zip(
        both, (slice(1, 16, 4), slice(17, None, 4)), strict=True
    ):
        metric.scores[rows_of_system] = np.nan
    assert np.isnan(compare_metrics(judged, both, [0.5, 0.4]).raw[0, 1])
    for metric in both:
        metric.scores[1:] = np.nan
    assert np.isnan(compare_metrics(judged, both, [0.5, 0.4]).raw[0, 1])


@pytest.mark.parametrize("keys", [{}, MEAN])
def test_tau_b_of_the_rows_that_two_metrics_share_is_tested_by_leaving_out_items(keys):
    judged, both = few("kendall_b", **keys)
    a, b = (metric.scores.mean(axis=1) for metric in both)
    usable = np.isfinite(a) & np.isfinite(b)
    item = np.arange(32) // 4
    human = judged.rated.human
    group = np.array(
        [c.meta["kind"] if keys else "" for c in judged.judgments.captions]
    )
    differences = []
    for left_out in range(-1, 8):
        rest = [
            usable & (item != left_out) & (group == name) for name in np.unique(group)
        ]
        taus = [
            [stats.kendalltau(scores[keep], human[keep])[0] for keep in rest]
            for scores in (a, b)
        ]
        differences.append(np.mean(taus[0]) - np.mean(taus[1]))
    assert compare_metrics(judged, both, [0.5, 0.4]).raw[0, 1] == pytest.approx(
        jackknife.t_test(np.array(differences))[1], rel=1e-9
    )


@pytest.mark.parametrize("unit", ["item", "record"])
def test_coefficients_of_items_are_exchanged_where_items_are(unit):
    judged, both = few("pearson", unit, grouping="item")
    a, b = (metric.scores.mean(axis=1) for metric in both)
    usable = np.isfinite(a) & np.isfinite(b)
    item = np.arange(32) // 4
    human = judged.rated.human
    p = compare_metrics(judged, both, [0.5, 0.4]).raw[0, 1]
    within = [
        [
            stats.pearsonr(scores[usable & (item == k)], human[usable & (item == k)])[0]
            if np.ptp(human[usable & (item == k)])
            else np.nan
            for k in range(8)
        ]
        + [np.nan] * (ITEMS - 8)
        for scores in (a, b)
    ]
    of_coefficients = permute_credit(
        *np.array(within), np.arange(ITEMS), draws=100, seed=3
    )
    assert (p == of_coefficients) == (unit == "item")


@pytest.mark.parametrize("unit", ["item", "record"])
@pytest.mark.parametrize("keys", [{}, MEAN])
def test_credits_of_pairs_are_exchanged_by_item_or_one_by_one(unit, keys):
    judged, human = rows("accuracy", tests={"draws": 100, "unit": unit}, seed=3, **keys)
    pairs = judged.judgments.pairs[:30]
    kind = np.array(
        ["abc"[k % 3] if 0 < k < 12 else "d" if k == 0 else "a" for k in range(30)]
    )
    pairs = tuple(replace(pair, meta={"kind": name}) for pair, name in zip(pairs, kind))
    judged = JudgmentRows(replace(judged.judgments, pairs=pairs), judged.spec)
    noise = np.random.default_rng(6).normal(size=(2, len(human))) * np.array(
        [[2.0], [4.0]]
    )
    scores = human + noise
    scores[0, 4] = scores[1, [11, 16]] = np.nan
    preferred = np.array([pair.preference for pair in pairs])
    credits = []
    for values in scores:
        difference = values[0:60:2] - values[1:60:2]
        counts = np.isfinite(difference) & (preferred != 0)
        of_group = np.array(
            [np.sum(counts & ((kind == name) | (not keys))) for name in kind]
        )
        credits.append(
            np.where(counts, (difference * preferred > 0) / of_group, np.nan)
        )
    cluster = np.arange(30) // 2 if unit == "item" else np.arange(30)
    found = compare_metrics(
        judged, [MetricScores(values[:, None]) for values in scores], [0.5, 0.4]
    ).raw[0, 1]
    assert found == permute_credit(*credits, cluster, draws=100, seed=3)


def test_tests_of_pearson_are_of_the_rows_that_two_metrics_share():
    judged, human = rows("pearson", tests={"draws": 0})
    single, of_single = first_of_items(judged, human)
    three = [metric.scores[:, 0].copy() for metric in metrics(of_single)]
    three[0][[1, 5]] = three[1][[5, 7, 9]] = np.nan
    found = compare_metrics(
        single, [MetricScores(np.stack([x, x], axis=1)) for x in three], [0.5, 0.4, 0.1]
    ).of_pearson
    expected = {}
    for i, j in ((0, 1), (0, 2), (1, 2)):
        usable = np.isfinite(three[i]) & np.isfinite(three[j])
        r = np.corrcoef([of_single[usable], three[i][usable], three[j][usable]])
        expected[i, j] = williams(r[0, 1], r[0, 2], r[1, 2], int(usable.sum()))
    corrected = holm([p for _, p in expected.values()])
    for (pair, (t, p)), adjusted in zip(expected.items(), corrected, strict=True):
        assert found[pair] == pytest.approx(
            {"williams_t": t, "williams": p, "williams_holm": adjusted}
        )
    for statistic, keys in (
        ("kendall_b", {}),
        ("pearson", {"grouping": "item"}),
        ("pearson", {"grouping": "system"}),
    ):
        judged, _ = rows(statistic, tests={"draws": 0}, **keys)
        assert compare_metrics(judged, metrics(human), [0.5, 0.4, 0.1]).of_pearson == {}


def test_without_draws_nothing_is_ranked():
    judged, human = rows("pearson", tests={"draws": 0})
    assert compare_metrics(judged, metrics(human), [0.9, 0.8, 0.1]).ranks == (None,) * 3


def test_many_metrics_raise_the_number_of_draws():
    judged, human = rows("accuracy")
    scores = [metrics(human)[k % 3] for k in range(12)]
    tests = compare_metrics(judged, scores, [0.9 - k % 3 * 0.2 for k in range(12)])
    # 66 pairs: 200 draws could not be significant after the correction
    assert np.nanmin(tests.p_values) < 0.05


def test_perm_both_and_williams_of_mt_metrics_eval(golden, monkeypatch):
    values = json.loads((golden / "mt_metrics_eval/values.json").read_text())
    people, fine, coarse = (
        np.array(values["scores"][name]) for name in ("people", "fine", "coarse")
    )
    of_people = (people - people.mean()) / np.linalg.norm(people - people.mean())
    statistics = {
        "pearson": lambda scores: (scores @ of_people) / scores.std(axis=1),
        "kendall_b": KendallOfScores(people, "b"),
    }
    # mt-metrics-eval made all of its exchanges too
    monkeypatch.setattr("harness.stats.metric_tests.STOP_AFTER", 10_000)
    for name, statistic in statistics.items():
        p = permute_scores(statistic, fine, coarse, draws=3000)
        assert p == pytest.approx(2 * values["one_sided_p_of_perm_both"][name], rel=0.2)
    r = np.corrcoef([people, fine, coarse])
    assert williams(r[0, 1], r[0, 2], r[1, 2], len(people))[1] == pytest.approx(
        values["williams"], abs=1e-12
    )


@pytest.mark.parametrize("groups", [None, {"by": "kind", "headline": "mean"}])
def test_tau_b_by_item_is_tested_by_leaving_out_items(groups):
    judged, human = rows("kendall_b", **({"groups": groups} if groups else {}))
    scores = metrics(human)
    item = np.arange(len(human)) // 4
    tests = compare_metrics(judged, scores, [0.5, 0.4, 0.1])
    kind = judged.rated.groups if groups else np.full(len(human), "all")
    tau = [
        [
            np.mean(
                [
                    stats.kendalltau(
                        m.scores[keep & (kind == g), 0], human[keep & (kind == g)]
                    )[0]
                    for g in np.unique(kind)
                ]
            )
            for keep in masks
        ]
        for m in (scores[0], scores[2])
        for masks in [[item != k for k in range(-1, ITEMS)]]
    ]
    difference = np.array(tau[0]) - np.array(tau[1])
    error = np.sqrt((ITEMS - 1) * np.var(difference[1:]))
    assert tests.exchange == "jackknife_input"
    assert tests.raw[0, 2] == pytest.approx(
        2 * stats.t.sf(abs(difference[0]) / error, ITEMS - 1), rel=1e-6
    )
    for unit, key in (("record", "perm_both"), ("system", "perm_sys")):
        assert (
            compare_metrics(
                rows("kendall_b", tests={"draws": 40, "unit": unit})[0],
                scores,
                [0.5, 0.4, 0.1],
            ).exchange
            == key
        )


def test_a_headline_is_of_its_group_or_the_mean_over_all():
    judged = SimpleNamespace(group_names=["all", "x", "a", "mean"])
    assert [_groups_of(judged, group) for group in ("all", "x", "a", "mean")] == [
        ["all"],
        ["x"],
        ["a"],
        ["x", "a"],
    ]
