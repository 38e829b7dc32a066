"""Agreement on systems: means of rated captions, and strengths from judged pairs, of
people against those of a metric.
"""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from harness.contracts import JudgedCaption, JudgedItem, JudgedPair, Judgments
from harness.errors import InputError
from harness.judgments import system_agreement
from harness.judgments.agreement import agreements
from harness.judgments.between_metrics import compare_metrics
from harness.judgments.judgment_models import JudgmentSpec
from harness.judgments.metric_scores import MetricScores
from harness.judgments.rows import JudgmentRows
from harness.judgments.system_agreement import notes_of_strengths
from harness.stats.bradley_terry import strengths
from harness.stats.metric_tests import permute_scores

ITEMS = 30
SYSTEMS = 4
GAMES = [
    # item, systems, preference of people, scores of the metric
    (0, "ab", 2, (3, 1)),
    (0, "ba", 1, (1, 1)),
    (0, "cb", -1, (np.nan, 1)),
    (1, "ba", -1, (2, 1)),
    (1, "ac", 1, (0, 1)),
    (1, "bc", 3, (5, 4)),
    (2, "ca", 0, (2, 1)),
    (2, "bc", 1, (0, 1)),
    (3, "ba", -1, (0, 4)),
    (3, "ab", -1, (1, 0)),
]
RATINGS = {"a": [1, 2, 3], "b": [2, 2, 5], "c": [4, 1, 1]}
"""System -> rating of each item."""
SCORES = np.array([[1.0, 2, 0], [4, 1, 3], [5, np.nan, 1]])
"""Scores of a metric, shape (systems, items)."""


def battles(statistic="pearson_system", preference=None, pairs=None, **keys):
    """Pairs of systems: two of each item, ``s0`` the best and ``s3`` the worst,
    a tie now and then.
    """
    rng = np.random.default_rng(0)
    captions = []
    judged = []
    for item in range(ITEMS):
        for _ in range(2):
            a, b = (
                pairs[item % len(pairs)]
                if pairs
                else rng.choice(SYSTEMS, 2, replace=False)
            )
            votes = (
                float(np.sign(round(b - a + rng.normal() * 2)))
                if preference is None
                else preference(a, b)
            )
            captions += [
                JudgedCaption(item, (f"caption {len(captions) + k}",), f"s{s}")
                for k, s in enumerate((a, b))
            ]
            judged.append(JudgedPair(len(captions) - 2, len(captions) - 1, (votes,)))
    judgments = Judgments(
        "f",
        tuple(JudgedItem(str(i), ("r",)) for i in range(ITEMS)),
        tuple(captions),
        tuple(judged),
    )
    spec = {
        "task": "t",
        "metrics": ["m"],
        "judgments": {"form": "pairs", "path": "f"},
        "statistics": [statistic],
        **keys,
    }
    rows = JudgmentRows(judgments, JudgmentSpec.model_validate(spec))
    rows.check()
    scores = np.array([-float(c.system[1]) for c in captions]) + rng.normal(
        size=len(captions)
    )
    return rows, MetricScores(scores[:, None])


def strengths_by_hand(rows, votes, weights):
    """Count the wins in a loop."""
    wins = np.zeros((SYSTEMS, SYSTEMS))
    for pair, vote in zip(rows.judgments.pairs, votes):
        a, b = (rows.judgments.captions[k] for k in (pair.first, pair.second))
        i = int(a.system[1])
        j = int(b.system[1])
        wins[i, j] += weights[a.item] * (1 + np.sign(vote)) / 2
        wins[j, i] += weights[a.item] * (1 - np.sign(vote)) / 2
    return strengths(wins)


