"""Validation of spec values: ranges, components, counts, views."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from harness.spec.models import (
    BootstrapSpec,
    DecodingSpec,
    SignificanceSpec,
    Spec,
    ViewSpec,
    expand_ranges,
)

MINIMAL = {
    "task": "t",
    "dataset": {"reader": "words", "count": 3},
    "models": ["echo"],
    "metrics": ["length"],
}


def spec(**values):
    return Spec.model_validate({**MINIMAL, **values})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1..4", [1, 2, 3, 4]),
        (" -1 .. 1 ", [-1, 0, 1]),
        (["1..2", 8, "5..6"], [1, 2, 8, 5, 6]),
        ("4..1", []),
        ("1...4", "1...4"),
        (3, 3),
        (None, None),
    ],
)
def test_ranges(value, expected):
    assert expand_ranges(value) == expected


def test_a_grid_has_at_most_ten_thousand_points():
    whole = DecodingSpec(
        beams=list(range(1, 101)), top_k=list(range(1, 51)), temperature=[0.5, 1.0]
    )
    assert (len(whole.beams), len(whole.top_k)) == (100, 50)
    with pytest.raises(
        ValidationError,
        match="a grid of 2 x 50 x 101 decodings; a run has at most 10,000",
    ):
        DecodingSpec(
            beams=list(range(1, 102)), top_k=list(range(1, 51)), temperature=[0.5, 1.0]
        )


def test_defaults_and_parameters_of_the_reader():
    item = spec()
    assert item.dataset.params == {"count": 3}
    assert (item.seed, item.limit, item.references, item.significance.method) == (
        0,
        None,
        None,
        "none",
    )
    assert item.decoding == DecodingSpec()


def test_components_are_names_or_one_name_with_parameters():
    assert spec(metrics=["a", {"b": None}, {"c": {"n": 1}}]).metrics == [
        "a",
        {"b": {}},
        {"c": {"n": 1}},
    ]


def test_significance_may_be_a_method_alone():
    assert spec(significance="exact").significance == SignificanceSpec(method="exact")


def test_axes_are_values_or_lists():
    item = spec(
        decoding={"candidates": "1..3", "temperature": [0.5, 1]}, references=[1, 2]
    )
    assert (item.decoding.candidates, item.decoding.temperature, item.references) == (
        [1, 2, 3],
        [0.5, 1],
        [1, 2],
    )


def test_references_are_drawn_unless_the_first_are_asked_for():
    assert (spec().reference_counts, spec().reference_subset) == ((None,), "")
    assert (
        spec(references="1..3", seed=7).reference_counts,
        spec(references=1, seed=7).reference_subset,
    ) == ((1, 2, 3), "random(7)")
    first = spec(references={"first": "2..3"})
    assert (first.reference_counts, first.reference_subset) == ((2, 3), "first")
    assert spec(references=first.model_dump()["references"]) == first
    assert spec(sizes="equal").reference_subset == "random(0)"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"task": ""}, "at least 1 character"),
        ({"task": "a\nb"}, "match pattern"),
        ({"models": []}, "at least 1 item"),
        (
            {"metrics": [{"a": {}, "b": {}}]},
            "expected a name or one name with its parameters",
        ),
        ({"metrics": [{"a": 3}]}, "expected a name or one name with its parameters"),
        ({"metrics": [3]}, "expected a name or one name with its parameters"),
        ({"nonsense": 1}, "Extra inputs are not permitted"),
        ({"seed": -1}, "greater than or equal to 0"),
        ({"seed": 2**63}, "less than"),
        ({"limit": -1}, "greater than or equal to 0"),
        ({"references": 0}, "greater than or equal to 1"),
        ({"references": [1, 0]}, "greater than or equal to 1"),
        ({"references": {"first": 0}}, "greater than or equal to 1"),
        ({"references": {"frist": 1}}, "Extra inputs are not permitted"),
        ({"decoding": {"temperature": 0}}, "a temperature is above 0"),
        ({"decoding": {"temperature": [1, -1]}}, "found -1"),
        (
            {"decoding": {"temperature": math.inf}},
            "found inf; expected a finite number",
        ),
        (
            {"decoding": {"length_penalty": [math.nan]}},
            "found nan; expected a finite number",
        ),
        (
            {"decoding": {"temperature": []}},
            "no value; expected one or several, since an empty list leaves nothing "
            "to run",
        ),
        (
            {"decoding": {"strategy": []}},
            "no value; expected one or several, since an empty list leaves nothing "
            "to run",
        ),
        (
            {"decoding": {"candidates": "4..1"}},
            "no value; expected one or several, since an empty list leaves nothing "
            "to run",
        ),
        (
            {"references": []},
            "no value; expected one or several, since an empty list leaves nothing "
            "to run",
        ),
        ({"decoding": {"top_p": 1.5}}, "found 1.5; expected a share"),
        ({"decoding": {"top_p": [0.5, 0]}}, "found 0; expected a share"),
        ({"decoding": {"candidates": 0}}, "greater than or equal to 1"),
        ({"significance": "exakt"}, "'none', 'exact' or 'monte-carlo'"),
        ({"significance": {"fdr": 1}}, "less than 1"),
        ({"bootstrap": {"samples": -1}}, "greater than or equal to 0"),
        ({"views": [{"plot": "pie"}]}, "'line', 'bar'"),
        (
            {"views": [{"plot": "verdicts"}]},
            "'plot: verdicts' and 'against: MODEL' go together",
        ),
        ({"views": [{"plot": "table", "against": "m"}]}, "go together"),
        (
            {"views": [{"plot": "table", "examples": 3}]},
            "examples belongs to 'plot: texts'",
        ),
        ({"views": [{"plot": "texts", "y": ["a", "b"]}]}, "one metric"),
    ],
)
def test_bad_values_are_refused(values, message):
    with pytest.raises(ValidationError, match=message):
        spec(**values)


def test_specs_are_immutable():
    with pytest.raises(ValidationError, match="frozen"):
        spec().seed = 3


def test_views_have_metrics_and_a_heading():
    assert ViewSpec(plot="table").heading == "all metrics"
    assert ViewSpec(plot="table", y=["a", "p:b"]).heading == "a, p:b"
    assert ViewSpec(plot="table", y="a", title="T").heading == "T"
    assert ViewSpec(plot="table", y="a").metrics == ["a"]
    assert BootstrapSpec(samples=0).samples == 0


def test_sizes_are_all_or_equal():
    assert spec().sizes == "all"
    assert spec(sizes="equal").sizes == "equal"
    with pytest.raises(ValidationError, match="'all' or 'equal'"):
        spec(sizes="smallest")
    assert SignificanceSpec().scorings == 200_000
    with pytest.raises(ValidationError):
        SignificanceSpec(scorings=0)


@pytest.mark.parametrize(
    "name", ["..", ".", "../outside", "a/../b", "/tmp/outside", "a//b"]
)
def test_a_task_does_not_leave_the_folder_of_runs(name):
    with pytest.raises(
        ValidationError,
        match=rf"found {name}; expected a name for the folder of the run",
    ):
        spec(task=name)
    assert spec(task="studies/a..b").task == "studies/a..b"
