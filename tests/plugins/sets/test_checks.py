"""Checks of parameters: accepted values, and messages with the expected ones."""

import math

import pytest

from harness.errors import HarnessError
from harness_metrics.sets.checks import check_choice, check_count, check_number, check_order_of_entropy, check_positive


def test_accepted_values():
    assert check_count(0, "m", "p", minimum=0) == 0
    assert check_number(2, "m", "p", 1, 3) == 2.0
    assert check_choice("a", "m", "p", ("a", "b")) == "a"
    assert check_order_of_entropy("inf", "m") == check_order_of_entropy(math.inf, "m") == math.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_count("2", "m", "p"), "m: p is '2'; expected an integer of at least 1"),
        (lambda: check_number(math.nan, "m", "p"), "m: p is nan; expected a number of at least 0"),
        (lambda: check_number(4, "m", "p", 1, 3), "m: p is 4; expected a number from 1 to 3"),
        (
            lambda: check_choice("bst", "m", "p", ("mean", "best")),
            "m: p is 'bst'; did you mean 'best'?; expected mean or best",
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises(HarnessError) as error:
        call()
    assert str(error.value) == message


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2", 5])
def test_counts_out_of_range(n):
    with pytest.raises(HarnessError, match="bleu: n is .*; expected an integer of at least 1, at most 4") as caught:
        check_count(n, "bleu", "n", maximum=4)
    assert (caught.value.parameter, caught.value.value) == ("n", n)
    assert check_count(4, "bleu", "n", maximum=4) == 4


@pytest.mark.parametrize("value", [0, -1.0, math.nan])
def test_numbers_that_are_not_positive(value):
    with pytest.raises(HarnessError, match="m: penalty is .*; expected a number above 0"):
        check_positive(value, "m", "penalty")
