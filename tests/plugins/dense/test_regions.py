"""Protocol ``densecap`` by hand."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.contracts import CorpusMetric, Event, EventSet, Objects
from harness.errors import InputError
from harness_metrics.dense.metric import Dense
from harness_metrics.dense.regions import (
    RECALLS,
    assign_regions,
    average_precision,
    merge_regions,
)


def test_the_recalls_are_a_hundred_points():
    assert len(RECALLS) == 100
    assert RECALLS[-1] == pytest.approx(0.99)


def test_regions_that_overlap_are_merged_around_the_one_with_most_neighbours():
    places = np.array(
        [[0.0, 0, 99, 99], [10, 0, 109, 99], [300, 0, 310, 10], [20, 0, 119, 99]]
    )
    assert [group.tolist() for group in merge_regions(places)] == [[0, 1, 3], [2]]


def test_a_prediction_that_touches_nothing_takes_the_last_region():
    overlaps = np.array([[0.0, 0.0], [0.2, 0.9], [0.6, 0.1]])
    chosen, is_first = assign_regions(overlaps)
    assert chosen.tolist() == [1, 1, 0]
    assert is_first.tolist() == [True, False, True]


def test_average_precision_by_hand():
    # precision 1 below a recall of 1/2, which the sum of fifty hundredths exceeds by a
    # rounding, then 2/3
    hits = np.array([True, False, True])
    expected = (50 * 1 + 50 * 2 / 3) / 100
    assert average_precision(hits, 2) == pytest.approx(expected)
    assert average_precision(np.array([False]), 3) == 0.0


def image(*events):
    return [EventSet(tuple(events)).to_text()]


def test_equal_regions_with_equal_captions_have_a_precision_of_one():
    region = (0.0, 0.0, 9.0, 9.0)
    references = {"i": image(Event("a red dog", region))}
    candidates = {"i": image(Event("a red dog", region, 0.5))}
    (result,) = harness.score(
        candidates, references, {"dense": {"protocol": "densecap"}}
    ).values()
    assert result.value == pytest.approx(1.0)
    nothing = {"i": image()}
    (result,) = harness.score(
        nothing, references, {"dense": {"protocol": "densecap"}}
    ).values()
    assert result.value == 0.0


def test_a_region_without_confidence_is_named():
    region = Event("a red dog", (0.0, 0.0, 9.0, 9.0))
    with pytest.raises(InputError, match="event 1 has no score"):
        harness.score(
            {"i": image(region)},
            {"i": image(region)},
            {"dense": {"protocol": "densecap"}},
        )


def drawn_images(rng, confidences):
    """Return the objects of 12 images, of which one has no prediction."""
    records = []
    for count in [0, *rng.integers(1, 9, 11)]:
        record = {"regions": rng.integers(1, 4, 1)}
        if count:
            record |= {
                "confidence": rng.choice(confidences, count),
                "overlap": rng.random(count),
                "first": rng.random(count) < 0.7,
                "text": rng.random(count) / 3,
            }
        records.append(record)
    return Objects.of(records, "densecap")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("measure", ["score", "precision"])
def test_numbers_of_drawn_images_are_those_of_repeated_ones(seed, measure):
    metric = Dense(protocol="densecap", measure=measure)
    rng = np.random.default_rng(seed)
    # predictions of one confidence keep the order that repeated images have
    for confidences in (rng.random(200), [0.25, 0.5]):
        images = drawn_images(rng, confidences)
        weights = rng.multinomial(12, np.full(12, 1 / 12), size=20).astype(float)
        weights = np.vstack([weights, np.zeros(12), np.eye(12), np.ones(12)])
        plain = CorpusMetric.numbers(metric, images, weights)
        assert np.isnan(plain).sum() == 1
        np.testing.assert_array_equal(metric.numbers(images, weights), plain)


def test_images_without_predictions_have_zero_however_often_they_are_drawn():
    metric = Dense(protocol="densecap")
    images = Objects.of([{"regions": np.array([2])}] * 3, "densecap")
    weights = np.array([[1.0, 1, 1], [3, 0, 0]])
    assert metric.numbers(images, weights).tolist() == [0.0, 0.0]
