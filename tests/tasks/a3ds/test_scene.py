"""Scenes against the authors' sandbox ids, labels and captions."""

from __future__ import annotations

import gzip
import hashlib
import json
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness_tasks.a3ds import grammar, scene
from harness_tasks.a3ds.scene import indices
from harness_tasks.a3ds.testsets import SETS, pairs, set_names


@pytest.fixture(scope="module")
def sandbox(golden):
    with gzip.open(golden / "a3ds/sandbox.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def digest(captions):
    """Return the first 16 hexadecimal digits of the SHA-256 of the captions,
    one a line.
    """
    return hashlib.sha256("\n".join(captions).encode()).hexdigest()[:16]


def test_factors_and_phrases_of_the_sandbox(sandbox, golden):
    table = json.loads((golden / "a3ds/factors.json").read_text())["values"]
    for row in sandbox:
        assert scene.factors(row["id"]) == row["factors"]
        assert scene.phrases(row["id"]) == {
            name: table[name][i]["phrase"] for name, i in row["factors"].items()
        }
        assert scene.scene_id(row["factors"]) == row["id"]


def test_captions_of_the_sandbox_are_equal_in_order(sandbox):
    ids = [row["id"] for row in sandbox]
    for row, long, short in zip(
        sandbox, grammar.caption_sets(ids), grammar.caption_sets(ids, "short")
    ):
        assert long == grammar.captions(row["id"]) and digest(long) == row["long"]
        assert (
            short == grammar.captions(row["id"], kind="short")
            and digest(short) == row["short"]
        )


def test_golden_captions_in_generation_order(golden):
    for row in json.loads(
        (golden / "a3ds_pragmatic/captions_by_image.json").read_text()
    ):
        assert list(scene.factors(row["image_id"]).values()) == row["indices"]
        assert grammar.captions(row["image_id"]) == row["exhaustive"]
        assert grammar.captions(row["image_id"], "short") == row["short"]


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


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("outside", ["free", "different"])
def test_pairs_share_the_features_of_their_set(name, outside):
    games = pairs(name, 400, seed=3, outside=outside)
    assert games.shape == (400, 2)
    same = indices(games[:, 0]) == indices(games[:, 1])
    assert not same.all(1).any()  # never target = distractor
    shared = SETS[name]
    if isinstance(shared, tuple):
        assert same[:, list(shared)].all()
        count = len(shared)
    else:
        assert (same.sum(1) >= shared).all()
        count = shared
    if outside == "different":
        assert (same.sum(1) == count).all()
    else:
        assert same.sum() > count * 400


@given(st.sampled_from(list(SETS)), st.integers(0, 5), st.integers(1, 3000))
def test_pairs_depend_on_the_seed_and_are_nested(name, seed, count):
    assert (
        pairs(name, count, seed=seed) == pairs(name, count + 7, seed=seed)[:count]
    ).all()


def test_six_four_and_three_sets():
    assert [len(set_names(group)) for group in ("one", "two", "three")] == [6, 4, 3]
    assert set_names(["one/shape", "one/shape"]) == ["one/shape"]
    assert not np.array_equal(
        pairs("one/shape", 9, seed=1), pairs("one/shape", 9, seed=2)
    )


def test_unknown_names_and_options():
    with pytest.raises(InputError, match="did you mean 'one/shape'") as caught:
        set_names("one/shap")
    assert caught.value.parameter == "sets" and "did you mean 'one/shape'" in str(
        caught.value
    )
    with pytest.raises(InputError, match="unknown A3DS test set 'four'"):
        pairs("four")
    with pytest.raises(InputError, match="free or different"):
        pairs("one/shape", outside="same")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="count is 0"):
        pairs("one/shape", 0)
