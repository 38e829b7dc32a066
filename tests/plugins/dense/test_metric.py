"""Protocols of ``dense`` against a plain second implementation and hand-made values."""

from __future__ import annotations

import random

import pytest

import harness
from harness.contracts import CaptionSet, Event, EventSet
from harness.errors import HarnessError, InputError, UnknownName
from harness.testing import check_metric
from harness_metrics.dense.metric import Dense, DenseAveragePrecision, FittedDenseScore
from tests.support import dense_rules

NO_EVENTS = ["bounds", "direction", "odd-texts", "odd-references", "declared-cost"]
"""Checks of the kit that write texts of their own."""


def number(candidates, references, **params):
    """Return the number of ``dense`` for sets of events by id."""
    (result,) = harness.score(
        candidates, references, {"dense": params}, bootstrap=0
    ).values()
    return result.value


def one_video(system, *annotators, **params):
    """Return the number of one video; events are (text, start, end)."""

    def texts(events):
        return EventSet(tuple(Event(t, (s, e)) for t, s, e in events)).to_text()

    candidates = {"v": [texts(system)]}
    return number(candidates, {"v": [texts(own) for own in annotators]}, **params)


SEEDS = [*range(10), *(pytest.param(k, marks=pytest.mark.slow) for k in range(10, 100))]


@pytest.mark.parametrize("seed", SEEDS)
def test_seeded_videos_equal_the_plain_rules(seed):
    rng = random.Random(seed)
    videos = [dense_rules.random_video(rng) for _ in range(4)]
    texts = dense_rules.texts_of(videos)
    for protocol in ("2017", "2018", "2019"):
        name = f"activitynet-{protocol}"
        for metric in ("meteor", "cider", "rouge", "bleu4"):
            expected = dense_rules.caption_score(videos, name, metric)
            assert number(*texts, protocol=name, text=metric) == pytest.approx(
                expected, abs=1e-9
            )
    for measure in ("precision", "recall"):
        expected = dense_rules.localisation(videos, measure)
        assert number(
            *texts, protocol="activitynet-2018", measure=measure
        ) == pytest.approx(expected, abs=1e-9)
    if any(video.system is not None for video in videos):
        expected = dense_rules.caption_score(videos, "vidchapters", "meteor")
        assert number(*texts, protocol="vidchapters") == pytest.approx(
            expected, abs=1e-9
        )
    if any(video.system for video in videos):
        for annotators in ("merged", "best", "mean"):
            expected = dense_rules.soda_c(videos, annotators)
            value = number(*texts, protocol="soda-c", annotators=annotators)
            assert value == pytest.approx(expected, abs=1e-9)
    assert number(*texts) == pytest.approx(dense_rules.matched(videos), abs=1e-9)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"protocol": "activitynet"}, "unknown protocol 'activitynet'"),
        ({"protocol": "soda-c", "seconds": [1.0]}, "has no 'seconds'"),
        ({"protocol": "activitynet-2018", "measure": "f1"}, "has no measure 'f1'"),
        ({"protocol": "activitynet-2018", "annotators": "best"}, "has no 'annotators'"),
        ({"protocol": "vidchapters", "seconds": [1.0]}, "belongs to localisation"),
        ({"text": "trm"}, "does not score single captions"),
        ({"protocol": "vote2cap", "tious": [0.25, 0.5]}, "has one threshold"),
        ({"measure": "accuracy"}, "accuracy"),
    ],
)
def test_a_wrong_parameter_is_one_line(params, message):
    with pytest.raises((HarnessError, UnknownName), match=message):
        Dense(**params)


def test_captions_without_times_are_refused():
    with pytest.raises(InputError, match="'a dog' without a time or box"):
        number({"a": ["a dog"]}, {"a": ["a dog"]})


BOX = Event("a dog", (0.0, 1.0, 2.0, 3.0))
TIME = Event("a dog", (0.0, 1.0))


def test_boxes_before_a_protocol_of_times_are_named():
    references = {"v": [EventSet((BOX,)).to_text()]}
    with pytest.raises(InputError, match="activitynet-2018 scores times"):
        number(references, references, protocol="activitynet-2018")


def test_matched_takes_places_of_one_kind():
    boxes = {"v": [EventSet((BOX,)).to_text()]}
    times = {"v": [EventSet((TIME,)).to_text()]}
    both = {"v": [EventSet((BOX, TIME)).to_text()]}
    assert number(boxes, boxes, text="rouge") == 1.0
    assert number(boxes, boxes, text="rouge", overlap="iou") == 1.0
    with pytest.raises(InputError, match="expected places of one kind"):
        number(boxes, times)
    with pytest.raises(InputError, match="event 2 has times; event 1 has boxes"):
        number(both, boxes)
    with pytest.raises(UnknownName, match="unknown overlap 'oiu'; did you mean 'iou'"):
        Dense(overlap="oiu")
    with pytest.raises(HarnessError, match="soda-c has no 'overlap'"):
        Dense(protocol="soda-c", overlap="iou")


def test_a_turned_box_is_matched_by_its_volume():
    corners = [(x, y, z) for z in (0, 1) for x, y in ((0, 0), (0, 1), (1, 1), (1, 0))]
    turned = [(0.5, -0.2, 0), (1.2, 0.5, 0), (0.5, 1.2, 0), (-0.2, 0.5, 0)]
    turned += [(x, y, 1) for x, y, _ in turned]
    first, second = (
        {"s": [EventSet((Event("a", tuple(map(float, sum(box, ())))),)).to_text()]}
        for box in (corners, turned)
    )
    volume = number(first, second, text="rouge")
    hull = number(first, second, text="rouge", overlap="iou3d-hull")
    assert hull < volume


def test_too_many_pairs_are_refused_before_they_are_made():
    events = tuple(Event("a", (float(k), float(k + 1))) for k in range(2001))
    texts = {"v": [EventSet(events).to_text()]}
    with pytest.raises(InputError, match="4,004,001 pairs"):
        number(texts, texts, protocol="soda-c")


def test_the_form_of_the_number_decides_the_class():
    assert isinstance(Dense(protocol="densecap"), DenseAveragePrecision)
    assert isinstance(Dense(protocol="paragraph"), FittedDenseScore)
    assert not isinstance(Dense(), FittedDenseScore)


def kit_sets():
    rng = random.Random(0)

    def text():
        video = dense_rules.random_video(rng)
        return EventSet(tuple(video.annotators[0]), 100.0).to_text()

    return [
        CaptionSet(str(k), tuple(text() for _ in "abc"), tuple(text() for _ in "abc"))
        for k in range(5)
    ]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"protocol": "activitynet-2018", "text": "cider"},
        {"protocol": "vidchapters", "measure": "f1"},
        {"protocol": "soda-c", "annotators": "merged"},
        {"protocol": "paragraph", "text": "cider"},
    ],
)
def test_the_conformance_kit_passes(params):
    outcomes = check_metric(Dense(**params), sets=kit_sets(), skip=NO_EVENTS)
    failed = [outcome for outcome in outcomes if outcome.status == "fail"]
    assert failed == []
