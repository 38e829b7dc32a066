"""Discrepancies of curves against golden values."""

import json

import numpy as np
import pytest

from harness.errors import InputError
from harness_metrics.discrepancy.qdisc import curve_discrepancy, ratio


@pytest.fixture(scope="module")
def golden(golden):
    return json.loads((golden / "crnrr/crnrr_exact_golden.json").read_text())


def test_golden_mixing_curve(golden):
    example = golden["mixing_curve_example"]
    curve = example["curve"]
    real = example["real"]
    result = curve_discrepancy(
        [point["U"] for point in curve],
        [point["V"] for point in curve],
        real["U"],
        real["V"],
    )
    assert result.curve_quality == pytest.approx(example["interpolated_U"])
    assert (result.qdisc, result.self_ratio, result.ref_ratio) == pytest.approx(
        (example["QDisc"], example["Self_Ratio"], example["Ref_Ratio"])
    )
    with pytest.raises(InputError, match="is outside that of the curve, 0 to 1"):
        curve_discrepancy([1, 0], [0, 1], 0.5, 2)


def test_ratios_to_zero_are_undefined():
    result = curve_discrepancy([1, 1], [0, 1], 0.0, 0.5)
    assert result.qdisc == 1
    assert np.isnan([result.self_ratio, result.ref_ratio]).all()


def test_curves_need_two_points_of_equal_shape():
    with pytest.raises(InputError, match="two or more"):
        curve_discrepancy([1.0], [0.0], 0.5, 0.0)
    with pytest.raises(InputError, match=r"found shapes \(2,\) and \(3,\)"):
        curve_discrepancy([1, 0], [0, 1, 2], 0.5, 0.5)


def test_ratio():
    assert ratio(1, 4) == 0.25
    assert np.isnan(ratio(1, 0))
