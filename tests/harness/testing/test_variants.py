"""Further instances of a component's class."""

from __future__ import annotations

from typing import Literal

import pytest

from harness.contracts import Parameterised
from harness.errors import HarnessError
from harness.testing.results import NotApplicable, Violation
from harness.testing.variants import constructor_values, have_equal_attributes, pickled_copy, second_instance, variants


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
        self.n, self.lower, self.scale, self.mode, self.optional, self.path = n, lower, scale, mode, optional, path


class Recorded(Parameterised):
    """A component that records its parameters."""

    def __init__(self, *, n: int = 4) -> None:
        self.order = n


def test_each_parameter_is_changed_alone():
    changes = dict(variants(Component()))
    assert set(changes) == {"n=3", "lower=False", "scale=0.75", "mode='script'", "optional='mean'"}
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
    with pytest.raises(NotApplicable, match="a second Component cannot be constructed: n is at most 4"):
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
