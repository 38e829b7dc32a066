"""Logarithm, exponential and power: close to the exact values, equal bits of both
versions, special values of C99.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caption_kernels_reference import math as readable
from caption_kernels_reference import math_tables

compiled = pytest.importorskip("caption_kernels._compiled")
LARGEST_ERROR = 0.501
"""Units in the last place; the exact functions have 0.5."""
numbers = (
    st.floats()
    | st.floats(0, 2)
    | st.sampled_from([1 - 2.0**-53, 1 + 2.0**-52, 5e-324, 709.8, -745.2])
)


def error(value: float, exact: Decimal) -> float:
    """Return the error in units in the last place of the exact value."""
    unit = Decimal(float(np.spacing(abs(float(exact)))))
    return float(abs(Decimal(value) - exact) / unit)


def sample(
    rng: np.random.Generator, low: float, high: float, size: int = 3000
) -> np.ndarray:
    """Return numbers from a range and some close to 0."""
    return np.concatenate(
        [
            rng.uniform(low, high, size),
            rng.normal(size=size) * 2.0 ** -rng.integers(0, 50, size),
        ]
    )


@pytest.fixture
def rng():
    return np.random.default_rng(26)


@pytest.fixture
def precise():
    with localcontext() as context:
        context.prec = 50
        yield


def test_exponential_is_rounded_correctly_almost_always(rng, precise):
    x = sample(rng, -745, 709)
    errors = [
        error(value, Decimal(number).exp())
        for number, value in zip(x.tolist(), compiled.exp(x).tolist())
    ]
    assert max(errors) < LARGEST_ERROR


@pytest.mark.slow
def test_logarithm_is_rounded_correctly_almost_always(rng, precise):
    x = np.concatenate(
        [np.exp(rng.uniform(-740, 709, 2000)), 1 + sample(rng, -0.4, 0.5) % 1e3]
    )
    x = x[x > 0]
    errors = [
        error(value, Decimal(number).ln())
        for number, value in zip(x.tolist(), compiled.log(x).tolist())
        if number != 1
    ]
    assert max(errors) < LARGEST_ERROR


@pytest.mark.parametrize("y", [0.2, 0.5, 3.0, 0.85, -1.5, 40.25])
def test_power_is_rounded_correctly_almost_always(rng, precise, y):
    x = np.concatenate([rng.uniform(0, 1, 500), np.exp(rng.uniform(-16, 16, 500))])
    errors = [
        error(value, Decimal(number) ** Decimal(y))
        for number, value in zip(x.tolist(), compiled.power(x, y).tolist())
    ]
    assert max(errors) < LARGEST_ERROR


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(numbers, max_size=8), numbers)
def test_readable_version_gives_the_same_bits(values, y):
    x = np.array(values, dtype=np.float64)
    for one, other in (
        (compiled.log(x), readable.log(x)),
        (compiled.exp(x), readable.exp(x)),
        (compiled.power(x, y), readable.power(x, y)),
    ):
        assert np.array_equal(one, other, equal_nan=True)
        assert np.array_equal(
            np.signbit(one[one == one]), np.signbit(other[other == other])
        )


@pytest.mark.slow
def test_readable_version_gives_the_same_bits_for_many_numbers(rng):
    x = np.concatenate(
        [sample(rng, -800, 800, 50_000), np.exp(rng.uniform(-744, 709, 50_000))]
    )
    assert np.array_equal(compiled.exp(x), readable.exp(x))
    assert np.array_equal(compiled.log(np.abs(x)), readable.log(np.abs(x)))
    for y in (0.2, 3.0, -0.7, 11.0):
        assert np.array_equal(
            compiled.power(x, y), readable.power(x, y), equal_nan=True
        )


@pytest.mark.equal_bits
def test_numbers_whose_last_bit_depends_on_a_small_coefficient():
    """One number of a million is rounded otherwise if 1/720 is 1/721 or 1/719, 1/9 is
    1/8 or 1/10, or -1/10 is -1/5.
    """
    x = np.array(
        [
            -8.336692157808109,
            10.183366713461368,
            -0.23557550901291158,
            7.307876051457671,
            -3.522647092635145,
        ]
    )
    assert np.array_equal(compiled.exp(x), readable.exp(x))
    x = np.array(
        [
            1.0074792383887545,
            1.0075407569093167,
            1.0077068656635497,
            1.0075290585492276,
            1.0075823625179783,
        ]
    )
    assert np.array_equal(compiled.log(x), readable.log(x))


@pytest.mark.parametrize(
    "functions", [compiled, readable], ids=["compiled", "readable"]
)
def test_special_values_are_those_of_c99(functions):
    special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        math.inf,
        -math.inf,
        math.nan,
        2.0,
        -2.0,
        3.0,
        -3.0,
        0.5,
        -0.5,
    ]
    special += [1e308, -1e308, 5e-324, 2.0**53, -(2.0**53) - 2, 1e300, -1e300]

    for y in special:
        for x, value in zip(special, functions.power(np.array(special), y).tolist()):
            expected = _c_power(x, y)
            assert value == expected or (math.isnan(value) and math.isnan(expected)), (
                x,
                y,
            )
            assert math.isnan(value) or math.copysign(1, value) == math.copysign(
                1, expected
            ), (x, y)

    assert (
        str(functions.log(np.array(special[:7])).tolist())
        == "[-inf, -inf, 0.0, nan, inf, nan, nan]"
    )
    assert (
        str(functions.exp(np.array([0.0, -0.0, math.inf, -math.inf, math.nan])))
        == "[ 1.  1. inf  0. nan]"
    )

    assert functions.exp(np.array([709.78, 709.79, -745.13, -745.14])).tolist() == [
        math.exp(709.78),
        math.inf,
        5e-324,
        0,
    ]


def _c_power(x: float, y: float) -> float:
    """Return C's pow: Python's, which raises where C returns infinity or NaN."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:
        if x == 0:
            return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
        return math.nan