@pytest.mark.parametrize(
    "statistic", ["pearson_system", "spearman_system", "kendall_system"]
)
def test_strengths_of_people_against_the_metric(statistic):
    rows, metric = battles(statistic)
    people = [pair.preference for pair in rows.judgments.pairs]
    scored = [
        metric.scores[p.first, 0] - metric.scores[p.second, 0]
        for p in rows.judgments.pairs
    ]
    agreement = agreements(rows, metric, statistic)["all"]
    weights = np.stack(
        [
            np.ones(ITEMS),
            np.random.default_rng(1).multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS)),
        ]
    )
    oracle = {
        "pearson_system": stats.pearsonr,
        "spearman_system": stats.spearmanr,
        "kendall_system": stats.kendalltau,
    }[statistic]
    order = np.unique([int(c.system[1]) for c in rows.judgments.captions])
    expected = [
        oracle(
            strengths_by_hand(rows, people, w)[order],
            strengths_by_hand(rows, scored, w)[order],
        )[0]
        for w in weights
    ]
    np.testing.assert_allclose(agreement.reduce(weights), expected, atol=1e-8)
    assert (agreement.n, agreement.skipped) == (4, 0) and agreement.details == {
        "items": ITEMS,
        "captions": 120,
    }


def test_many_resamples_are_computed_a_part_at_a_time(monkeypatch):
    rows, metric = battles()
    weights = (
        np.random.default_rng(2)
        .multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS), size=5)
        .astype(float)
    )
    agreement = agreements(rows, metric, "pearson_system")["all"]
    together = agreement.reduce(weights)
    monkeypatch.setattr(system_agreement, "CELLS", 2 * len(rows.judgments.pairs))
    np.testing.assert_allclose(agreement.reduce(weights), together, atol=1e-8)
    monkeypatch.setattr(system_agreement, "CELLS", 1)
    np.testing.assert_allclose(agreement.reduce(weights), together, atol=1e-8)


def test_pairs_without_a_score_are_left_out():
    rows, metric = battles()
    metric.scores[rows.judgments.pairs[0].first] = np.nan
    agreement = agreements(rows, metric, "pearson_system")["all"]
    assert agreement.skipped == 1 and np.isfinite(
        agreement.reduce(np.ones((1, ITEMS)))[0]
    )


def test_soft_pairwise_accuracy_of_pairs():
    rows, metric = battles("soft_pairwise_accuracy")
    value = agreements(rows, metric, "soft_pairwise_accuracy")["all"].reduce(
        np.ones((1, ITEMS))
    )[0]
    human = np.zeros(len(metric.scores))
    for pair in rows.judgments.pairs:
        human[pair.first] = pair.preference
    itself = agreements(rows, MetricScores(human[:, None]), "soft_pairwise_accuracy")[
        "all"
    ].reduce(np.ones((1, ITEMS)))[0]
    reverse = agreements(rows, MetricScores(-human[:, None]), "soft_pairwise_accuracy")[
        "all"
    ].reduce(np.ones((1, ITEMS)))[0]
    assert reverse < 0.2 and 0.6 < value < itself == 1.0


def test_systems_that_no_pair_connects_are_one_line():
    with pytest.raises(
        InputError,
        match=r"the system s0 with s2 \(2 of 4 systems are connected with s0\)",
    ):
        agreements(*battles(pairs=[(0, 1), (2, 3)]), "pearson_system")
    with pytest.raises(
        InputError,
        match=r"the system s0 with s1 \(1 of 3 systems are connected with s0\)",
    ):
        agreements(*battles(pairs=[(0, 0), (1, 2)]), "pearson_system")
    with pytest.raises(InputError, match="captions of at least two systems"):
        agreements(*battles(pairs=[(0, 0)]), "pearson_system")


def test_a_system_that_always_wins_is_one_line_and_finite():
    rows, metric = battles(preference=lambda a, b: float(np.sign(b - a)))
    wins, loses = sorted(notes_of_strengths(rows))
    assert wins.startswith("people always prefer s0: one tie") and loses.startswith(
        "people never prefer s3: one tie"
    )
    assert np.isfinite(
        agreements(rows, metric, "pearson_system")["all"].reduce(np.ones((1, ITEMS)))[0]
    )


