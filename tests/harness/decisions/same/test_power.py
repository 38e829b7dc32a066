"""Simulated power of the test of two sources."""

from __future__ import annotations

import numpy as np
import pytest

from harness.decisions.same.power import power_against, replace_answers, share_found
from harness.decisions.same.sources import Prompt, common_prompts
from harness.decisions.same.statistics import Settings
from tests.support.answer_sources import make_source


def test_power_grows_with_the_change():
    prompts, _ = common_prompts(make_source("a", 1), make_source("b", 2))
    settings = Settings(draws=99)
    none = power_against(
        prompts,
        lambda answers, rng: [list(texts) for texts in answers],
        settings,
        runs=40,
    )
    foreign = power_against(
        prompts,
        lambda answers, rng: [["another thing"] * len(texts) for texts in answers],
        settings,
        runs=10,
    )
    assert none <= 0.2 and foreign == 1.0
    changed = replace_answers(1.0)([["a"], ["b"]], np.random.default_rng(0))
    assert {text for texts in changed for text in texts} <= {"a", "b"}


def test_power_is_that_of_a_hundred_checks_of_the_first_hundred_prompts():
    prompts, _ = common_prompts(
        make_source("a", 1, prompts=103, answers=2),
        make_source("b", 2, prompts=103, answers=3),
    )
    checked = []

    def change(answers, rng):
        checked.append([len(texts) for texts in answers])
        return answers

    power_against(prompts[:2], change, Settings(kernels=("exact",)))
    assert checked == [[3, 3]] * 100
    power_against(prompts, change, Settings(kernels=("exact",)), runs=1)
    assert checked[100:] == [[3] * 100]


@pytest.mark.slow
def test_power_at_a_low_level_is_that_of_a_critical_value_of_all_checks():
    prompts, _ = common_prompts(make_source("a", 1), make_source("b", 2))
    foreign = power_against(
        prompts,
        lambda answers, rng: [["another thing"] * len(t) for t in answers],
        Settings(alpha=1e-4),
        runs=10,
    )
    none = power_against(
        prompts,
        lambda answers, rng: [list(texts) for texts in answers],
        Settings(alpha=1e-4),
        runs=10,
    )
    assert (foreign, none) == (1.0, 0.0)
    one = [Prompt("1", ["x", "y", "z"], ["u", "v", "w"])]
    assert share_found([one] * 3, 3, Settings(alpha=0.02)) == 0.0, (
        "20 relabelings have no p below .1"
    )
