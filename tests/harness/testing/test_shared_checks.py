"""Checks that several kinds share: each one detects its fault."""

from __future__ import annotations

import random
import socket
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from harness.contracts import Parameterised
from harness.errors import HarnessError
from harness.testing import shared_checks
from harness.testing.base_subject import BaseSubject
from harness.testing.results import Checks, NotApplicable, Violation
from harness.testing.shared_checks import (
    constructor_values,
    have_equal_attributes,
    pickled_copy,
    second_instance,
    variants,
)

CASES = [
    ("signature", "number", "signature() returns 7; expected a text"),
    ("signature", "blank", "signature() returns ' '; expected a text"),
    ("signature", "lines", "signature() has several lines: 'one\\ntwo'"),
    (
        "signature",
        "address",
        "signature() contains an object's address, which changes per process",
    ),
    ("signature", "call", "signature() changes from call to call"),
    (
        "signature",
        "instance",
        "signature() differs between two equal instances: 'multiplier|",
    ),
    ("deterministic", "random", "returns other numbers when run again: ["),
    (
        "random_state",
        "draws",
        "draws from Python's global random state; use a seeded random.Random",
    ),
    ("pickles", "lambda", "does not pickle, as worker processes require: "),
    (
        "parameters",
        "parameter",
        "factor=2.25 changes the numbers but not the signature 'multiplier'",
    ),
    ("signature_in_use", "use", "the signature changes when the component is used"),
    ("prints_nothing", "prints", "prints to stdout: 'working\\n'"),
    ("writes_nothing", "writes", "writes into the working folder: values.txt"),
    ("no_network", "connects", "connects to ('127.0.0.1', 9)"),
]


class Multiplier:
    """Multiples of three numbers."""

    name = "multiplier"

    def __init__(self, *, factor: float = 2.0, fault: str = "") -> None:
        self.factor = factor
        self.fault = fault
        self.calls = 0
        if fault == "lambda":
            self.function = lambda: None

    def signature(self):
        text = {
            "number": 7,
            "blank": " ",
            "lines": "one\ntwo",
            "address": f"multiplier|{object()!r}",
            "call": f"multiplier|{random.random()}",
            "instance": f"multiplier|{id(self)}",
            "use": f"multiplier|{self.calls}",
            "parameter": "multiplier",
        }
        return text.get(self.fault, f"multiplier|{self.factor}")

    def values(self):
        self.calls += 1
        if self.fault == "raises":
            raise ZeroDivisionError("by zero")
        if self.fault == "prints":
            print("working")
        if self.fault == "writes":
            Path("values.txt").write_text("2")
        if self.fault == "connects":
            with socket.socket() as connection:
                connection.connect_ex(("127.0.0.1", 9))
        noise = random.random() if self.fault in ("random", "draws") else 0
        return [
            k * self.factor + (noise if self.fault == "random" else 0) for k in range(3)
        ]


class Undocumented(Multiplier):
    __doc__ = ""


class Subject(BaseSubject[list[float]]):
    """Subject of the checks of this module."""

    noun = "numbers"
    base_check = "deterministic"

    def compute(self, component: Any = None) -> list[float]:
        return (component or self.component).values()

    def difference(self, expected: list[float], actual: list[float]) -> str:
        return "" if expected == actual else f"{expected} and {actual}"


NAMES = sorted({name for name, *_ in CASES} | {"described", "name"})


def run(name: str, component: Any, **settings: Any):
    checks = Checks("multipliers")
    checks.add(getattr(shared_checks, name))
    return checks.run(Subject(component, **settings))[0]


@pytest.mark.parametrize(("name", "fault", "reason"), CASES)
def test_a_fault_is_detected(name, fault, reason):
    result = run(name, Multiplier(fault=fault))
    assert result.failed
    assert result.reason.startswith(reason)


@pytest.mark.parametrize("name", NAMES)
def test_a_sound_component_passes(name):
    assert run(name, Multiplier()).status == "pass"


