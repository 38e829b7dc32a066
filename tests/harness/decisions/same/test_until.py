"""E-values batch by batch: fair for equal sources, large for changed ones, stopping."""

from __future__ import annotations

import numpy as np
import pytest

from harness.decisions.same.answer_kernels import Answers
from harness.decisions.same.sources import Prompt
from harness.decisions.same.statistics import Settings
from harness.decisions.same.until import _direction, _weights, follow

SETTINGS = Settings(kernels=("n-grams", "characters"), draws=99)


def prompts(seed, share=0.0, number=6, answers=5):
    rng = np.random.default_rng(seed)

    def texts(share):
        return [
            f"a {rng.choice(['dog', 'cat', 'horse'])} "
            f"{'barks' if rng.random() < share else rng.choice(['runs', 'sits'])}"
            for _ in range(answers)
        ]

    return [Prompt(str(k), texts(0.0), texts(share)) for k in range(number)]


def test_the_mean_of_an_e_value_of_equal_sources_is_about_1():
    first = [next(iter(follow(prompts(seed), 2, SETTINGS))).e for seed in range(150)]
    assert np.mean(first) == pytest.approx(1.0, abs=0.25)


@pytest.mark.slow
def test_equal_sources_are_seldom_stopped_and_changed_ones_soon():
    assert (
        sum(list(follow(prompts(seed), 1, SETTINGS))[-1].e >= 20 for seed in range(40))
        <= 6
    )
    batches = list(follow(prompts(1, share=1.0, number=12), 1, SETTINGS))
    assert batches[-1].e >= 20 and len(batches) < 5
    assert [batch.answers for batch in batches] == [
        24 * (k + 1) for k in range(len(batches))
    ]


def test_prompts_whose_answers_are_used_up_leave_the_batches():
    held = prompts(1)
    uneven = [Prompt("short", held[0].a[:2], held[0].b[:1]), *held[1:]]
    assert [batch.answers for batch in follow(uneven, 2, SETTINGS)] == [23, 43, 53]


def test_the_direction_is_that_of_the_standardised_shifts_of_each_prompt():
    rng = np.random.default_rng(3)
    texts = [
        f"{rng.choice(['a dog', 'cats'])} {rng.choice(['runs fast', 'sits', 'is out'])}"
        for _ in range(15)
    ]
    batch = [
        (Prompt("p", texts[3:5], texts[5:8]), (), ()),
        (Prompt("q", texts[8:12], texts[12:15]), (), ()),
    ]
    answers = Answers(texts)
    values = answers.features()[1]
    shift = np.zeros(values.shape[1])
    variance = np.full(values.shape[1], 1e-12)
    for rows, n in ((values[3:8], 2), (values[8:15], 4)):
        centred = rows - rows.mean(axis=0)
        total = len(rows)
        shift += centred[:n].sum(axis=0)
        variance += (centred**2).sum(axis=0) * n * (total - n) / (total * (total - 1))
    z = np.array([x if abs(x) > 1.5 else 0.0 for x in shift / np.sqrt(variance)])
    assert _direction(answers, batch, 3) == pytest.approx(
        values[:3] @ (z / np.sqrt(variance))
    )


@pytest.mark.parametrize(
    ("evidence", "signs"),
    [
        ([[-3.0, -2.0, 0.0], [-3.0, -1.0, 0.0]], [0, 1, 0]),
        ([[3.0, -9.0, 2.0]], [1, 1, 1]),
        ([[-4.0, 3.0, -2.0], [-4.0, 3.0, -2.0], [-4.0, 3.0, -2.0]], [0, 1, -1]),
    ],
)
def test_only_similarities_are_bet_on_in_both_directions(evidence, signs):
    """One kernel, one direction of features, one similarity: kernels and directions of
    different sources are positive.
    """
    assert np.sign(_weights(np.array(evidence), 3, 1)).tolist() == signs
