"""Rewards in the signatures of TRL (1.16), verl (0.9) and SCST code."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness
from harness.errors import InputError

PATH = Path(__file__).parents[2] / "examples" / "grpo" / "signatures.py"
SPEC = importlib.util.spec_from_file_location("grpo_signatures", PATH)
assert SPEC is not None and SPEC.loader is not None
signatures = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(signatures)
REFERENCES = {"1": ["a dog runs", "the dog"], "2": ["a cat sat", "one cat"]}


def trl_call(function: Any, completions: list[Any], ids: list[Any]) -> list[float]:
    """Call a reward function with the keywords that ``GRPOTrainer._calculate_rewards``
    passes.
    """
    return function(
        prompts=["p"] * len(ids),
        completions=completions,
        completion_ids=[[1]] * len(ids),
        trainer_state=None,
        log_extra=lambda *_: None,
        log_metric=lambda *_: None,
        id=ids,
    )


def test_trl_gets_scores_of_texts_and_of_messages() -> None:
    function = harness.reward("ciderd", REFERENCES).for_trl(1)
    assert function.__name__ == "reward_ciderd"
    expected = harness.reward("ciderd", REFERENCES)(
        ["1", "2"], ["a dog runs", "a cat"]
    ).tolist()
    assert trl_call(function, ["a dog runs", "a cat"], [1, 2]) == expected
    messages = [
        [{"role": "assistant", "content": text}] for text in ("a dog runs", "a cat")
    ]
    assert trl_call(function, messages, ["1", "2"]) == expected


def test_trl_gets_credits_of_groups_in_the_order_of_the_completions() -> None:
    reward = harness.reward("trm:distance=cider", REFERENCES)
    credits = reward.group(["1", "2"], [["a dog", "dogs", "a"], ["a cat", "cats", "b"]])
    mixed = trl_call(
        reward.for_trl(3),
        ["a dog", "a cat", "cats", "dogs", "a", "b"],
        ["1", "2", "2", "1", "1", "2"],
    )
    np.testing.assert_array_equal(
        mixed,
        [
            credits[0, 0],
            credits[1, 0],
            credits[1, 1],
            credits[0, 1],
            credits[0, 2],
            credits[1, 2],
        ],
    )
    twice = trl_call(
        reward.for_trl(3), ["a dog", "dogs", "a", "a dog", "dogs", "a"], ["1"] * 6
    )
    np.testing.assert_array_equal(twice, [*credits[0], *credits[0]])


def test_mistakes_of_trl_are_one_line() -> None:
    function = harness.reward("trm:distance=cider", REFERENCES).for_trl(2)
    with pytest.raises(
        InputError,
        match="incomplete group: 3 completions of '1', expected a multiple of 2",
    ):
        trl_call(function, ["a"] * 5, ["1", "1", "1", "2", "2"])
    with pytest.raises(InputError, match="completions: item 0: 7; expected a text"):
        trl_call(function, [7, 7], ["1", "1"])
    with pytest.raises(InputError, match="no column 'name'"):
        trl_call(harness.reward("ciderd", REFERENCES).for_trl(1, "name"), ["a"], ["1"])


def test_verl_gets_the_score_of_a_sample_and_no_credits() -> None:
    reward = harness.reward("ciderd", REFERENCES)
    found = signatures.verl_score(reward)(
        data_source="coco",
        solution_str="a dog runs",
        ground_truth="",
        extra_info={"id": 1},
    )
    assert found == reward(["1"], ["a dog runs"])[0]
    of_sets = signatures.verl_score(harness.reward("trm:distance=cider", REFERENCES))
    with pytest.raises(
        InputError,
        match="trm:distance=cider has no value for 1 caption without one of them",
    ):
        of_sets("coco", "a dog runs", "", {"id": "1"})


def test_self_critical_rewards_have_the_shape_of_the_sampled_tokens() -> None:
    words = ["<end>", "a", "dog", "cat", "runs"]
    reward = harness.reward(
        "ciderd", REFERENCES, decode=words, end=0, baseline="greedy"
    )
    greedy = np.array([[1, 2, 0], [1, 3, 0]])
    sampled = np.array([[1, 2, 4], [2, 0, 0], [1, 3, 0], [3, 0, 0]])
    out = signatures.self_critical_reward(reward)(greedy, ["1", "2"], sampled)
    plain = harness.reward("ciderd", REFERENCES)
    expected = (
        plain.group(["1", "2"], [["a dog runs", "dog"], ["a cat", "cat"]])
        - plain(["1", "2"], ["a dog", "a cat"])[:, None]
    )
    assert out.shape == (4, 3)
    np.testing.assert_allclose(
        out, np.repeat(expected.reshape(-1, 1), 3, axis=1), atol=1e-6
    )