def games(statistic="soft_pairwise_accuracy", pairs=GAMES):
    captions = [
        JudgedCaption(item, (f"caption {k}",), name)
        for k, (item, names, *_) in enumerate(pairs)
        for name in names
    ]
    judged = [
        JudgedPair(2 * k, 2 * k + 1, (float(preference),))
        for k, (_, _, preference, _) in enumerate(pairs)
    ]
    judgments = Judgments(
        "f",
        tuple(JudgedItem(str(i), ("r",)) for i in range(4)),
        tuple(captions),
        tuple(judged),
    )
    spec = {
        "task": "t",
        "metrics": ["m"],
        "judgments": {"form": "pairs", "path": "f"},
        "statistics": [statistic],
    }
    scores = np.array([score for *_, scores in pairs for score in scores], dtype=float)
    return JudgmentRows(judgments, JudgmentSpec.model_validate(spec)), MetricScores(
        scores[:, None]
    )


def test_soft_pairwise_accuracy_of_pairs_is_of_their_mean_points_on_each_item():
    rows, metric = games()
    cells = {}
    for item, names, preference, (a, b) in GAMES:
        if not np.isnan(a):
            sign = 1 if names == "".join(sorted(names)) else -1
            cells.setdefault(("".join(sorted(names)), item), []).append(
                (sign * np.sign(preference), sign * np.sign(a - b))
            )
    human, scored = (
        [
            [
                np.mean(cells[names, item], axis=0)[k]
                if (names, item) in cells
                else np.nan
                for item in range(4)
            ]
            for names in ("ab", "ac", "bc")
        ]
        for k in (0, 1)
    )
    agreement, value = agree(rows, metric, "soft_pairwise_accuracy")
    assert value[0] == pytest.approx(soft_accuracy(human, scored), abs=0.005)
    assert (agreement.n, agreement.skipped, agreement.details) == (
        3,
        1,
        {"items": 4, "captions": 18},
    )


def test_both_orders_of_two_systems_count_alike():
    # People prefer each system once: 3 of 4 sign patterns reach the sum. The metric
    # prefers the same one twice: 1 of 4 does.
    rows, metric = games(pairs=[(0, "ab", 1, (1, 0)), (1, "ba", 1, (0, 1))])
    assert agree(rows, metric, "soft_pairwise_accuracy")[1][0] == pytest.approx(
        0.5, abs=0.005
    )


def test_a_system_that_ties_is_not_one_that_always_wins_or_never():
    rows, _ = games(
        "pearson_system",
        [
            (0, "ab", 1, (0, 0)),
            (1, "ab", -1, (0, 0)),
            (2, "bc", 0, (0, 0)),
            (3, "da", 0, (0, 0)),
        ],
    )
    assert notes_of_strengths(rows) == notes_of_strengths(rated(RATINGS)) == []


@pytest.mark.parametrize("statistic", ["pearson_system", "soft_pairwise_accuracy"])
def test_without_a_scored_pair_systems_have_no_agreement(statistic):
    rows, metric = games(statistic)
    agreement, value = agree(
        rows, MetricScores(np.full_like(metric.scores, np.nan)), statistic
    )
    assert np.isnan(value[0]) and (agreement.n, agreement.skipped) == (3, 10)
    assert agreement.details == {"items": 0, "captions": 0}


def rated(ratings, statistic="pearson_system", systems=None, **judgments):
    """Rows of systems with their ratings of each item, None for no caption."""
    captions = [
        JudgedCaption(item, (f"{name}{item}",), name, (float(rating),))
        for name, of_items in ratings.items()
        for item, rating in enumerate(of_items)
        if rating is not None
    ]
    items = tuple(
        JudgedItem(str(k), ("r",)) for k in range(len(next(iter(ratings.values()))))
    )
    spec = {
        "task": "t",
        "metrics": ["m"],
        "judgments": {"form": "captions", "path": "f", **judgments},
        "statistics": [statistic],
    }
    return JudgmentRows(
        Judgments("f", items, tuple(captions), (), systems or {}),
        JudgmentSpec.model_validate(spec),
    )


def agree(rows, metric, statistic, weights=None):
    """Return the agreement and its values."""
    agreement = agreements(rows, metric, statistic)["all"]
    return agreement, agreement.reduce(
        np.ones((1, rows.items)) if weights is None else np.array(weights, dtype=float)
    )