@pytest.mark.parametrize("name", ["unnamed", " ", 3])
def test_a_component_without_a_name(name):
    component = Multiplier()
    component.name = name
    assert run("name", component).reason == f"name is {name!r}"


def test_a_class_without_a_docstring():
    assert (
        run("described", Undocumented()).reason
        == "the class Undocumented has no docstring"
    )


@pytest.mark.parametrize(
    "name",
    [
        "deterministic",
        "random_state",
        "pickles",
        "parameters",
        "prints_nothing",
        "no_network",
    ],
)
def test_a_component_that_raises_is_reported_by_its_base_check(name):
    result = run(name, Multiplier(fault="raises"))
    assert result.status == "not applicable"
    assert (
        result.reason == "returns no numbers (ZeroDivisionError): see 'deterministic'"
    )


def test_a_class_of_a_function_cannot_be_pickled():
    class Local(Multiplier):
        """Class of a function."""

    assert "cannot be imported by a worker process" in run("pickles", Local()).reason


def test_recorded_parameters_are_used_for_a_second_instance():
    component = Multiplier(factor=3.0)
    del component.factor
    component.__dict__["factor"] = np.float64(3.0)  # not a plain value
    assert run("signature", component, parameters={"factor": 3.0}).status == "pass"


def test_a_component_without_parameters():
    class Constant:
        """The number 1."""

        def signature(self):
            return "constant"

        def values(self):
            return [1.0]

    result = run("parameters", Constant())
    assert (result.status, result.reason) == ("not applicable", "has no parameters")


def test_every_shared_check_is_tested():
    public = {
        name
        for name, value in vars(shared_checks).items()
        if list(getattr(value, "__annotations__", {}).values())[:1] == ["AnySubject"]
        and not name.startswith("_")
    }
    # tested with adapters
    assert public - set(NAMES) == {"fingerprint", "fingerprint_in_use"}


class Component:
    """A component with parameters of several types."""

    def __init__(
        self,
        n: int = 4,
        *,
        lower: bool = True,
        scale: float = 0.5,
        mode: Literal["paper", "script"] = "paper",
        optional: Literal["mean", "max"] | None = None,
        path: str = "data",
    ) -> None:
        if n > 4:
            raise HarnessError("n is at most 4")
        self.n = n
        self.lower = lower
        self.scale = scale
        self.mode = mode
        self.optional = optional
        self.path = path


class Recorded(Parameterised):
    """A component that records its parameters."""

    def __init__(self, *, n: int = 4) -> None:
        self.order = n


def test_each_parameter_is_changed_alone():
    changes = dict(variants(Component()))
    assert set(changes) == {
        "n=3",
        "lower=False",
        "scale=0.75",
        "mode='script'",
        "optional='mean'",
    }
    assert changes["scale=0.75"].scale == 0.75
    assert changes["scale=0.75"].n == 4


def test_a_variant_keeps_the_other_parameters():
    (change, variant), *_ = variants(Component(2, mode="script"))
    assert (change, variant.n, variant.mode) == ("n=3", 3, "script")


def test_constructor_values_are_recorded_or_attributes():
    assert constructor_values(Component(3))["n"] == 3
    assert constructor_values(Recorded(n=2)) == {"n": 2}
    assert constructor_values(Recorded(n=2), {"n": 9}) == {"n": 9}


def test_a_second_instance():
    assert second_instance(Component(), {"n": 3}).n == 3
    with pytest.raises(
        NotApplicable, match="a second Component cannot be constructed: n is at most 4"
    ):
        second_instance(Component(), {"n": 5})


def test_equal_attributes():
    assert have_equal_attributes(Component(3), Component(3))
    assert not have_equal_attributes(Component(3), Component(4))
    assert have_equal_attributes(Recorded(n=2), object())


def test_a_pickled_copy():
    assert pickled_copy(Component(3)).n == 3
    component = Component()
    component.mode = lambda: None  # type: ignore[assignment]
    with pytest.raises(Violation, match="does not pickle, as worker processes require"):
        pickled_copy(component)
