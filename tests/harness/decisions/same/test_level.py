"""Levels of checks in a series, the relabelings that they need,
and what no number of relabelings serves.
"""

from __future__ import annotations

import math
import re

import pytest

from harness.decisions.same.answer_kernels import KERNELS
from harness.decisions.same.level import (
    MOST_DRAWS,
    RESOLUTION,
    NightSeries,
    draws_needed,
)
from harness.errors import HarnessError


def test_the_levels_of_a_series_add_up_to_the_level():
    assert sum(
        NightSeries(night, 30).level(0.05) for night in range(1, 31)
    ) == pytest.approx(0.05)
    endless = [NightSeries(night).level(0.05) for night in range(1, 3000)]
    assert 0.0499 < sum(endless) < 0.05
    assert NightSeries().level(0.05) == 0.05


def test_draws_make_the_level_five_relabelings_of_all():
    for level in (0.05, 0.001, 0.05 / 90, 8.44e-6):
        number = draws_needed(level, KERNELS)
        assert (
            level * number >= RESOLUTION * (1 - 1e-5)
            and level * (number - 1) < RESOLUTION
        )
    assert draws_needed(1e-9, KERNELS) == MOST_DRAWS
    assert draws_needed(1e-9, [*KERNELS, "trm:distance=meteor"]) == 20_000


def test_the_night_after_the_last_is_refused():
    NightSeries(90, 90).check()
    with pytest.raises(
        HarnessError,
        match="night=91 of nights=90: the level is spent; "
        "begin again at night 1 with a fresh baseline",
    ):
        NightSeries(91, 90).check()


@pytest.mark.parametrize("option", ["night", "nights"])
@pytest.mark.parametrize(
    ("alpha", "smallest", "kernels", "tests"),
    [
        (0.05, 2 / 252, KERNELS, 1),
        (0.05, 4 / 400, KERNELS, 1),
        (0.1, 1e-30, KERNELS, 1),
        (0.05, 1e-30, KERNELS, 6),
        (0.01, 1e-30, ["trm:distance=meteor"], 1),
        (0.05, 1 / 35, KERNELS, 1),
    ],
)
def test_the_largest_number_that_is_named_is_served_and_the_next_one_is_not(
    option, alpha, smallest, kernels, tests
):
    with pytest.raises(HarnessError) as refused:
        NightSeries(**{option: 10**6}).check_level(alpha, smallest, kernels, tests)
    (number,) = re.findall(
        rf"the largest number that they serve is {option}=(\d+)", str(refused.value)
    )
    NightSeries(**{option: int(number)}).check_level(alpha, smallest, kernels, tests)
    with pytest.raises(HarnessError):
        NightSeries(**{option: int(number) + 1}).check_level(
            alpha, smallest, kernels, tests
        )


def test_the_reason_is_the_answers_or_the_relabelings():
    with pytest.raises(
        HarnessError,
        match=r"night=6 tests at level 0.000844; these answers have too few "
        r"relabelings for a level below 0.00794",
    ):
        NightSeries(6).check_level(0.05, 2 / 252, KERNELS, 1)
    with pytest.raises(
        HarnessError,
        match="at most 1,000,000 relabelings are drawn, which serve levels from 5e-06",
    ):
        NightSeries(78).check_level(0.05, 0.0, KERNELS, 1)
    with pytest.raises(
        HarnessError, match="no series of checks can be tested with them"
    ):
        NightSeries(1).check_level(0.05, 2 / math.comb(4, 2), KERNELS, 1)
