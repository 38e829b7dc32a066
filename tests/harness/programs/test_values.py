"""Values in the answers of programs."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.programs.values import read_captions, read_numbers, read_vectors


def numbers(values, bounds=None):
    answers = [{"id": k, "value": value} for k, value in enumerate(values)]
    return read_numbers(answers, str, label="metric 'x'", bounds=bounds, may_fail=False)


@given(st.lists(st.one_of(st.none(), st.floats(-1e300, 1e300), st.integers(-9, 9))))
def test_numbers_are_read_bit_for_bit(values):
    expected = [np.nan if value is None else float(value) for value in values]
    np.testing.assert_array_equal(numbers(values), expected)


@pytest.mark.parametrize("value", [True, "1", [1.0], {}, float("inf"), float("nan")])
def test_what_is_no_finite_number_is_refused(value):
    with pytest.raises(HarnessError, match=r"for 1; expected a (finite )?number"):
        numbers([0.5, value])


def test_rounding_may_pass_a_bound_and_nothing_more():
    assert numbers([1 + 1e-9], (0.0, 1.0))[0] == 1 + 1e-9
    assert numbers([-1e9], (-np.inf, 1.0))[0] == -1e9
    with pytest.raises(HarnessError, match="for 0; expected a number from 0 to 1"):
        numbers([1.001], (0.0, 1.0))


@given(st.lists(st.floats(-1024.0, 1024.0, width=32), min_size=1, max_size=9))
def test_lists_and_base64_are_the_same_vectors(values):
    vector = np.array(values, dtype="<f4")
    coded = base64.b64encode(vector.tobytes()).decode()
    answers = [{"value": [float(x) for x in vector]}, {"value": coded}]
    left, right = read_vectors(answers, str, label="embedding 'x'")
    np.testing.assert_array_equal(left, right)
    assert left.dtype == np.float32


@pytest.mark.parametrize(
    "value", [None, [], ["a"], "not base64!", "AAA=", [[1.0]], 1.0]
)
def test_what_is_no_vector_is_refused(value):
    with pytest.raises(HarnessError, match="expected a list of numbers, or base64"):
        read_vectors([{"value": value}], str, label="embedding 'x'")


def test_a_vector_that_is_not_finite_is_shown():
    answers = [{"value": [0.1, 2.0]}, {"value": [0.1, float("nan")]}]
    with pytest.raises(HarnessError, match=r"answers .*0.1, NaN.* for 1; expected fin"):
        read_vectors(answers, str, label="embedding 'x'")


def test_captions_are_a_text_or_as_many_as_asked():
    assert read_captions({"value": "a"}, "e", 1, "x") == ["a"]
    assert read_captions({"value": ["a", "b"]}, "e", None, "x") == ["a", "b"]
    for value in (["a"], "a", ["a", 1], None, []):
        with pytest.raises(HarnessError, match="for e; expected 2 texts"):
            read_captions({"value": value}, "e", 2, "x")
