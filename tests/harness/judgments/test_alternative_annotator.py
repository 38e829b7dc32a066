"""The alternative annotator test: a direct implementation of its definition, a worked
example, and people without enough instances.
"""

from math import isnan, sqrt

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from harness.judgments.alternative_annotator import judge_against_people

SCORES = {
    "rmse": lambda value, others: (
        -sqrt(np.mean([(value - other) ** 2 for other in others]))
    ),
    "accuracy": lambda value, others: np.mean([value == other for other in others]),
}


def by_definition(judge, people, epsilon, level, score):
    """Calderon et al. 2025, section 3, instance by instance.

    ``people``: person -> {instance: annotation}.
    """
    p_values = []
    advantages = []
    for person, annotations in people.items():
        differences = []
        wins = []
        for instance, annotation in annotations.items():
            others = [
                other[instance]
                for name, other in people.items()
                if name != person and instance in other
            ]
            if not others or instance not in judge:
                continue
            of_judge = score(judge[instance], others)
            of_person = score(annotation, others)
            wins.append(int(of_judge >= of_person))
            differences.append(int(of_person >= of_judge) - wins[-1])
        p_values.append(ttest_1samp(differences, epsilon, alternative="less").pvalue)
        advantages.append(np.mean(wins))
    harmonic = sum(1 / k for k in range(1, len(p_values) + 1))
    ordered = sorted(p_values)
    rejected = max(
        (
            k
            for k, p in enumerate(ordered, 1)
            if p <= k / len(p_values) * level / harmonic
        ),
        default=0,
    )
    return rejected / len(p_values), np.mean(advantages), p_values


@pytest.mark.parametrize("alignment", SCORES)
@pytest.mark.parametrize("seed", range(4))
def test_golden_values_of_the_definition(alignment, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, 80)
    ratings = np.clip(
        truth[:, None]
        + rng.integers(-1, 2, (80, 5))
        * (rng.random((80, 5)) < [0.2, 0.4, 0.6, 0.8, 1.0]),
        1,
        5,
    ).astype(float)
    ratings[rng.random((80, 5)) < 0.2] = np.nan
    judge = np.clip(truth + (rng.random(80) < 0.1 * seed) * 1.0, 1, 5)
    judge[:3] = np.nan
    people = {
        j: {i: ratings[i, j] for i in range(80) if not isnan(ratings[i, j])}
        for j in range(5)
    }
    expected = by_definition(
        {i: x for i, x in enumerate(judge) if not isnan(x)},
        people,
        0.1,
        0.05,
        SCORES[alignment],
    )
    result = judge_against_people(judge, ratings, epsilon=0.1, alignment=alignment)
    assert (result.winning_rate, result.advantage) == pytest.approx(
        expected[:2], abs=1e-12
    )
    assert result.p_values == pytest.approx(expected[2], abs=1e-12)


def test_a_judge_that_repeats_one_person():
    ratings = np.tile([[1.0, 1.0, 1.0, 5.0], [2.0, 2.0, 2.0, 1.0]], (20, 1))
    result = judge_against_people(ratings[:, 0], ratings)
    # it ties with the three who agree, and is closer to them than the fourth
    assert result.advantage == 1.0
    # without spread: below epsilon or not
    assert result.winning_rate == 1.0 and result.p_values == (0.0,) * 4
    worst = judge_against_people(np.where(ratings[:, 0] == 1, 5.0, 1.0), ratings)
    # no worse than the fourth, who is that far away too
    assert worst.winning_rate == pytest.approx(1 / 4)


def test_people_with_few_instances_do_not_take_part():
    ratings = np.full((40, 3), np.nan)
    ratings[:, 0] = ratings[:, 1] = np.arange(40) % 5
    ratings[:29, 2] = 1.0
    for order in ([0, 1, 2], [0, 2, 1], [2, 0, 1]):
        assert len(judge_against_people(ratings[:, 0], ratings[:, order]).p_values) == 2
    none = judge_against_people(ratings[:10, 0], ratings[:10])
    assert isnan(none.winning_rate) and isnan(none.advantage) and none.p_values == ()