@pytest.mark.parametrize(
    ("sizes", "skipped"),
    [
        ({"a": [2, 2], "b": [2, 2]}, 0),
        ({"a": [2, 2], "b": [2, 3]}, 2),
        ({"a": [2, 3], "b": [2, 2]}, 2),
        ({"a": [2, 2], "b": [2, 3], "c": [2, 3]}, 3),
    ],
)
def test_systems_whose_sets_differ_in_size_have_no_agreement(sizes, skipped):
    counts = np.array([count for of_items in sizes.values() for count in of_items])
    metric = MetricScores(
        np.arange(float(len(counts)))[:, None], sizes={"references": counts}
    )
    agreement, _ = agree(rated(sizes), metric, "pearson_system")
    assert (agreement.n, agreement.skipped) == (len(sizes) - skipped, skipped)


@pytest.mark.parametrize(
    ("statistic", "oracle"),
    [
        ("kendall_system", stats.kendalltau),
        ("pearson_system", stats.pearsonr),
        ("spearman_system", stats.spearmanr),
    ],
)
def test_means_of_systems_are_of_the_captions_with_a_score(statistic, oracle):
    weights = np.array([[1.0, 1, 1], [2, 0, 1], [0, 3, 2]])
    agreement, values = agree(
        rated(RATINGS), MetricScores(SCORES.reshape(-1, 1)), statistic, weights
    )
    expected = []
    for of_items in weights:
        of_scored = np.where(np.isnan(SCORES), 0, of_items)
        of_people = np.average([*RATINGS.values()], axis=1, weights=of_scored)
        expected.append(
            oracle(
                of_people, np.average(np.nan_to_num(SCORES), axis=1, weights=of_scored)
            )[0]
        )
    np.testing.assert_allclose(values, expected)
    assert (agreement.n, agreement.skipped) == (3, 1) and agreement.details == {
        "items": 3,
        "captions": 8,
        "ratings": 8,
    }


def test_the_value_of_a_system_is_the_corpus_number_of_its_scored_captions():
    numbers = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5])
    asked = []

    def of_corpus(captions, weights):
        asked.append(captions.tolist())
        return np.sqrt(weights @ numbers[captions])

    weights = [[1, 1, 1], [0, 2, 1]]
    _, values = agree(
        rated(RATINGS),
        MetricScores(SCORES.reshape(-1, 1), of_corpus),
        "pearson_system",
        weights,
    )
    assert asked == [[0, 1, 2], [3, 4, 5], [6, 8]]
    corpus = np.sqrt([[8, 15, 7], [6, 19, 5]])
    people = [[2, 3, 2.5], [7 / 3, 3, 1]]
    np.testing.assert_allclose(
        values, [stats.pearsonr(x, y)[0] for x, y in zip(corpus, people)]
    )
    asked.clear()
    without_b = np.array([1.0, 2, 3, *[np.nan] * 3, 1, 2, 1])[:, None]
    assert np.isnan(
        agree(rated(RATINGS), MetricScores(without_b, of_corpus), "pearson_system")[1]
    )
    assert asked == [[0, 1, 2], [6, 7, 8]]


def test_human_scores_of_a_file_may_be_costs():
    table = {"a": 1.0, "c": 7.0, "b": 5.0, "other": 0.0}
    scores = np.arange(9.0)[::-1, None] ** 2
    means = scores.reshape(3, 3).mean(axis=1)
    listed = [1.0, 5.0, 7.0]
    for better, sign in ((True, 1), (False, -1)):
        rows = rated(RATINGS, systems=table, higher_is_better=better)
        _, value = agree(
            rows, MetricScores(scores), "pearson_system", [[1, 1, 1], [1, 1, 1]]
        )
        np.testing.assert_allclose(value, sign * stats.pearsonr(means, listed)[0])


