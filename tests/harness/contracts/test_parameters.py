"""Constructor parameters: unknown, missing and mistyped ones, bounds; path annotations;
names that import no numpy.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import numpy as np
import pytest
from annotated_types import Ge

import harness.contracts
from harness.contracts import MeanMetric, PathLike, PathParam
from harness.contracts.parameters import (
    Count,
    MayBeInfinite,
    Order,
    Positive,
    Share,
    WholeMark,
    check_arguments,
    check_fields,
    check_parameters,
    list_parameters,
    parameters,
    path_parameters,
    type_hints,
)
from harness.errors import HarnessError, InputError, UnknownName

if TYPE_CHECKING:
    from decimal import Decimal


class Words(MeanMetric):
    """One parameter of each plain type."""

    def __init__(
        self,
        *,
        lower: bool = False,
        n: int = 1,
        scale: float = 1.0,
        name: str = "a",
        mode: Literal["fast", "exact", 3] = "fast",
        # both spellings of an optional type
        limit: Optional[int] = None,  # noqa: UP045
        share: float | None = None,
        orders: list[int] | None = None,
        pair: tuple[float, ...] = (),
        noted: Annotated[int, "examples"] = 0,
        anything: Any = None,
        path: Path | str = "x",
    ) -> None: ...


def check(**params):
    check_parameters("metric 'words'", Words, params)


@pytest.mark.parametrize(
    "params",
    [
        {"lower": True},
        {"n": 3},
        {"n": np.int64(3)},
        {"scale": 2},
        {"scale": np.float32(2)},
        {"mode": "exact"},
        {"mode": 3},
        {"limit": None},
        {"limit": 4},
        {"share": 0.5},
        {"orders": [1, 2]},
        {"orders": (1,)},
        {"orders": range(3)},
        {"pair": [1, 2.5]},
        {"noted": 2},
        {"anything": object()},
        {"path": 3},
    ],
)
def test_values_of_the_annotated_type_pass(params):
    check(**params)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"lower": "abc"}, "metric 'words': lower is 'abc'; expected true or false"),
        ({"lower": 1}, "lower is 1; expected true or false"),
        ({"n": "3"}, "n is '3'; expected a whole number"),
        ({"n": 3.5}, "n is 3.5; expected a whole number"),
        ({"n": True}, "n is True; expected a whole number"),
        ({"n": None}, "n is None; expected a whole number"),
        ({"scale": "2"}, "scale is '2'; expected a number"),
        ({"scale": False}, "scale is False; expected a number"),
        ({"name": 3}, "name is 3; expected a text"),
        (
            {"mode": "exat"},
            "mode is 'exat'; expected fast, exact or 3; did you mean 'exact'?",
        ),
        ({"mode": "3"}, "mode is '3'; expected fast, exact or 3"),
        ({"limit": "4"}, "limit is '4'; expected a whole number or null"),
        ({"share": "x"}, "share is 'x'; expected a number or null"),
        (
            {"orders": "abc"},
            "orders is 'abc'; expected a list of whole numbers or null",
        ),
        ({"orders": 3}, "orders is 3; expected a list of whole numbers or null"),
        (
            {"orders": [1, "b"]},
            r"orders is \[1, 'b'\]; expected a list of whole numbers or null",
        ),
        ({"pair": {"a": 1}}, "pair is {'a': 1}; expected a list of numbers"),
        ({"noted": "x"}, "noted is 'x'; expected a whole number"),
    ],
)
def test_a_value_of_another_type_is_refused(params, message):
    with pytest.raises(HarnessError, match=message) as caught:
        check(**params)
    assert caught.value.parameter == next(iter(params))
    assert caught.value.value is next(iter(params.values()))


def test_unknown_and_missing_parameters_are_named():
    def factory(*, first, second=1): ...

    with pytest.raises(
        UnknownName,
        match="has no parameter 'secnd'; did you mean 'second'.; parameters are",
    ) as caught:
        check_parameters("reader 'r'", factory, {"secnd": 1})
    assert caught.value.parameter == "secnd"
    assert "did you mean 'second'?" in str(caught.value)
    with pytest.raises(HarnessError, match="reader 'r' needs the parameter 'first'"):
        check_parameters("reader 'r'", factory, {})
    with pytest.raises(UnknownName, match="parameters are: none"):
        check_parameters("reader 'r'", lambda: None, {"x": 1})


def test_a_catch_all_accepts_any_name():
    def factory(*, first=1, **rest): ...

    check_parameters("reader 'r'", factory, {"other": 1})
    assert list(parameters(factory)) == ["first"]


def test_hints_that_cannot_be_evaluated_are_left_out():
    def factory(amount: Decimal, n: int = 1): ...

    assert type_hints(factory) == {"n": int}
    with pytest.raises(HarnessError, match="n is 'x'"):
        check_parameters("reader 'r'", factory, {"amount": 1, "n": "x"})


def test_parameters_of_a_dataclass_are_checked():
    @dataclass
    class Point(MeanMetric):
        n: int = 1

    check_parameters("metric 'p'", Point, {"n": 2})
    with pytest.raises(HarnessError, match="n is 'x'"):
        check_parameters("metric 'p'", Point, {"n": "x"})


def test_lists_that_are_one_value_are_told_from_axes_of_the_grid():
    def create(
        device: str | Annotated[list[str], WholeMark] = "auto",
        names: Sequence[str] = (),
        sizes: int | list[int] = 1,
    ):
        return device, names, sizes

    assert list_parameters(create) == {"device", "names"}
    check_parameters("the metric", create, {"device": ["cuda:0", "cuda:1"]})
    with pytest.raises(InputError, match="device is 3; expected a text or a list"):
        check_parameters("the metric", create, {"device": 3})


def test_path_annotations_are_recognised():
    def factory(
        plain: str,
        path: PathParam,
        optional: PathParam | None = None,
        several: str | list[PathParam] = "",
        like: PathLike = "",
    ): ...

    assert path_parameters(factory) == {"path", "optional", "several", "like"}
    with pytest.raises(HarnessError, match="path is 3; expected a text"):
        check_parameters("reader 'r'", factory, {"plain": "", "path": 3})


@pytest.mark.parametrize(
    ("name", "numpy"),
    [
        ("Parameters", False),
        ("Values", False),
        ("PathMark", False),
        ("PathLike", False),
        ("Metric", True),
    ],
)
def test_only_contracts_with_arrays_import_numpy(name, numpy):
    code = (
        f"import sys; from harness.contracts import {name}; "
        "sys.exit('numpy' in sys.modules)"
    )
    assert (
        bool(subprocess.run([sys.executable, "-c", code], check=False).returncode)
        is numpy
    )


def test_every_name_can_be_imported_and_is_listed():
    for name in harness.contracts.__all__:
        assert getattr(harness.contracts, name) is not None
    assert set(harness.contracts.__all__) <= set(dir(harness.contracts))


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Metrics'"):
        harness.contracts.Metrics  # noqa: B018


class Bounded:
    """One parameter of each type with bounds."""

    @check_arguments
    def __init__(
        self,
        *texts: str,
        count: Count = 1,
        order: Order = 1,
        positive: Positive = 1.0,
        share: Share | None = None,
        entropy: Annotated[float, Ge(0), MayBeInfinite] = 1.0,
        orders: Sequence[Count] = (),
        prices: Mapping[Literal["input", "output"], Share | None] | None = None,
    ) -> None:
        self.order = order


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"count": 0}, "a whole number of at least 1"),
        ({"count": True}, "a whole number of at least 1"),
        ({"order": 5}, "a whole number from 1 to 4"),
        ({"positive": 0}, "a number above 0"),
        ({"positive": float("nan")}, "a number above 0"),
        ({"positive": float("inf")}, "a number above 0"),
        ({"share": 1.5}, "a number from 0 to 1 or null"),
        ({"entropy": -1}, "a number of at least 0"),
        ({"orders": [0]}, "a list of whole numbers of at least 1"),
        (
            {"prices": {"cached": 1}},
            "a mapping of input or output to numbers from 0 to 1 or null or null",
        ),
        (
            {"prices": {"input": 2}},
            "a mapping of input or output to numbers from 0 to 1 or null or null",
        ),
        (
            {"prices": 3},
            "a mapping of input or output to numbers from 0 to 1 or null or null",
        ),
    ],
)
def test_values_out_of_bounds_are_refused_where_a_program_constructs(params, expected):
    name, value = next(iter(params.items()))
    with pytest.raises(InputError) as caught:
        Bounded("a", **params)
    assert str(caught.value) == f"Bounded: {name} is {value!r}; expected {expected}"
    assert caught.value.parameter == name


def test_values_within_bounds_pass():
    assert (
        Bounded(
            "a",
            "b",
            order=np.int64(4),
            share=1,
            entropy=float("inf"),
            prices={"input": 0.5},
        ).order
        == 4
    )


def test_fields_of_a_dataclass_are_checked_when_it_is_made():
    @dataclass
    class Client:
        concurrency: Count = 1

        def __post_init__(self) -> None:
            check_fields("openai", self)

    assert Client(2).concurrency == 2
    with pytest.raises(
        InputError,
        match="openai: concurrency is 0; expected a whole number of at least 1",
    ):
        Client(0)
