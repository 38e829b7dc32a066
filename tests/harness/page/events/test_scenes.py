"""What of a run is drawn, and its limits."""

from __future__ import annotations

import pytest

from harness.page.events import scenes
from harness.page.events.scenes import MOST_EVENTS, MOST_SCENES, scenes_of
from tests.support.event_runs import (
    crowded_run,
    many_videos,
    run_of,
    small_run,
    times,
)


def test_annotators_stand_above_systems_with_their_pairs():
    drawn = scenes_of(small_run())
    scene = drawn.scenes[0]
    assert [lane.name for lane in scene.lanes] == [
        "annotator 1",
        "annotator 2",
        "good",
        "empty",
    ]
    assert (scene.annotators, scene.systems) == ([0, 1], [2, 3])
    assert {(p.system, p.annotator) for p in scene.pairs} == {(2, 0), (2, 1)}
    assert scene.lanes[3].missing and scene.duration == 10.0
    scores = [pair.match.score for own in drawn.scenes for pair in own.pairs]
    assert drawn.largest == max(scores) and not drawn.note


def test_pairs_that_add_nothing_are_not_joined():
    scene = scenes_of(small_run()).scenes[1]
    assert scene.id == "w"
    assert {pair.system for pair in scene.pairs} == {2}, "blue & green"


def test_of_many_videos_the_lowest_and_highest_are_drawn():
    drawn = scenes_of(many_videos(200))
    names = [scene.id for scene in drawn.scenes]
    half = MOST_SCENES // 2
    assert names == [
        *(f"v{k:05}" for k in range(half)),
        *(f"v{k:05}" for k in range(200 - half, 200)),
    ]
    assert drawn.note.startswith(
        "24 of 200 examples: the lowest and the highest by the mean of Dense"
    )


def test_of_many_events_the_first_are_drawn():
    (scene,) = scenes_of(crowded_run(MOST_EVENTS + 30)).scenes
    assert [(len(lane.events), lane.left_out) for lane in scene.lanes] == [
        (MOST_EVENTS, 30)
    ] * 2
    assert len(scene.pairs) == MOST_EVENTS


def test_the_events_of_all_videos_are_limited(monkeypatch):
    monkeypatch.setattr(scenes, "MOST_SHAPES", 7)
    drawn = scenes_of(small_run())
    assert len(drawn.scenes) == 1 and drawn.note.startswith("1 of 2 examples")


@pytest.mark.parametrize("metric", ["rouge"])
def test_a_run_of_captions_has_no_scenes(metric):
    run = run_of({"s": {"v": ["a dog"]}}, {"v": ["a dog"]}, [metric])
    assert scenes_of(run).scenes == ()


def test_systems_with_other_references_share_the_lanes():
    one, two = times(("a dog", 0.0, 4.0)), times(("a cat", 0.0, 5.0))
    run = run_of({"s": {"v": [one]}, "t": {"v": [two]}}, {"v": [one, one, two]})
    scene = scenes_of(run).scenes[0]
    assert [lane.is_system for lane in scene.lanes] == [False] * 3 + [True] * 2
    assert {p.annotator for p in scene.pairs if p.system == 3} >= {0, 1}
