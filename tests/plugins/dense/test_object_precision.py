"""Mean average precision of objects in scenes by hand, and against loops."""

from __future__ import annotations

import random

import numpy as np
import pytest

import harness
from harness.contracts import Event, EventSet
from harness.errors import HarnessError, InputError
from harness_metrics.dense.metric import Dense, DenseAveragePrecision
from harness_metrics.dense.nltk_meteor import NltkMeteor
from harness_metrics.dense.object_precision import (
    OVERLAPS,
    TEXT_SCORES,
    average_precisions,
)
from harness_metrics.dense.overlaps import scene_overlaps
from harness_metrics.dense.wordnet import installed_wordnet
from tests.plugins.dense.test_objects import cube

pytestmark = pytest.mark.usefixtures("small_wordnet")
MAP = {"protocol": "scan2cap-benchmark", "measure": "map"}


def number(scenes, truth, **params):
    """Return the number of scenes; events by scene."""
    candidates, references = (
        {name: [EventSet(tuple(events)).to_text()] for name, events in side.items()}
        for side in (scenes, truth)
    )
    (result,) = harness.score(
        candidates, references, {"dense": {**MAP, **params}}, bootstrap=0
    ).values()
    return result.value


SOFA = Event("a red sofa", cube(0), label="0")
DESK = Event("a desk", cube(5), label="1")
TRUTH = {"s": [SOFA, DESK]}


def box(text, x, score):
    return Event(text, cube(x), score)


def test_equal_boxes_with_equal_words_have_precision_one():
    found = [box("a red sofa", 0, 0.9), box("a desk", 5, 0.5)]
    assert number({"s": found}, TRUTH) == pytest.approx(1.0)


def test_a_false_box_that_is_surer_lowers_what_follows():
    found = [box("a red sofa", 20, 0.9), box("a red sofa", 0, 0.5)]
    # one of two objects, found as the second box
    assert number({"s": found}, TRUTH) == pytest.approx(0.25)
    assert number({"s": found[::-1]}, TRUTH) == pytest.approx(0.25)


def test_of_equally_sure_boxes_the_later_comes_first():
    near, far = box("a red sofa", 0, 0.5), box("a red sofa", 20, 0.5)
    assert number({"s": [near, far]}, TRUTH) == pytest.approx(0.25)
    assert number({"s": [far, near]}, TRUTH) == pytest.approx(0.5)
    two = {"s": [SOFA], "t": [SOFA]}
    # the later scene comes first, too: 1 of 2, then both of 3
    assert number({"s": [near], "t": [far]}, two) == pytest.approx(0.25)
    assert number({"s": [far], "t": [near]}, two) == pytest.approx(0.5)


def test_an_object_is_found_once():
    found = [box("a red sofa", 0, 0.9), box("a red sofa", 0.1, 0.8)]
    assert number({"s": found}, {"s": [SOFA]}) == pytest.approx(1.0)
    again = [*found, box("a desk", 5, 0.1)]
    # both objects, the second as the third box
    assert number({"s": again}, TRUTH) == pytest.approx((1 + 2 / 3) / 2)


def test_a_better_overlap_alone_does_not_take_the_object_before():
    """The first object is described better, the second overlaps more: it stays."""
    sofa = Event("a red sofa", cube(0.6), label="0")
    lamp = Event("a lamp", cube(0.0), label="1")
    found = [box("a red sofa", 0.0, 0.9)]
    overlap = scene_overlaps(*(np.reshape(cube(x), (1, 8, 3)) for x in (0, 0.6))).item()
    reached = sum(low < overlap for low in OVERLAPS)
    assert 0 < reached < len(OVERLAPS)
    value = number({"s": found}, {"s": [sofa, lamp]})
    assert value == pytest.approx(reached / len(OVERLAPS) / 2)


def test_thresholds_of_the_overlap_can_be_given_and_scenes_without_boxes_count():
    found = {"s": [box("a red sofa", 0.3, 0.9)]}
    truth = {"s": [SOFA], "t": [DESK]}
    assert number(found, {"s": [SOFA]}, tious=[0.5]) == pytest.approx(1.0)
    assert number(found, {"s": [SOFA]}, tious=[0.6]) == 0.0
    missing = {**found, "t": []}
    assert number(missing, truth, tious=[0.5]) == pytest.approx(0.5)
    assert number({"s": [], "t": []}, truth) == 0.0


def test_boxes_without_confidence_and_another_text_are_refused():
    with pytest.raises(InputError, match="event 1 has no score; the mean average"):
        number({"s": [Event("a sofa", cube(0))]}, TRUTH)
    with pytest.raises(HarnessError, match="expected no 'text' beside 'measure: map'"):
        Dense(**MAP, text="cider")
    with pytest.raises(HarnessError, match="vote2cap has no measure 'map'"):
        Dense(protocol="vote2cap", measure="map")
    assert isinstance(Dense(**MAP), DenseAveragePrecision)
    assert "nltk-3.5|wordnet-3.0" in Dense(**MAP).signature()


def test_average_precisions_are_those_of_the_devkit():
    hits = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=float)
    # precisions 1 and 2/3; 1/2 is replaced by 2/3
    assert [*average_precisions(hits, 4)] == pytest.approx([(1 + 2 / 3) / 4, 1 / 3])


def plain_map(scenes, truth):
    """Return the number by loops over boxes, thresholds and objects."""
    meteor = NltkMeteor(installed_wordnet())
    boxes = [(e.score, name, e) for name, events in scenes.items() for e in events]
    boxes.reverse()  # the later of equally sure ones first
    boxes.sort(key=lambda item: -item[0])
    total = sum(len(events) for events in truth.values())
    values = []
    for low in OVERLAPS:
        for lowest in TEXT_SCORES:
            used, hits = set(), []
            for _, name, event in boxes:
                best, overlap, score = None, -1.0, -1.0
                for k, other in enumerate(truth[name]):
                    places = [
                        np.reshape(e.place, (1, 8, 3)).astype(np.float32)
                        for e in (event, other)
                    ]
                    own = scene_overlaps(*places).item()
                    text = f"sos {other.text} eos"
                    words = meteor.best_score(f"sos {event.text} eos", [text])
                    if own > overlap and words > score:
                        best, overlap, score = k, own, words
                is_hit = overlap > low and score > lowest
                hits.append(is_hit and (name, best) not in used)
                if is_hit:
                    used.add((name, best))
            precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
            values.append(
                sum(max(precision[k:]) for k, hit in enumerate(hits) if hit) / total
            )
    return float(np.mean(values))


@pytest.mark.parametrize("seed", range(10))
def test_seeded_scenes_equal_the_plain_rules(seed):
    rng = random.Random(seed)
    texts = ["a red sofa", "the couch is big", "a desk by the sofa", "large frame", ""]
    truth, scenes = {}, {}
    for name in "abc":
        truth[name] = [
            Event(rng.choice(texts), cube(rng.randint(0, 6)), label=str(k))
            for k in range(rng.randint(1, 5))
        ]
        scenes[name] = [
            Event(rng.choice(texts), cube(rng.uniform(0, 6)), rng.randint(0, 4) / 4)
            for _ in range(rng.randint(1, 7))
        ]
    assert number(scenes, truth) == pytest.approx(plain_map(scenes, truth), abs=1e-9)
