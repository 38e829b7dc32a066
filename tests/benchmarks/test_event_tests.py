"""Simulated people, and the tests of sets of events on them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from benchmarks.event_tests import (
    STYLES,
    SYSTEMS,
    count_rejections,
    leave,
    make_examples,
    make_metrics,
    make_table,
    relabeled_values,
)
from harness.contracts import Event, EventSet
from harness.run.combined_p_values import combine_p_values
from harness.run.score import score_sets
from harness.spec.models import SignificanceSpec

SCENES = [Event(f"scene {k}", (10.0 * k, 10.0 * k + 9)) for k in range(4)]


@pytest.mark.parametrize("style", STYLES)
def test_a_style_has_events_in_order_within_the_video(style):
    for seed in range(20):
        events = STYLES[style](list(SCENES), random.Random(seed))
        starts = [event.place[0] for event in events]
        assert events and starts == sorted(starts)
        assert starts[0] >= 0 and events[-1].place[1] <= 39


def test_styles_have_unequal_numbers_of_events():
    examples = make_examples(leave, 2, 0, 30)
    sizes = {
        len(EventSet.from_text(text).events)
        for item in examples
        for text in (*item.candidates, *item.references)
    }
    assert {1, 2, 4} < sizes


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_describes_every_video(system):
    for item in make_examples(SYSTEMS[system], 2, 0, 10):
        assert EventSet.from_text(item.candidates[0]).events


def test_a_data_set_of_the_pool_is_tested_as_a_run_does():
    metric = make_metrics()["`mmd-events`"]
    examples = make_examples(SYSTEMS["one event over everything"], 2, 0, 12)
    (values,) = relabeled_values([metric], examples)
    assert values.shape == (12, 3)
    assert values.mean(axis=1) == pytest.approx(np.zeros(12), abs=1e-12)

    significance = SignificanceSpec(method="exact", aggregate="summed", draws=999)
    (scored,) = score_sets([metric], examples, significance)
    combined = combine_p_values(scored.p_values, scored.p_floors, 0.05, scored.p_sums)
    sums = values[:, 0].sum()
    drawn = np.random.default_rng(1).integers(3, size=(12, 20_000))
    null = np.take_along_axis(values, drawn, axis=1).sum(axis=0)
    share = np.mean(null >= sums - 1e-9)
    assert combined["summed"] == pytest.approx(share, abs=0.03)
    assert share < 0.2


def test_rejections_are_counted():
    # the observed labeling is the most extreme of every video
    values = np.tile([2.0, -1.0, -1.0], (20, 1))
    assert count_rejections(values, 5, 10, 0, any_person=False) == 10
    assert count_rejections(values, 20, 40, 0, any_person=True) < 20


def test_the_table_has_a_row_of_each_system():
    rows = {"a": [[0.1, 0.2, 0.3]] * 4}
    lines = make_table(rows, [0.2] * 4).splitlines()
    assert lines[4] == "| a |" + " 0.10 0.20 0.30 |" * 4
    assert lines[5].endswith("| – 0.20 – |" + " – 0.20 – |" * 3)
