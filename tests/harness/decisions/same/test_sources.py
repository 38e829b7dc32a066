"""Prompts that two sources have in common."""

from __future__ import annotations

import numpy as np
import pytest

from harness.decisions.same.sources import MOST_SAMPLES, Source, common_prompts
from harness.errors import InputError


def test_prompts_that_match_in_part_empty_answers_and_refusals_are_counted():
    a = Source("a", {"1": ["x", ""], "2": ["x", "y"], "3": ["z", "z"]})
    b = Source("b", {"1": ["I'm sorry", "x"], "2": ["x", "y"], "4": ["z", "z"]})
    prompts, notes = common_prompts(a, b)
    assert [prompt.id for prompt in prompts] == ["1", "2"]
    text = "\n".join(notes)
    for part in (
        "a: 1 prompt is left out",
        "b: 1 prompt is left out",
        "a: 1 empty answer is kept",
        "b: 1 refusal is kept",
    ):
        assert part in text


def test_no_common_prompt_and_different_prompts_under_one_id_are_refused():
    with pytest.raises(InputError, match="no prompt in common"):
        common_prompts(Source("a", {"1": ["x"]}), Source("b", {"2": ["x"]}))
    with pytest.raises(InputError, match="'1' has different prompts: 'Hi' and 'Ho'"):
        common_prompts(
            Source("a", {"1": ["x"]}, {"1": "Hi"}),
            Source("b", {"1": ["x"]}, {"1": "Ho"}),
        )


def test_equal_prompts_and_a_prompt_that_one_source_alone_has_are_accepted():
    for others in ({"1": "Hi"}, {}):
        for texts in ({"1": "Hi"}, {}):
            prompts, notes = common_prompts(
                Source("a", {"1": ["x", "y"]}, texts),
                Source("b", {"1": ["z", "w"]}, others),
            )
            assert ([prompt.id for prompt in prompts], notes) == (["1"], [])


def test_many_answers_of_a_prompt_are_bounded():
    texts = [f"word {k % 700}" for k in range(100_000)]
    prompts, notes = common_prompts(
        Source("a", {"1": texts}), Source("b", {"1": texts[:10]})
    )
    assert (len(prompts[0].a), len(prompts[0].b)) == (500, 10)
    assert notes == [
        "a: 1 prompt has more than 500 answers, of which as many are drawn"
    ]


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_answers_of_two_sources_are_drawn_independently(seed):
    """Lists that were written side by side, of one seed or one cache,
    are not compared position by position.
    """
    texts = [str(k) for k in range(600)]
    (prompt,), notes = common_prompts(
        Source("a", {"1": texts}), Source("b", {"1": texts}), seed
    )
    assert len(set(prompt.a)) == len(set(prompt.b)) == MOST_SAMPLES and len(notes) == 2
    shared = len(set(prompt.a) & set(prompt.b))
    expected = 500 * 500 / 600
    deviation = np.sqrt(500 * 500 / 600 * (100 / 600) * (100 / 599))
    assert abs(shared - expected) < 5 * deviation
    assert sum(x == y for x, y in zip(prompt.a, prompt.b)) < 10
