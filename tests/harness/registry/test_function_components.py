"""Components of functions: results that fit their contract, and those that do not."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.errors import HarnessError
from harness.registry import current
from harness.registry.function_components import component_of
from harness.registry.function_plugins import (
    distance_function,
    embedding_function,
    metric_function,
)


def test_lists_are_copies_and_nan_is_undefined():
    @metric_function
    def greedy(candidates, references):
        return float("nan") if candidates.pop() == "b" else references.clear() or 1.0

    candidates = [["a"], ["b"]]
    references = [["c"], ["d"]]
    result = harness.score(candidates, references, [greedy])
    assert (result["greedy"].value, result["greedy"].skipped) == (1.0, 1)
    assert (candidates, references) == ([["a"], ["b"]], [["c"], ["d"]])


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (
            [0.1, 0.2],
            "metric 'bad' returned [0.1, 0.2] for example '0'; expected one number",
        ),
        (None, "metric 'bad' returned None for example '0'; expected one number"),
        ("0.5", "metric 'bad' returned '0.5' for example '0'; expected one number"),
        (
            float("inf"),
            "metric 'bad' returned inf for example '0'; expected a finite number, "
            "or NaN where undefined",
        ),
        (
            ZeroDivisionError("division by zero"),
            "metric 'bad' raised ZeroDivisionError: division by zero for example '0'",
        ),
    ],
)
def test_a_result_that_is_no_number(result, message):
    @metric_function(name="bad")
    def bad(candidates, references):
        if isinstance(result, Exception):
            raise result
        return result

    with pytest.raises(HarnessError) as caught:
        harness.score(["a"], ["b"], [bad])
    assert str(caught.value) == message


def test_a_distance_that_breaks_its_contract():
    @distance_function
    def bad(a, b):
        return (
            {"raise": None, "negative": -1.0, "list": [1.0]}[a]
            if a != "raise"
            else 1 / 0
        )

    distance = component_of(bad)()
    with pytest.raises(
        HarnessError,
        match="distance 'bad' raised ZeroDivisionError: "
        "division by zero for the pair 'raise', 'raise'",
    ):
        distance.pairwise(["raise"])
    with pytest.raises(
        HarnessError,
        match=r"returned \[1.0\] for the pair 'list', 'list'; expected one number",
    ):
        distance.pairwise(["list"])
    with pytest.raises(HarnessError, match="distance 'bad' is negative"):
        harness.score(
            ["negative"], [["negative", "negative"]], [{"trm": {"distance": distance}}]
        )


def test_pairs_of_equal_texts_are_computed_once():
    calls = []

    @distance_function(symmetric=True)
    def counted(a, b):
        calls.append((a, b))
        return float(a != b)

    matrix = component_of(counted)().pairwise(["x", "y", "x"])
    assert matrix.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert calls == [("x", "x"), ("x", "y"), ("y", "y")]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            np.zeros(3),
            r"embedding 'bad' returned shape \(3,\) for 2 texts; expected \(2, d\)",
        ),
        (np.zeros((3, 2)), r"embedding 'bad' returned shape \(3, 2\) for 2 texts"),
        (
            [[1.0], [1.0, 2.0]],
            r"embedding 'bad' returned \[\[1.0\], \[1.0, 2.0\]\]; "
            r"expected an array of shape \(T, d\)",
        ),
        ("x", "embedding 'bad' returned 'x'; expected an array"),
    ],
)
def test_an_embedding_of_a_wrong_shape(value, message):
    @embedding_function(name="bad")
    def bad(texts):
        return value

    with pytest.raises(HarnessError, match=message):
        component_of(bad)().encode(["a", "b"])


def test_a_tensor_is_an_array():
    torch = pytest.importorskip("torch")

    @embedding_function
    def ones(texts):
        return torch.ones(len(texts), 2, requires_grad=True)

    assert component_of(ones)().encode(["a"]).tolist() == [[1.0, 1.0]]


def test_other_values_are_no_function_plugins():
    for value in (len, int, lambda: 0, "text", current):
        assert component_of(value) is value
