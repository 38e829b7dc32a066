"""The three steps of O2NA's decoding."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError, InputError
from harness_models.o2na.layers import VIS, VideoSizes
from harness_models.o2na.model import O2na
from harness_models.o2na.three_steps import (
    ObjectRefiner,
    ThreeSteps,
    least_length,
    place_objects,
    read_objects,
)

SIZES = VideoSizes(
    features={"m": 6, "i": 5},
    width=32,
    layers=1,
    heads=4,
    inner=64,
    vocabulary=17,
    max_len=7,
)
NAMES = ("ball", "block", "pill")


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    built = O2na(SIZES, 3).eval().requires_grad_(False)
    built.object_predictor.words.copy_(torch.tensor([10, 11, 12]))
    return built


def encoded(model, rows):
    random = torch.Generator().manual_seed(0)
    return model.encode(
        [
            torch.randn(rows, 3, 6, generator=random),
            torch.randn(rows, 2, 5, generator=random),
        ]
    )


def test_requested_objects_are_placed_and_others_are_limited_to_half_of_the_words(
    model,
):
    requests = [None, None, {0: 4}, {0: None, 1: 0}]
    placed = place_objects(
        model,
        encoded(model, 4),
        torch.tensor([3, 5, 5, 5]),
        ThreeSteps(threshold=0.0),
        requests,
        None,
    )
    assert (placed.tokens != 0).sum(1).tolist() == [1, 2, 1, 2]
    assert placed.requested.sum(1).tolist() == [0, 0, 1, 2]
    assert placed.tokens[2, 4] == 10
    assert placed.tokens[3, 0] == 11
    assert bool((placed.probabilities <= 1).all())


def test_the_most_probable_object_is_always_selected(model):
    placed = place_objects(
        model,
        encoded(model, 2),
        torch.tensor([4, 4]),
        ThreeSteps(threshold=1.0),
        [None] * 2,
        None,
    )
    assert (placed.tokens != 0).sum(1).tolist() == [1, 1]


@pytest.mark.parametrize("keep", [True, False])
def test_refinement_keeps_requested_objects_and_writes_no_special_words(model, keep):
    how = ThreeSteps(keep_objects=keep, threshold=0.0)
    lengths = torch.tensor([6, 4])
    rows = encoded(model, 2)
    placed = place_objects(model, rows, lengths, how, [{2: 3}, None], None)
    slots = ObjectRefiner(model, rows, how, None).write(lengths, placed)
    assert slots.tokens[0, 3] == 12
    assert (slots.tokens != 0).sum(1).tolist() == [6, 4]
    assert int(slots.tokens[0].min()) > VIS
    if keep:
        fixed = placed.tokens != 0
        assert torch.equal(slots.tokens[fixed], placed.tokens[fixed])


@given(
    st.dictionaries(st.integers(0, 9), st.none() | st.integers(0, 8)),
    st.integers(1, 5),
    st.integers(6, 9),
)
def test_captions_reach_their_requested_slots(objects, shortest, longest):
    length = least_length(objects, shortest, longest)
    assert shortest <= length <= longest
    slots = [slot for slot in objects.values() if slot is not None and slot < longest]
    assert all(slot < length for slot in slots)


def test_requests_as_lists_and_mappings():
    assert read_objects(["pill", "ball"], NAMES, 9, "here") == {2: None, 0: None}
    assert read_objects({"pill": 3, "ball": None}, NAMES, 9, "here") == {2: 2, 0: None}
    assert read_objects([], NAMES, 9, "here") == {}


@pytest.mark.parametrize(
    "value, message",
    [
        (
            "pill",
            "objects is a list of words, or a mapping of words to places; found 'pill'",
        ),
        (["pil"], "here: 'pil' is no object word of this model; did you mean 'pill'"),
        ({"pill": True}, "the place of 'pill' is a number from 1 to 2; found True"),
        ({"pill": 3}, "the place of 'pill' is a number from 1 to 2; found 3"),
        ({"pill": 1, "ball": 1}, "two objects have the same place"),
        (list(NAMES), "3 objects for captions of at most 2 words"),
    ],
)
def test_invalid_requests_are_refused(value, message):
    with pytest.raises(InputError, match=message):
        read_objects(value, NAMES, 2, "here")


@pytest.mark.parametrize(
    "name, value",
    [("iterations", -1), ("threshold", 2), ("lengths", 0), ("shortest", 0)],
)
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(HarnessError, match=f"options.{name}"):
        ThreeSteps(**{name: value})
