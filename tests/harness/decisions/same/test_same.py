"""Comparison of two sources of answers: verdicts, effects, words, remarks, peers."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.same import package_values
from harness.decisions.same import same
from harness.decisions.same.effects import Effect
from harness.decisions.same.level import NightSeries
from harness.decisions.same.same import compare_all, compare_sources, resolve
from harness.decisions.same.sources import Prompt, Source, common_prompts
from harness.decisions.same.statistics import Settings, evaluate
from tests.support.answer_sources import make_source

FAST = Settings(draws=99, power=False)
REFUSALS = Source(
    "refusals",
    {f"p{k}": ["I am sorry, I cannot help with that."] * 6 for k in range(15)},
)


def test_a_changed_source_is_different_and_the_words_say_why():
    result = compare_sources(make_source("a", 1), make_source("b", 2, end=0.6), FAST)
    assert result.verdict == "different" and result.p == 0.01
    names = [feature.name for feature in result.features if feature.p <= 0.05]
    assert "ends with a full stop" in names and not {"'dog'", "'cat'"} & set(names)
    feature = next(
        feature
        for feature in result.features
        if feature.name == "ends with a full stop"
    )
    assert feature.a == 1.0 and feature.b < 0.8
    assert result.accuracy.value > 0.55 and result.power is None


@pytest.mark.slow
def test_equal_sources_are_not_shown_to_differ_and_the_power_is_told():
    result = compare_sources(
        make_source("a", 1), make_source("b", 2), Settings(draws=99)
    )
    assert result.verdict == "not shown" and result.p > 0.05
    assert result.power is not None and 0 <= result.power <= 1
    assert (
        result.effect.interval is not None
        and result.effect.interval[0] < 0 < result.effect.interval[1]
    )


def test_a_margin_makes_sources_equivalent():
    a = make_source("a", 1, answers=20)
    b = make_source("b", 2, answers=20)
    assert (
        compare_sources(a, b, Settings(draws=99, power=False, margin=0.2)).verdict
        == "equivalent within margin"
    )
    assert (
        compare_sources(a, b, Settings(draws=99, power=False, margin=1e-6)).verdict
        == "not shown"
    )


def test_several_sources_are_adjusted_by_holm():
    results = compare_all(
        [
            make_source("a", 1),
            make_source("b", 2),
            make_source("c", 3, verb="barks meows"),
        ],
        FAST,
    )
    assert [result.labels for result in results] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [result.verdict for result in results] == [
        "not shown",
        "different",
        "different",
    ]
    assert results[1].p == pytest.approx(0.01) and results[1].relabelings == 300, (
        "three pairs share the level"
    )


def test_deterministic_sources_have_one_line():
    a = Source("a", {str(k): ["x"] * 3 for k in range(4)})
    b = Source("b", {str(k): ["y" if k == 2 else "x"] * 3 for k in range(4)})
    result = compare_sources(a, b, FAST)
    assert any("they differ in 1 of 4 prompts" in note for note in result.notes)
    assert result.p == pytest.approx(2 / 20, abs=0.05)


def test_one_answer_per_prompt_has_one_line_and_unequal_numbers_are_accepted():
    single = compare_sources(
        Source("a", {"1": ["x"], "2": ["y"]}),
        Source("b", {"1": ["z"], "2": ["y"]}),
        FAST,
    )
    assert (
        any("one answer of each source per prompt" in note for note in single.notes)
        and single.verdict == "not shown"
    )
    a = make_source("a", 1)
    b = make_source("b", 2)
    uneven = {
        name: texts[: 1 + k % 6] for k, (name, texts) in enumerate(b.answers.items())
    }
    assert 0 < compare_sources(a, Source("b", uneven), FAST).p <= 1


def test_the_peer_of_the_benchmark_has_the_statistic_of_its_package(golden):
    for case in json.loads(
        (golden / "same" / "statistics.json").read_text(encoding="utf-8")
    ):
        prompts = [
            Prompt(str(k), item["a"], item["b"])
            for k, item in enumerate(case["prompts"])
        ]
        labels = np.concatenate(
            [[1.0] * len(prompt.a) + [0.0] * len(prompt.b) for prompt in prompts]
        )
        assert package_values(prompts, "characters", labels[None])[0] == pytest.approx(
            case["mmd_hamming"], abs=1e-9
        )


def test_sources_that_share_their_random_numbers_are_noticed():
    a = make_source("a", 1)
    result = compare_sources(a, Source("b", a.answers), FAST)
    assert result.verdict == "not shown" and any(
        "one seed or one cache" in note for note in result.notes
    )


@pytest.mark.parametrize("night", [1, 6, 7, pytest.param(60, marks=pytest.mark.slow)])
def test_a_total_change_is_found_on_every_night(night):
    for series in (NightSeries(night), NightSeries(night, 90)):
        result = compare_sources(
            make_source("a", 1),
            REFUSALS,
            Settings(alpha=series.level(0.05), power=False),
        )
        assert (
            result.verdict == "different"
            and result.p == result.floor <= series.level(0.05)
        )


def test_relabelings_are_added_while_the_p_value_is_small():
    a = make_source("a", 1)
    b = make_source("b", 2)
    alike = compare_sources(a, b, Settings(alpha=5e-4, power=False))
    assert (alike.relabelings, alike.floor) == (
        1001,
        1 / 10_000,
    ) and alike.p == compare_sources(a, b, Settings(power=False)).p
    changed = compare_sources(
        a, make_source("c", 3, end=0.8), Settings(alpha=5e-4, power=False)
    )
    assert changed.p > 5e-4 or changed.relabelings == 10_000
    apart = compare_sources(a, REFUSALS, Settings(alpha=5e-4, power=False))
    assert (apart.relabelings, apart.p) == (10_000, 1 / 10_000)


def test_added_relabelings_are_other_ones_and_as_extreme_as_the_first(monkeypatch):
    monkeypatch.setattr(same, "CHUNK", 300)
    prompts, _ = common_prompts(make_source("a", 1), make_source("b", 2, end=0.55))
    settings = Settings(draws=99, alpha=0.004)
    outcome = evaluate(prompts, settings)
    columns = resolve(prompts, outcome, settings)
    assert (
        columns.shape == (1250, outcome.columns.shape[1])
        and (columns[:100] == outcome.columns).all()
    )
    assert len({row.tobytes() for row in columns.round(9)}) > 1200
    assert columns[1:].mean(axis=0)[:5] == pytest.approx(np.zeros(5), abs=0.15)
    assert columns[1:].std(axis=0)[:5] == pytest.approx(np.ones(5), abs=0.15)


def test_a_metric_draws_all_relabelings_at_once():
    settings = Settings(("trm:distance=rouge",), draws=99, alpha=0.02, power=False)
    few = [
        Source(name, dict(list(found.answers.items())[:4]))
        for name, found in (("a", make_source("a", 1)), ("r", REFUSALS))
    ]
    result = compare_sources(*few, settings)
    assert (result.relabelings, result.p) == (250, 1 / 250)


def test_a_level_below_the_smallest_p_value_is_a_remark():
    a, b = (Source(name, {"1": [f"{name} {k}" for k in range(3)]}) for name in "ab")
    assert (
        "nothing can be shown at level 0.05: the smallest possible p is 0.1"
        in compare_sources(a, b, FAST).notes
    )
    assert not any(
        "nothing can be shown" in note
        for note in compare_sources(a, b, replace(FAST, alpha=0.1)).notes
    )


def shuffled(texts, seed):
    return [texts[k] for k in np.random.default_rng(seed).permutation(len(texts))]


@pytest.mark.parametrize(
    "kinds", [("file", "file"), ("file", "source"), ("source", "source")]
)
def test_copies_are_named_and_are_no_evidence(kinds):
    answers = make_source("a", 1).answers
    b = Source(
        "b",
        {name: shuffled(texts, 1) for name, texts in answers.items()},
        kind=kinds[1],
    )
    result = compare_sources(
        Source("a", answers, kind=kinds[0]), b, Settings(draws=99, margin=1.0)
    )
    reason = (
        f"both {'files' if kinds == ('file', 'file') else 'sources'} hold the same "
        "answers"
    )
    assert result.verdict == "not shown" and result.power is None
    assert (
        f"{reason}: a copy, one seed or one cache for both makes the test invalid"
        in result.notes
    )
    for effect in (result.effect, result.accuracy):
        assert (effect.interval, effect.upper, effect.reason) == (None, None, reason)


def test_copies_of_more_answers_than_are_compared_are_named():
    answers = {"1": [f"word {k}" for k in range(1200)], "2": ["x", "y"]}
    result = compare_sources(
        Source("a", answers),
        Source("b", answers),
        replace(FAST, kernels=("exact",), draws=9),
    )
    assert result.effect.reason == "both sources hold the same answers"


def test_answers_that_are_mostly_shared_are_no_evidence():
    answers = make_source("a", 1).answers
    b = {
        name: texts if k else ["another", *texts[1:]]
        for k, (name, texts) in enumerate(answers.items())
    }
    result = compare_sources(
        Source("a", answers), Source("b", b), Settings(draws=99, margin=1.0)
    )
    assert (
        result.effect.reason
        == "answers are more alike between the sources than within them"
    )
    assert (
        result.effect.interval is None
        and result.verdict == "not shown"
        and result.power is None
    )


def test_equal_answers_at_temperature_0_are_named_and_the_test_stays_valid():
    a = Source("a", {str(k): [f"x{k}"] * 3 for k in range(8)}, kind="file")
    result = compare_sources(a, replace(a, label="b"), Settings(draws=99, margin=1.0))
    assert result.notes[-2:] == [
        "each source repeats one answer per prompt, as at temperature 0: "
        "they differ in 0 of 8 prompts",
        "both files hold the same answers",
    ]
    assert result.power is not None and result.verdict == "not shown"


def test_prompts_without_differences_have_the_distance_0_and_single_answers_none():
    same_answers = {"1": ["x", "x"], "2": ["x", "x"]}
    a = Source("a", {**same_answers, "3": ["u", "v"]})
    b = Source("b", {**same_answers, "3": ["w", "w"]})
    alone = compare_sources(
        Source("a", {"3": ["u", "v"]}), Source("b", {"3": ["w", "w"]}), FAST
    ).effect
    assert alone.value and compare_sources(a, b, FAST).effect.value == pytest.approx(
        alone.value / 3
    )
    single = compare_sources(
        Source("a", {"1": ["x", "y"], "2": ["z", "u"]}),
        Source("b", {"1": ["v"], "2": ["w"]}),
        FAST,
    )
    assert single.effect == Effect(
        None, reason="it needs two answers of each source to a prompt"
    )
