"""Data classes: defaults, immutability, views of a batch."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from harness.contracts import (
    Batch,
    CaptionSet,
    Decoding,
    Example,
    Generation,
    PositionedBatch,
    TaskView,
)

SETS = (CaptionSet("a", ("x", "y"), ("r",)), CaptionSet("b", ("z", "z"), ("s",)))
BATCH = Batch(SETS, np.array([[0, 1, 2], [3, 3, 4]]), 2, 1)


def test_a_batch_splits_candidates_and_references():
    assert len(BATCH) == 2
    assert BATCH.ids == ("a", "b")
    assert BATCH.texts == [["x", "y", "r"], ["z", "z", "s"]]
    assert BATCH.candidate_ids.tolist() == [[0, 1], [3, 3]]
    assert BATCH.reference_ids.tolist() == [[2], [4]]


def test_batches_are_compared_by_identity():
    assert Batch(SETS, BATCH.text_ids, 2, 1) != BATCH
    assert {BATCH: 1}[BATCH] == 1


def test_a_positioned_batch_unpacks_into_positions_and_batch():
    item = PositionedBatch(np.array([3, 5]), BATCH)
    positions, batch = item
    assert positions is item.positions
    assert batch is item.batch is BATCH


@pytest.mark.parametrize(
    "instance",
    [
        SETS[0],
        Example("a", ("r",)),
        Decoding(),
        Generation(("x",)),
        TaskView([], Decoding()),
    ],
)
def test_values_are_immutable(instance):
    name = next(iter(instance.__dataclass_fields__))
    with pytest.raises(FrozenInstanceError):
        setattr(instance, name, "other")


def test_decodings_are_hashable_although_options_are_not():
    one = Decoding(options={"alpha": [1]})
    other = Decoding(options={"alpha": [2]})
    assert hash(one) == hash(other)
    assert one != other
    assert Decoding(temperature=0.5) == Decoding(temperature=0.5)


def test_metadata_of_examples_is_not_shared():
    assert Example("a", ("r",)).meta is not Example("b", ("r",)).meta