@pytest.mark.parametrize(
    "functions", [compiled, readable], ids=["compiled", "readable"]
)
@pytest.mark.parametrize("shape", [(0,), (3, 0), (2, 3, 4)])
def test_shapes_are_kept(functions, shape):
    x = np.full(shape, 2.0)
    for result in (functions.log(x), functions.exp(x), functions.power(x, 0.5)):
        assert result.shape == shape
        assert result.dtype == np.float64


@pytest.mark.parametrize(
    "functions", [compiled, readable], ids=["compiled", "readable"]
)
@pytest.mark.parametrize(
    "x", [2.0, np.float64(2.0), np.array(2.0)], ids=["float", "numpy", "array"]
)
def test_numbers_give_numbers(functions, x):
    assert [
        type(result)
        for result in (
            functions.log(x),
            functions.exp(x),
            functions.sin(x),
            functions.power(x, 0.5),
        )
    ] == [float] * 4


def test_order_of_the_axes_does_not_matter(rng):
    x = rng.uniform(1, 2, (4, 5))
    assert np.array_equal(compiled.log(x.T), compiled.log(x).T)
    assert np.array_equal(compiled.exp(x[:, ::2]), compiled.exp(x)[:, ::2])


@pytest.mark.parametrize("wrong", ["1", None, np.array(["a"]), np.array([object()])])
def test_other_types_are_refused(wrong):
    for function in (compiled.log, compiled.exp, lambda x: compiled.power(x, 2.0)):
        with pytest.raises(TypeError):
            function(wrong)


def test_tables_of_the_library_are_those_of_the_generator(root):
    assert (root / "kernels/core/math_tables.inc").read_text() == math_tables.source()
    assert (
        len(re.findall("^    {", math_tables.source(), re.MULTILINE))
        == 2 * math_tables.N
    )
