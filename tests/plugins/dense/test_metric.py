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


def test_an_overlap_of_exactly_the_threshold_is_below_it():
    reference = [("a dog runs", 10.0, 20.0)]
    exact = one_video(
        [("a dog runs", 10.0, 15.0)],
        reference,
        protocol="activitynet-2018",
        text="rouge",
        tious=[0.5],
    )
    above = one_video(
        [("a dog runs", 10.0, 15.01)],
        reference,
        protocol="activitynet-2018",
        text="rouge",
        tious=[0.5],
    )
    assert (exact, above) == (0.0, 1.0)


def test_an_unmatched_prediction_is_paired_once_or_per_file():
    system = [("a dog runs", 0.0, 10.0)]
    far = [("a dog runs", 50.0, 60.0)]
    near = [("a dog runs", 0.0, 10.0)]
    # 2017: the first file has no match, which makes one pair with the garbage
    values = [
        one_video(system, far, near, protocol=f"activitynet-{year}", text="rouge")
        for year in (2017, 2018)
    ]
    assert values == pytest.approx([0.5, 1.0])
    swapped = one_video(system, near, far, protocol="activitynet-2017", text="rouge")
    assert swapped == pytest.approx(1.0)


def test_precision_and_recall_are_the_largest_over_files_each_for_itself():
    system = [("a", 0.0, 10.0), ("b", 20.0, 30.0)]
    first = [("a", 0.0, 10.0), ("b", 20.0, 30.0), ("c", 50.0, 60.0), ("d", 70.0, 80.0)]
    second = [("a", 0.0, 10.0)]
    params = {"protocol": "activitynet-2018"}
    assert one_video(system, first, second, measure="precision", **params) == 1.0
    assert one_video(system, first, second, measure="recall", **params) == 1.0


def test_missing_counts_zero_and_vidchapters_leaves_it_out():
    event = Event("a dog runs", (0.0, 10.0))
    references = {k: [EventSet((event,)).to_text()] for k in "ab"}
    candidates = {
        "a": [EventSet((event,)).to_text()],
        "b": [EventSet((), missing=True).to_text()],
    }
    values = [
        number(candidates, references, protocol=name, text="rouge")
        for name in ("activitynet-2018", "vidchapters", "soda-c", "matched")
    ]
    assert values == pytest.approx([0.5, 1.0, 1.0, 0.5])
    empty = {**candidates, "b": [EventSet(()).to_text()]}
    assert number(
        empty, references, protocol="vidchapters", text="rouge"
    ) == pytest.approx(0.5)


def test_vidchapters_makes_f1_of_the_mean_precision_and_recall():
    def texts(*times):
        return [EventSet(tuple(Event("a", time) for time in times)).to_text()]

    references = {"a": texts((0.0, 10.0)), "b": texts((0.0, 10.0), (20.0, 30.0))}
    candidates = {
        "a": texts((0.0, 10.0), (50.0, 60.0)),
        "b": texts((0.0, 10.0)),
    }
    # precision 1/2 and 1, recall 1 and 1/2: both means are 3/4, not 2/3
    params = {"measure": "f1", "tious": [0.5]}
    assert number(
        candidates, references, protocol="vidchapters", **params
    ) == pytest.approx(0.75)
    assert number(
        candidates, references, protocol="vid2seq", **params
    ) == pytest.approx(2 / 3)
    starts = {"protocol": "vidchapters", "measure": "recall", "seconds": [1.0]}
    assert number(candidates, references, **starts) == pytest.approx(0.75)


def test_vid2seq_exchanges_start_and_end_and_others_refuse():
    reference = [("a dog runs", 0.0, 10.0)]
    system = [("a dog runs", 10.0, 0.0)]
    value = one_video(system, reference, protocol="vid2seq", text="rouge")
    assert value == pytest.approx(1.0)
    with pytest.raises(InputError, match="event 1 ends at 0 before it starts at 10"):
        one_video(system, reference, protocol="activitynet-2018")


def test_soda_by_hand():
    system = [("a dog runs", 0.0, 10.0), ("a red car", 10.0, 20.0)]
    reference = [("a dog runs", 0.0, 10.0), ("a red car", 15.0, 20.0)]
    # cells 1 x 1 and 1/2 x 1: 1.5 of 2 on both sides
    params = {"text": "rouge"}
    assert one_video(system, reference, protocol="soda-c", **params) == 0.75
    assert one_video(system, reference, protocol="soda-d", **params) == 0.75
    assert one_video(system, reference, protocol="soda-b", **params) == 1.0
    # the second pair is cut at .7 and .9, and is aligned at 0 then
    assert one_video(system, reference, protocol="soda-a", **params) == 1.0
    # the order of the texts is the other one: one of both alone is aligned
    crossed = [("a red car", 0.0, 10.0), ("a dog runs", 10.0, 20.0)]
    assert one_video(crossed, reference, protocol="soda-c", **params) < 0.4


def test_matched_gains_nothing_by_repeated_or_reordered_events():
    reference = [("a dog runs", 0.0, 10.0), ("a red car", 15.0, 20.0)]
    assert one_video(reference, reference, text="rouge") == 1.0
    assert one_video(reference[::-1], reference, text="rouge") == 1.0
    assert one_video(reference * 2, reference, text="rouge") == pytest.approx(2 / 3)


def test_grounding_by_hand():
    references = [("q", 0.0, 10.0), ("r", 0.0, 10.0)]
    system = [("q", 0.0, 5.0), ("r", 0.0, 10.0)]
    assert one_video(system, references, protocol="grounding") == 0.75
    recall = {"protocol": "grounding", "measure": "recall"}
    assert one_video(system, references, tious=[0.5], **recall) == 1.0
    assert one_video(system, references, tious=[0.7], **recall) == 0.5
    with pytest.raises(InputError, match="1 times for 2 sentences"):
        one_video(system[:1], references, protocol="grounding")


def test_any_caption_metric_scores_the_pairs():
    reference = [("a dog runs", 0.0, 10.0)]
    system = [("a dog walks", 0.0, 10.0)]
    value = one_video(
        system, reference, protocol="activitynet-2018", text={"rouge1": {}}
    )
    assert value == pytest.approx(2 / 3)
    value = one_video(system, reference, text="rouge1")
    assert value == pytest.approx(2 / 3)
    plain = {"cider": {"variant": "plain"}}
    pairs = {"protocol": "activitynet-2018", "tious": [0.5], "text": plain}
    assert one_video(system * 2, reference * 2, **pairs) == 0
    two = [*system, ("a red car", 50.0, 60.0)]
    references = [*reference, ("a red car", 50.0, 60.0)]
    # one word of three is common, and weighs as much as the others
    assert 2 < one_video(two, references, **pairs) < 10


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


def test_cider_has_no_score_of_a_single_pair():
    reference = [("a dog runs", 0.0, 10.0)]
    with pytest.raises(HarnessError, match="CIDEr has no score of a single pair"):
        one_video(reference, reference, text="cider")


def test_captions_without_times_are_refused():
    with pytest.raises(InputError, match="'a dog' without a time or box"):
        number({"a": ["a dog"]}, {"a": ["a dog"]})


def test_milliseconds_are_named():
    references = {"v": [EventSet((Event("a", (0.0, 9.0)),), 10.0).to_text()]}
    candidates = {"v": [EventSet((Event("a", (0.0, 9000.0)),)).to_text()]}
    with pytest.raises(InputError, match="seem to be milliseconds"):
        number(candidates, references)


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
