"""Variations of inputs: of the form that a target reads, different from the pool,
and reproducible.
"""

from __future__ import annotations

import json
import random

from tools.fuzz.variation import LONGEST, batch_of_sets, crossed, halves, vary

POOL = [
    b'["a dog", {"b": [1, 2, 3], "c": null}]',
    b'[{"caption": "two cats"}, 2.5]',
    b"\x00 no JSON",
]


def test_variations_are_reproducible_and_seldom_the_input_itself():
    drawn = [vary(POOL, random.Random(seed)) for seed in range(200)]
    assert drawn == [vary(POOL, random.Random(seed)) for seed in range(200)]
    assert len(set(drawn) - set(POOL)) > 150
    assert all(len(data) <= LONGEST for data in drawn)


def test_crossed_values_are_json_with_parts_of_both():
    first = {"a": ["x", "y"], "b": 1}
    second = ["caption", [2]]
    drawn = [
        json.loads(crossed(first, second, random.Random(seed))) for seed in range(100)
    ]
    assert any("caption" in json.dumps(value) for value in drawn)
    assert any(
        isinstance(value, dict) and value.keys() == {"a", "b"} and value != first
        for value in drawn
    )
    assert first == {"a": ["x", "y"], "b": 1}


def test_batches_have_the_form_of_the_target_and_split_into_halves():
    sets = [[["a dog", "dogs"], ["the dog"]], [["a cat"], ["cats", "a\0b"]]]
    pool = [
        json.dumps(["rouge", True, sets]).encode(),
        json.dumps(["bleu", False, sets[:1]]).encode(),
    ]
    sizes = set()
    for seed in range(100):
        data = batch_of_sets(pool, random.Random(seed))
        name, tested, drawn = json.loads(data)
        assert name in ("rouge", "bleu")
        assert isinstance(tested, bool)
        assert all(candidates and references for candidates, references in drawn)
        sizes.add(len(drawn))
        parts = [json.loads(part) for part in halves(data)]
        assert [item for part in parts for item in part[2]] == (
            drawn if len(drawn) > 1 else []
        )
        assert all(part[:2] == [name, tested] for part in parts)
    assert {1, 64} <= sizes
