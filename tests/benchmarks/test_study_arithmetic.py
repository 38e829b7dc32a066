"""Arithmetic of the studies that public data decide."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.a3ds_speaker import groups_of
from benchmarks.a3ds_structure import disagreement, jitter_for, scale_of
from benchmarks.conditional_frontier import gain_at_diversity
from benchmarks.crnrr_tables import OUTSIDE, size_row
from benchmarks.where_image import kendall_of_four


def test_tau_of_four_systems():
    people = np.array([4.0, 3.0, 1.0, 2.0])
    assert kendall_of_four(people, people) == 1.0
    assert kendall_of_four(people, np.array([4.0, 3.0, 2.0, 1.0])) == pytest.approx(
        2 / 3
    )


def test_captions_of_one_scene_that_disagree():
    texts = [
        f"a {scale} red ball {place} in front of a {wall} wall on pink floor"
        for scale, place, wall in (
            ("tiny", "in the left corner", "medium blue"),
            ("unk", "in the left corner", "medium blue"),
            ("small", "in the right corner", "medium blue"),
            ("tiny", "on the left", "red"),
        )
    ]
    groups = groups_of(texts)
    assert groups.tolist()[:3] == [groups[0]] * 3 and groups[3] != groups[0]
    assert [scale_of(text) for text in texts] == ["tiny", "unk", "small", "tiny"]
    found = disagreement(texts, groups)
    assert found["orientation"] == pytest.approx(2 / 3) and found["scale"] == 1.0
    assert 1 - (1 - jitter_for(0.127)) ** 2 == pytest.approx(0.127)


def test_a_gain_counts_only_at_the_diversity_of_people():
    draws = np.random.default_rng(0).integers(0, 8, (500, 8))
    ones = np.ones(8)
    quality = {"people": ones, "central": 3 * ones}
    less = gain_at_diversity(quality, {"people": ones, "central": 0 * ones}, draws)
    assert (less.largest, less.system, less.interval) == (0.0, "people", (0.0, 0.0))
    assert less.p == 1.0
    more = gain_at_diversity(quality, {"people": ones, "central": 2 * ones}, draws)
    assert (more.largest, more.system, more.interval) == (2.0, "central", (2.0, 2.0))
    assert more.contradicting == "central" and more.p == pytest.approx(1 / 501)


def test_people_are_beaten_only_where_both_differences_are_shown():
    rng = np.random.default_rng(0)
    draws = rng.integers(0, 40, (2000, 40))
    noise = rng.normal(size=40)
    quality = {"people": np.zeros(40), "mixed": np.ones(40), "poor": -np.ones(40)}
    # as diverse as people but for noise, and clearly more diverse but poor
    diversity = {
        "people": np.zeros(40),
        "mixed": noise - noise.mean(),
        "poor": np.ones(40),
    }
    gain = gain_at_diversity(quality, diversity, draws)
    assert gain.p > 0.5 and gain.interval == (0.0, 1.0)


def test_a_row_by_size_has_its_exponents_and_what_is_outside():
    found = {10: {"m": math.nan}, 20: {"m": 4.0}, 40: {"m": 2.0}}
    assert size_row("M", "m", found) == ["M", OUTSIDE, "4", "2", "-1.00"]
