"""Scenes against the authors' sandbox ids, labels and captions."""

from __future__ import annotations

import gzip
import json
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness_tasks.a3ds import grammar, scene


@pytest.fixture(scope="module")
def sandbox(golden):
    with gzip.open(golden / "a3ds/sandbox.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def test_factors_and_phrases_of_the_sandbox(sandbox, golden):
    table = json.loads((golden / "a3ds/factors.json").read_text())["values"]
    for row in sandbox:
        assert scene.factors(row["id"]) == row["factors"]
        assert scene.phrases(row["id"]) == {
            name: table[name][i]["phrase"] for name, i in row["factors"].items()
        }
        assert scene.scene_id(row["factors"]) == row["id"]


def test_labels_are_bit_equal(golden):
    table = json.loads((golden / "a3ds/factors.json").read_text())["values"]
    for name, values, phrases in zip(scene.FACTORS, scene.labels(), scene.PHRASES):
        assert np.array_equal(values, [v["value"] for v in table[name]])
        assert list(phrases) == [v["phrase"] for v in table[name]]


@given(st.integers(0, scene.N_SCENES - 1))
def test_ids_and_factors_are_inverse(number):
    values = scene.factors(number)
    assert scene.scene_id(values) == scene.scene_id(list(values.values())) == number
    assert scene.indices([number]).tolist() == [list(values.values())]
    assert (len(grammar.captions(number)), len(grammar.captions(number, "short"))) == (
        20,
        27,
    )


def test_all_scenes_are_enumerated_lazily():
    assert next(grammar.caption_sets()) == grammar.captions(0)
    assert len(list(islice(grammar.caption_sets(kind="short"), 100))) == 100


@pytest.mark.parametrize("bad", [-1, 480_000, 1.5, "3", True, None])
def test_invalid_ids(bad):
    for call in (scene.factors, grammar.captions, lambda i: scene.indices([0, i])):
        if bad is True and call is not scene.factors:
            continue  # a list [0, True] is a numpy array of integers
        with pytest.raises(InputError, match="from 0 to 479999"):
            call(bad)


def test_unknown_kinds_and_factors():
    with pytest.raises(InputError, match="exhaustive or short"):
        grammar.captions(0, "long")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="did you mean 'shape'"):
        scene.scene_id({"shap": 1})
    with pytest.raises(InputError, match="six numbers"):
        scene.scene_id([0, 0, 0, 8, 0, 0])
