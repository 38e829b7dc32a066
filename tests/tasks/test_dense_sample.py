"""The task of captions with times on the sample that ships."""

from __future__ import annotations

import pytest

from harness.run.execute import execute
from harness.run.plan import make_plan
from harness.spec.loading import load_specs


@pytest.fixture(scope="module")
def run():
    """The task without intervals."""
    (loaded,) = load_specs("dense-sample", ["bootstrap.samples=0"])
    return execute(make_plan(loaded))


def values(run, metric):
    return {row.model: row.value for row in run.records if row.metric == metric}


def test_two_annotators_and_three_systems_of_twelve_videos(run):
    assert len(run.samples.systems) == 3
    for system in run.samples.systems:
        sets = system.caption_sets()
        assert len(sets) == 12
        assert {len(item.references) for item in sets} == {2}


def test_the_recommended_protocol_and_activitynet_disagree_on_one_event(run):
    coarse = "one event over everything"
    matched = values(run, "dense(matched,meteor)")
    assert matched["careful"] > matched["hasty"] > matched[coarse]
    thresholds = values(run, "dense(activitynet-2018,meteor)")
    assert thresholds["careful"] > thresholds[coarse] > thresholds["hasty"]


def test_the_missing_video_counts_zero_or_is_left_out(run):
    numbers = {row.metric: row.n for row in run.records if row.model == "hasty"}
    assert numbers["dense(matched,meteor)"] == 12
    assert numbers["dense(vidchapters,meteor)"] == 11
