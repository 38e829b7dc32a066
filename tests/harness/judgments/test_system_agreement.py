"""Agreement on systems from judged pairs: strengths of people against those of a metric."""

import numpy as np
import pytest
from scipy import stats

from harness.contracts import JudgedCaption, JudgedItem, JudgedPair, Judgments
from harness.errors import InputError
from harness.judgments.agreement import agreements
from harness.judgments.between_metrics import compare_metrics
from harness.judgments.metric_scores import MetricScores
from harness.judgments.rows import JudgmentRows
from harness.judgments.system_agreement import notes_of_strengths
from harness.spec.judgment_models import JudgmentSpec
from harness.stats.bradley_terry import strengths

ITEMS, SYSTEMS = 30, 4


def battles(statistic="pearson_system", preference=None, pairs=None, **keys):
    """Pairs of systems: two of each item, ``s0`` the best and ``s3`` the worst, a tie now and then."""
    rng = np.random.default_rng(0)
    captions, judged = [], []
    for item in range(ITEMS):
        for _ in range(2):
            a, b = pairs[item % len(pairs)] if pairs else rng.choice(SYSTEMS, 2, replace=False)
            votes = float(np.sign(round(b - a + rng.normal() * 2))) if preference is None else preference(a, b)
            captions += [JudgedCaption(item, (f"caption {len(captions) + k}",), f"s{s}") for k, s in enumerate((a, b))]
            judged.append(JudgedPair(len(captions) - 2, len(captions) - 1, (votes,)))
    judgments = Judgments("f", tuple(JudgedItem(str(i), ("r",)) for i in range(ITEMS)), tuple(captions), tuple(judged))
    spec = {"task": "t", "metrics": ["m"], "judgments": {"form": "pairs", "path": "f"}, "statistics": [statistic], **keys}
    rows = JudgmentRows(judgments, JudgmentSpec.model_validate(spec))
    rows.check()
    scores = np.array([-float(c.system[1]) for c in captions]) + rng.normal(size=len(captions))
    return rows, MetricScores(scores[:, None])


def strengths_by_hand(rows, votes, weights):
    """Count the wins in a loop."""
    wins = np.zeros((SYSTEMS, SYSTEMS))
    for pair, vote in zip(rows.judgments.pairs, votes):
        a, b = (rows.judgments.captions[k] for k in (pair.first, pair.second))
        i, j = int(a.system[1]), int(b.system[1])
        wins[i, j] += weights[a.item] * (1 + np.sign(vote)) / 2
        wins[j, i] += weights[a.item] * (1 - np.sign(vote)) / 2
    return strengths(wins)


@pytest.mark.parametrize("statistic", ["pearson_system", "spearman_system", "kendall_system"])
def test_strengths_of_people_against_the_metric(statistic):
    rows, metric = battles(statistic)
    people = [pair.preference for pair in rows.judgments.pairs]
    scored = [metric.scores[p.first, 0] - metric.scores[p.second, 0] for p in rows.judgments.pairs]
    agreement = agreements(rows, metric, statistic)["all"]
    weights = np.stack([np.ones(ITEMS), np.random.default_rng(1).multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS))])
    oracle = {"pearson_system": stats.pearsonr, "spearman_system": stats.spearmanr, "kendall_system": stats.kendalltau}[statistic]
    order = np.unique([int(c.system[1]) for c in rows.judgments.captions])
    expected = [oracle(strengths_by_hand(rows, people, w)[order], strengths_by_hand(rows, scored, w)[order])[0] for w in weights]
    np.testing.assert_allclose(agreement.reduce(weights), expected, atol=1e-8)
    assert (agreement.n, agreement.skipped) == (4, 0) and agreement.details == {"items": ITEMS, "captions": 120}


def test_pairs_without_a_score_are_left_out():
    rows, metric = battles()
    metric.scores[rows.judgments.pairs[0].first] = np.nan
    agreement = agreements(rows, metric, "pearson_system")["all"]
    assert agreement.skipped == 1 and np.isfinite(agreement.reduce(np.ones((1, ITEMS)))[0])


def test_soft_pairwise_accuracy_of_pairs():
    rows, metric = battles("soft_pairwise_accuracy")
    value = agreements(rows, metric, "soft_pairwise_accuracy")["all"].reduce(np.ones((1, ITEMS)))[0]
    human = np.zeros(len(metric.scores))
    for pair in rows.judgments.pairs:
        human[pair.first] = pair.preference
    itself = agreements(rows, MetricScores(human[:, None]), "soft_pairwise_accuracy")["all"].reduce(np.ones((1, ITEMS)))[0]
    reverse = agreements(rows, MetricScores(-human[:, None]), "soft_pairwise_accuracy")["all"].reduce(np.ones((1, ITEMS)))[0]
    assert reverse < 0.2 and 0.6 < value < itself == 1.0


def test_systems_that_no_pair_connects_are_one_line():
    with pytest.raises(InputError, match=r"connects the system s0 with s2 \(2 of 4 systems are connected with s0\)"):
        agreements(*battles(pairs=[(0, 1), (2, 3)]), "pearson_system")
    with pytest.raises(InputError, match="captions of at least two systems"):
        agreements(*battles(pairs=[(0, 0)]), "pearson_system")


def test_a_system_that_always_wins_is_one_line_and_finite():
    rows, metric = battles(preference=lambda a, b: float(np.sign(b - a)))
    wins, loses = sorted(notes_of_strengths(rows))
    assert wins.startswith("people always prefer s0: one tie") and loses.startswith("people never prefer s3: one tie")
    assert np.isfinite(agreements(rows, metric, "pearson_system")["all"].reduce(np.ones((1, ITEMS)))[0])


@pytest.mark.parametrize(
    ("sizes", "skipped"), [({"a": [2, 2], "b": [2, 2]}, 0), ({"a": [2, 2], "b": [2, 3]}, 2), ({"a": [2, 3], "b": [2, 2]}, 2)]
)
def test_systems_whose_sets_differ_in_size_have_no_agreement(sizes, skipped):
    captions = [JudgedCaption(item, (f"{name}{item}",), name, (float(item),)) for name in sizes for item in range(2)]
    judgments = Judgments("f", (JudgedItem("0", ("r",)), JudgedItem("1", ("r",))), tuple(captions))
    spec = {"task": "t", "metrics": ["m"], "judgments": {"form": "captions", "path": "f"}, "statistics": ["pearson_system"]}
    rows = JudgmentRows(judgments, JudgmentSpec.model_validate(spec))
    metric = MetricScores(np.arange(4.0)[:, None], sizes={"references": np.array([*sizes["a"], *sizes["b"]])})
    agreement = agreements(rows, metric, "pearson_system")["all"]
    assert (agreement.n, agreement.skipped) == (2 - skipped, skipped)


def test_metrics_are_compared_by_exchanging_items():
    rows, metric = battles(tests={"draws": 200})
    noise = MetricScores(-metric.scores)
    tests = compare_metrics(rows, [metric, metric, noise], [0.9, 0.9, -0.9])
    assert tests.raw[0, 1] == 1.0 and tests.raw[0, 2] < 0.05 and tests.exchange == "perm_input"
