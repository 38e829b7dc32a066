"""Comparison of two sources of answers: verdicts, effects, words, remarks, peers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.same import package_values
from harness.analysis.same import (
    Prompt,
    Settings,
    Source,
    common_prompts,
    compare_all,
    compare_sources,
    power_against,
    replace_answers,
)
from harness.errors import InputError

WORDS = ["dog", "cat", "child", "man", "bird", "horse"]
FAST = Settings(draws=99, power=False)


def source(label, seed, prompts=15, answers=6, end=1.0, verb="runs sits plays sleeps"):
    rng = np.random.default_rng(seed)
    return Source(label, {
        f"p{k}": [f"a {rng.choice(WORDS)} {rng.choice(verb.split())}{'.' if rng.random() < end else ''}" for _ in range(answers)]
        for k in range(prompts)
    })  # fmt: skip


def test_a_changed_source_is_different_and_the_words_say_why():
    result = compare_sources(source("a", 1), source("b", 2, end=0.6), FAST)
    assert result.verdict == "different" and result.p == 0.01
    names = [feature.name for feature in result.features if feature.p <= 0.05]
    assert "ends with a full stop" in names and not {"'dog'", "'cat'"} & set(names)
    feature = next(feature for feature in result.features if feature.name == "ends with a full stop")
    assert feature.a == 1.0 and feature.b < 0.8
    assert result.accuracy.value > 0.55 and result.power is None


def test_equal_sources_are_not_shown_to_differ_and_the_power_is_told():
    result = compare_sources(source("a", 1), source("b", 2), Settings(draws=99))
    assert result.verdict == "not shown" and result.p > 0.05
    assert result.power is not None and 0 <= result.power <= 1
    assert result.effect.interval is not None and result.effect.interval[0] < 0 < result.effect.interval[1]


def test_a_margin_makes_sources_equivalent():
    a, b = source("a", 1, answers=20), source("b", 2, answers=20)
    assert compare_sources(a, b, Settings(draws=99, power=False, margin=0.2)).verdict == "equivalent within margin"
    assert compare_sources(a, b, Settings(draws=99, power=False, margin=1e-6)).verdict == "not shown"


def test_several_sources_are_adjusted_by_holm():
    results = compare_all([source("a", 1), source("b", 2), source("c", 3, verb="barks meows")], FAST)
    assert [result.labels for result in results] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [result.verdict for result in results] == ["not shown", "different", "different"]
    assert results[1].p == pytest.approx(0.03)


def test_prompts_that_match_in_part_empty_answers_and_refusals_are_counted():
    a = Source("a", {"1": ["x", ""], "2": ["x", "y"], "3": ["z", "z"]})
    b = Source("b", {"1": ["I'm sorry", "x"], "2": ["x", "y"], "4": ["z", "z"]})
    prompts, notes = common_prompts(a, b)
    assert [prompt.id for prompt in prompts] == ["1", "2"]
    text = "\n".join(notes)
    for part in ("a: 1 prompt is left out", "b: 1 prompt is left out", "a: 1 empty answer is kept", "b: 1 refusal is kept"):
        assert part in text


def test_no_common_prompt_and_different_prompts_under_one_id_are_refused():
    with pytest.raises(InputError, match="no prompt in common"):
        common_prompts(Source("a", {"1": ["x"]}), Source("b", {"2": ["x"]}))
    with pytest.raises(InputError, match="'1' has different prompts: 'Hi' and 'Ho'"):
        common_prompts(Source("a", {"1": ["x"]}, {"1": "Hi"}), Source("b", {"1": ["x"]}, {"1": "Ho"}))


def test_equal_prompts_and_a_prompt_that_one_source_alone_has_are_accepted():
    for others in ({"1": "Hi"}, {}):
        for texts in ({"1": "Hi"}, {}):
            prompts, notes = common_prompts(Source("a", {"1": ["x", "y"]}, texts), Source("b", {"1": ["z", "w"]}, others))
            assert ([prompt.id for prompt in prompts], notes) == (["1"], [])


def test_deterministic_sources_have_one_line():
    a = Source("a", {str(k): ["x"] * 3 for k in range(4)})
    b = Source("b", {str(k): ["y" if k == 2 else "x"] * 3 for k in range(4)})
    result = compare_sources(a, b, FAST)
    assert any("they differ in 1 of 4 prompts" in note for note in result.notes)
    assert result.p == pytest.approx(2 / 20, abs=0.05)


def test_one_answer_per_prompt_has_one_line_and_unequal_numbers_are_accepted():
    single = compare_sources(Source("a", {"1": ["x"], "2": ["y"]}), Source("b", {"1": ["z"], "2": ["y"]}), FAST)
    assert any("one answer of each source per prompt" in note for note in single.notes) and single.verdict == "not shown"
    a, b = source("a", 1), source("b", 2)
    uneven = {name: texts[: 1 + k % 6] for k, (name, texts) in enumerate(b.answers.items())}
    assert 0 < compare_sources(a, Source("b", uneven), FAST).p <= 1


def test_many_answers_of_a_prompt_are_bounded():
    texts = [f"word {k % 700}" for k in range(100_000)]
    prompts, notes = common_prompts(Source("a", {"1": texts}), Source("b", {"1": texts[:10]}))
    assert (len(prompts[0].a), len(prompts[0].b)) == (500, 10)
    assert notes == ["a: 1 prompt has more than 500 answers, of which as many are drawn"]


def test_power_grows_with_the_change():
    prompts, _ = common_prompts(source("a", 1), source("b", 2))
    settings = Settings(draws=99)
    none = power_against(prompts, lambda answers, rng: [list(texts) for texts in answers], settings, runs=40)
    foreign = power_against(prompts, lambda answers, rng: [["another thing"] * len(texts) for texts in answers], settings, runs=10)
    assert none <= 0.2 and foreign == 1.0
    changed = replace_answers(1.0)([["a"], ["b"]], np.random.default_rng(0))
    assert {text for texts in changed for text in texts} <= {"a", "b"}


def test_power_is_that_of_a_hundred_checks_of_the_first_hundred_prompts():
    prompts, _ = common_prompts(source("a", 1, prompts=103, answers=2), source("b", 2, prompts=103, answers=3))
    checked = []

    def change(answers, rng):
        checked.append([len(texts) for texts in answers])
        return answers

    power_against(prompts[:2], change, Settings(kernels=("exact",)))
    assert checked == [[3, 3]] * 100
    power_against(prompts, change, Settings(kernels=("exact",)), runs=1)
    assert checked[100:] == [[3] * 100]


def test_the_peer_of_the_benchmark_has_the_statistic_of_its_package(golden):
    for case in json.loads((golden / "same" / "statistics.json").read_text(encoding="utf-8")):
        prompts = [Prompt(str(k), item["a"], item["b"]) for k, item in enumerate(case["prompts"])]
        labels = np.concatenate([[1.0] * len(prompt.a) + [0.0] * len(prompt.b) for prompt in prompts])
        assert package_values(prompts, "characters", labels[None])[0] == pytest.approx(case["mmd_hamming"], abs=1e-9)


def test_sources_that_share_their_random_numbers_are_noticed():
    a = source("a", 1)
    result = compare_sources(a, Source("b", a.answers), FAST)
    assert result.verdict == "not shown" and any("one seed or one cache" in note for note in result.notes)
