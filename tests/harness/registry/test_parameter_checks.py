"""Constructor parameters: unknown, missing and mistyped ones; path annotations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import numpy as np
import pytest

from harness.contracts import MeanMetric, PathLike, PathParam
from harness.errors import HarnessError, UnknownName
from harness.registry.parameter_checks import check_parameters, parameters, path_parameters, type_hints

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
        limit: Optional[int] = None,  # noqa: UP045  (both spellings of an optional type)
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
        ({"mode": "exat"}, "mode is 'exat'; expected fast, exact, 3; did you mean 'exact'?"),
        ({"mode": "3"}, "mode is '3'; expected fast, exact, 3"),
        ({"limit": "4"}, "limit is '4'; expected a whole number, None|limit is '4'; expected None, a whole number"),
        ({"share": "x"}, "share is 'x'; expected None, a number"),
        ({"orders": "abc"}, "orders is 'abc'; expected None, a list of whole numbers"),
        ({"orders": 3}, "orders is 3; expected None, a list of whole numbers"),
        ({"orders": [1, "b"]}, r"orders is \[1, 'b'\]; expected None, a list of whole numbers"),
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

    with pytest.raises(UnknownName, match="has no parameter 'secnd'; did you mean 'second'.; parameters are") as caught:
        check_parameters("reader 'r'", factory, {"secnd": 1})
    assert (caught.value.parameter, caught.value.nearest) == ("secnd", "second")
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
