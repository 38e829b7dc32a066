"""Joint distances and kernels of events."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet, Event, EventSet
from harness.errors import InputError
from harness.registry import current
from harness.run.features import FeatureCache
from harness_metrics.events import joint


def example(*sets):
    """Return features, the batch, and the events of an example; events are (text,
    place).
    """
    texts = [EventSet(tuple(Event(*item) for item in own)).to_text() for own in sets]
    features = FeatureCache([texts[1:]])
    batch = features.batch([CaptionSet("v", (texts[0],), tuple(texts[1:]))])
    return features, batch


def read(*sets):
    features, batch = example(*sets)
    (events,) = joint.read_events(batch, features, "trm-events")
    return features, events


DOG = ("a dog runs", (0.0, 10.0))
LATE_DOG = ("a dog runs", (5.0, 15.0))
CAT = ("one cat sleeps", (0.0, 10.0))


def test_a_distance_is_one_less_overlap_times_closeness():
    features, events = read([DOG], [LATE_DOG], [CAT])
    rouge = current().create("distances", "rouge", {})
    distances, sizes = joint.joint_distances(events, rouge, None, features)
    assert sizes.tolist() == [1, 1, 1]
    assert distances == pytest.approx(
        np.array([[0, 2 / 3, 1], [2 / 3, 0, 1], [1, 1, 0]])
    )


def test_an_empty_set_resembles_empty_sets_alone():
    features, events = read([], [DOG], [], [DOG])
    rouge = current().create("distances", "rouge", {})
    distances, sizes = joint.joint_distances(events, rouge, None, features)
    assert sizes.tolist() == [1, 1, 1, 1]
    expected = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    assert distances.tolist() == expected
    bow = current().create("embeddings", "bow", {})
    kernel = joint.set_kernel(events, bow, "cosine", None, features)
    assert kernel == pytest.approx(1 - np.array(expected))


@pytest.mark.parametrize("word_kernel", ["cosine", "gaussian"])
def test_the_kernel_of_sets_is_the_cosine_of_their_mean_embeddings(word_kernel):
    features, events = read([DOG, CAT], [DOG, DOG, CAT, CAT], [LATE_DOG], [CAT])
    bow = current().create("embeddings", "bow", {})
    kernel = joint.set_kernel(events, bow, word_kernel, None, features)
    assert np.diagonal(kernel) == pytest.approx(np.ones(4))
    # a set given twice has the same mean embedding
    assert kernel[0, 1] == pytest.approx(1)
    assert kernel[2, 3] == pytest.approx(kernel[3, 2])
    if word_kernel == "cosine":
        assert kernel[2, 3] == pytest.approx(0)
        assert kernel[0, 2] == pytest.approx((1 / 3) / 2 / np.sqrt(1 / 2))


def test_one_event_alone_has_a_kernel():
    features, events = read([DOG], [])
    bow = current().create("embeddings", "bow", {})
    for word_kernel in ("cosine", "gaussian"):
        kernel = joint.set_kernel(events, bow, word_kernel, None, features)
        assert kernel == pytest.approx(np.eye(2))


def test_places_of_two_kinds_and_too_many_events_are_refused(monkeypatch):
    features, batch = example([DOG], [("a box", (0.0, 0.0, 1.0, 1.0))])
    with pytest.raises(InputError, match="places of 2 and 4 numbers"):
        joint.read_events(batch, features, "trm-events")
    monkeypatch.setattr(joint, "MAX_EVENTS", 2)
    features, batch = example([DOG], [DOG, CAT])
    with pytest.raises(InputError, match="3 events in 2 sets; at most 2"):
        joint.read_events(batch, features, "trm-events")


def test_arrays_of_examples_are_computed_once_until_texts_are_forgotten():
    _, batch = example([DOG], [CAT])
    cached = joint.PerExample()
    calls = []

    def compute(part):
        calls.append(part)
        return [np.arange(2.0)]

    for _ in range(2):
        assert cached.stack(batch, compute).tolist() == [[0.0, 1.0]]
    assert len(calls) == 1
    cached.forget_texts()
    cached.stack(batch, compute)
    assert len(calls) == 2
