"""Parts of a task: values of a metadata field, units of each part,
and refused fields.
"""

import numpy as np
import pytest

from harness.errors import HarnessError, InputError
from harness_metrics.choice import parts


def test_values_are_texts_in_the_order_of_the_examples():
    meta = [{"kind": "swap"}, {"kind": 2, "other": None}, {"kind": True}]
    assert parts.values_of("choice", meta, "kind") == ("swap", "2", "True")


@pytest.mark.parametrize(
    "meta, message",
    [
        (
            [{"kind": "a"}, {"kid": "a"}],
            "choice: example 1 has no 'kind' in its metadata; did you mean 'kid'",
        ),
        (
            [{"x": 1, "y": 2}],
            "example 0 has no 'kind' in its metadata; its fields are x, y",
        ),
        ([{}], "example 0 has no 'kind' in its metadata; it has no metadata"),
        ([{"kind": None}], "example 0 has no 'kind'"),
        ([{"kind": ["a"]}], r"the 'kind' of example 0 is \['a'\]; expected a text"),
        (
            [{"kind": k} for k in range(101)],
            "'kind' has 101 values; expected at most 100 parts",
        ),
    ],
)
def test_refused_metadata(meta, message):
    with pytest.raises(InputError, match=message):
        parts.values_of("choice", meta, "kind")


def test_units_follow_the_order_of_first_appearance():
    units = parts.units_of("choice", ["b", "b", "a", "a", "b", "b"], "kind", 2)
    assert list(units) == ["b", "a"]
    assert np.array_equal(units["b"], [0, 2]) and np.array_equal(units["a"], [1])


def test_units_of_two_values_and_metrics_without_metadata_are_refused():
    with pytest.raises(
        InputError,
        match="choice: examples 2 to 3 belong together and have 'kind' a and b; "
        "expected one value",
    ):
        parts.units_of("choice", ["a", "a", "a", "b"], "kind", 2)
    with pytest.raises(
        HarnessError, match="by: kind reads the metadata of examples; it works in runs"
    ):
        parts.units_of("choice", None, "kind", 1)


@pytest.mark.parametrize("value", ["", 3, ["kind"]])
def test_a_field_is_named_by_a_text(value):
    with pytest.raises(HarnessError, match="expected the name of a metadata field"):
        parts.check_key("choice", value)
    assert parts.check_key("choice", None) is None


def test_no_part_has_no_column_of_its_own_size():
    assert (
        parts.sizes(["accuracy"], ("a",), None)
        == parts.sizes(["accuracy"], None, "kind")
        == {}
    )