def soft_accuracy(human, metric):
    """Return the soft pairwise accuracy of differences (pairs, items) with NaN,
    over all sign patterns.
    """
    errors = []
    for h, m in zip(np.array(human, dtype=float), np.array(metric, dtype=float)):
        both = ~(np.isnan(h) | np.isnan(m))
        signs = np.array(list(product([1, -1], repeat=int(both.sum()))))
        p = [
            np.mean(signs @ differences[both] >= differences[both].sum() - 1e-9)
            for differences in (h, m)
        ]
        errors.append(abs(p[0] - p[1]))
    return 1 - np.mean(errors)


def test_soft_pairwise_accuracy_is_over_the_items_that_two_systems_share():
    ratings = {"a": [1, 2, 3, 4], "b": [2, 2, 5, 1], "c": [4, 1, 1, None]}
    scores = np.array([[1.0, 2, 0, 3], [4, 1, np.nan, 3], [5, 0, 1, np.nan]])
    human = np.array(
        [
            [np.nan if rating is None else rating for rating in of_items]
            for of_items in ratings.values()
        ],
        dtype=float,
    )
    agreement, value = agree(
        rated(ratings),
        MetricScores(scores.ravel()[:11, None]),
        "soft_pairwise_accuracy",
    )
    first = [0, 0, 1]
    second = [1, 2, 2]
    assert value[0] == pytest.approx(
        soft_accuracy(human[first] - human[second], scores[first] - scores[second]),
        abs=0.005,
    )
    assert (agreement.n, agreement.skipped, agreement.details) == (
        3,
        1,
        {"items": 4, "captions": 10, "ratings": 10},
    )


def test_metrics_are_compared_by_exchanging_items():
    rows, metric = battles(tests={"draws": 200})
    noise = MetricScores(-metric.scores)
    tests = compare_metrics(rows, [metric, metric, noise], [0.9, 0.9, -0.9])
    assert (
        tests.raw[0, 1] == 1.0
        and tests.raw[0, 2] < 0.05
        and tests.exchange == "perm_input"
    )


@pytest.mark.parametrize("unit", ["item", "record"])
@pytest.mark.parametrize(
    "statistic",
    [
        "pearson_system",
        "spearman_system",
        "kendall_system",
        "accuracy_system",
        "soft_pairwise_accuracy",
    ],
)
def test_points_of_the_pairs_that_two_metrics_answer_are_exchanged(statistic, unit):
    # s0 ties when it is the first
    of_people = (
        (lambda a, b: float(b > a) if a else 0.0)
        if statistic == "pearson_system"
        else None
    )
    rows, metric = battles(
        statistic,
        of_people,
        tests={"draws": 100, "unit": unit},
        seed=3,
        statistics=[statistic, "spearman_system"],
    )
    count = len(rows.judgments.pairs)
    noise = np.random.default_rng(4).normal(size=(len(metric.scores), 2)) * 4
    both = [
        MetricScores(metric.scores + noise[:, :1]),
        MetricScores(noise[:, 1:] - metric.scores),
    ]
    both[0].scores[[2, 40]] = both[1].scores[[40, 51]] = np.nan
    answers = [
        np.sign(scores.scores[0::2, 0] - scores.scores[1::2, 0]) for scores in both
    ]
    usable = np.isfinite(answers[0]) & np.isfinite(answers[1])
    # tested by its hard form
    kind = "accuracy_system" if statistic == "soft_pairwise_accuracy" else statistic

    def agreement(drawn):
        values = []
        for points in drawn:
            preferences = np.full((count, 1), np.nan)
            preferences[usable, 0] = points
            found = agreements(
                rows, MetricScores(metric.scores, of_pairs=preferences), kind
            )["all"]
            values.append(found.reduce(np.ones((1, ITEMS)))[0])
        return np.array(values)

    units = np.arange(count) // 2 if unit == "item" else np.arange(count)
    expected = permute_scores(
        agreement,
        answers[0][usable],
        answers[1][usable],
        unit=units[usable],
        draws=100,
        seed=3,
        standardised=True,
    )
    assert compare_metrics(rows, both, [0.5, 0.4]).raw[0, 1] == pytest.approx(
        expected, abs=1e-12
    )
