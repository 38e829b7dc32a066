"""Margins of a gate: how they are written, and those that cannot be meant."""

from __future__ import annotations

import pytest

from harness.decisions.gate.margin import Margin, verify_margin
from harness.errors import HarnessError


@pytest.mark.parametrize(
    ("text", "size", "relative", "shown"),
    [
        ("0.01", 0.01, False, "0.01"),
        ("1%", 0.01, True, "1%"),
        (" .5 % ", 0.005, True, "0.5%"),
        ("1e-3", 0.001, False, "0.001"),
        ("0", 0, False, "0"),
    ],
)
def test_margins_are_read(text, size, relative, shown):
    margin = Margin.parse(text)
    assert (margin.size, margin.relative, str(margin)) == (
        pytest.approx(size),
        relative,
        shown,
    )


@pytest.mark.parametrize("text", ["", "-0.1", "one", "1%%", "nan", "inf", "0,01"])
def test_wrong_margins_are_one_line(text):
    with pytest.raises(
        HarnessError,
        match="the margin is '.*'; expected a number such as 0.01, or a share",
    ):
        Margin.parse(text)


@pytest.mark.parametrize(
    ("text", "baseline", "lowest", "message"),
    [
        (
            "2",
            0.81,
            0.0,
            "the margin 2 of CIDEr-D can never fail a version: "
            "the number cannot fall from 0.81 below 0: type 2% for a "
            "share of the baseline, a drop of 0.0162, "
            "or 0.02 for a drop of 0.02 in its unit",
        ),
        (
            "0.6",
            0.5,
            0.0,
            "type 0.6% for a share of the baseline, a drop of 0.003, "
            "or 0.006 for a drop of 0.006 in its unit",
        ),
        (
            "0.02%",
            0.81,
            0.0,
            "the margin 0.02% of CIDEr-D is a share of 0.0002 of 0.81: "
            "type 0.000162 for this drop, or 0.02 for ",
        ),
        (
            "0.05%",
            30.0,
            None,
            "type 0.015 for this drop, or 0.05 for a drop of 0.05 in its unit",
        ),
        ("100%", 0.81, 0.0, "the margin 100% of CIDEr-D can never fail a version"),
        ("0.01", 0.0, 0.0, "cannot fall from 0 below 0"),
        ("2", 0.9, -1.0, "cannot fall from 0.9 below -1: type 2%"),
    ],
)
def test_margins_that_cannot_be_meant_are_refused(text, baseline, lowest, message):
    with pytest.raises(HarnessError) as error:
        verify_margin(Margin.parse(text), "cider", baseline, lowest)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "baseline", "lowest"),
    [
        ("0.8", 0.81, 0.0),
        ("0", 0.0, 0.0),
        ("0.1%", 0.5, 0.0),
        ("5", 2.0, None),
        ("99%", 0.5, 0.0),
    ],
)
def test_other_margins_are_kept(text, baseline, lowest):
    verify_margin(Margin.parse(text), "cider", baseline, lowest)
