"""Result records: numbers of JSON, fields by path, sizes that numbers depend on,
texts of the decoding.
"""

from __future__ import annotations

import math
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from harness.contracts import Decoding
from harness.rundir.provenance import check_results
from harness.rundir.records import (
    ResultRecord,
    changed_fields,
    decoding_text,
    lookup,
    number,
    sizes_of_level,
    text_of_fields,
    varying_fields,
)


def record(**fields: Any) -> ResultRecord:
    return ResultRecord(model="a", metric="m", **fields)


@pytest.mark.parametrize(
    ("decoding", "text"),
    [
        ({}, ""),
        (
            {"strategy": "nucleus", "temperature": 0.7, "candidates": 10},
            "nucleus T=0.7 n=10",
        ),
        ({"temperature": 1.0}, "T=1"),
        ({"temperature": 0.1234561}, "T=0.1234561"),
        ({"temperature": 0.1234567}, "T=0.1234567"),
    ],
)
def test_a_text_has_every_digit_of_its_numbers(decoding, text):
    assert decoding_text(decoding) == text


@pytest.mark.parametrize(
    ("decodings", "texts"),
    [
        ([{"temperature": 0.5, "candidates": 5}, {"candidates": 5}], ["T=0.5", "T=1"]),
        (
            [
                {"candidates": 5, "temperature": 0.5},
                {"temperature": 2.0, "candidates": 10},
            ],
            ["T=0.5 n=5", "T=2 n=10"],
        ),
        (
            [{"strategy": "nucleus", "top_p": 0.9}, {}],
            ["nucleus p=0.9", "greedy p=none"],
        ),
        ([{"references": 2}, {}], ["m=2", "m=all"]),
        ([{"temperature": 0.5}], [""]),
        ([{"temperature": 1.0}, {}], ["", ""]),
    ],
)
def test_the_fields_that_differ_are_named_with_their_defaults(decodings, texts):
    varying = varying_fields(decodings)
    assert [text_of_fields(decoding, varying) for decoding in decodings] == texts


def test_the_order_of_the_words_does_not_depend_on_that_of_the_file():
    fields = {
        "max_length": 20,
        "references": 3,
        "candidates": 5,
        "temperature": 0.5,
        "strategy": "sample",
    }
    shuffled = dict(sorted(fields.items()))
    assert (
        decoding_text(fields)
        == decoding_text(shuffled)
        == "sample T=0.5 n=5 max_length=20 m=3"
    )


def test_a_record_has_no_examples_and_no_time_where_none_were_counted():
    empty = record()
    assert (empty.n, empty.skipped, empty.seconds) == (0, 0, 0.0)


def test_numbers_of_json():
    assert math.isnan(number(None))
    assert [number(value) for value in ("inf", "-inf", 3, 0.5)] == [
        math.inf,
        -math.inf,
        3.0,
        0.5,
    ]
    assert all(isinstance(number(value), float) for value in (None, 3))
    for value in (True, "3", "nan", [1]):
        with pytest.raises(ValueError, match="^expected a number or null$"):
            number(value)
    with pytest.raises(ValueError, match="^expected a number of at most 1.8e308$"):
        number(10**400)


def test_combined_p_values_and_counts_stay_as_they_are_written():
    p = {"harmonic_mean": 0.25, "tested": 7, "floor": None}
    (read,) = check_results(
        {
            "results": [
                {"model": "a", "metric": "m", "value": 1, "ci95": [0, "inf"], "p": p}
            ]
        },
        Path("r"),
    ).results
    assert read.p == p and isinstance((read.p or {})["tested"], int)
    assert (read.value, read.ci95, read.harmonic_p) == (1.0, (0.0, math.inf), 0.25)
    assert isinstance(read.value, float)
    assert record().harmonic_p is None


def test_a_record_is_written_without_the_fields_that_it_does_not_have():
    always: dict[str, Any] = {
        "model": "a",
        "model_params": {},
        "task": "",
        "decoding": {},
        "metric": "m",
        "params": {},
        "higher_is_better": None,
        "level": "item",
        "signature": "",
        "value": 0.5,
        "ci95": None,
        "p_value": None,
        "p_method": None,
        "n": 0,
        "skipped": 0,
        "seconds": 0.0,
    }
    assert record(value=0.5).to_dict() == always
    written = record(
        value=0.5,
        ci95=(0.25, 0.75),
        statistic="kendall_c",
        params=MappingProxyType({"k": 1}),
        depends_on=(),
    ).to_dict()
    assert written == {
        **always,
        "ci95": [0.25, 0.75],
        "statistic": "kendall_c",
        "params": {"k": 1},
        "depends_on": (),
    }
    assert isinstance(written["ci95"], list) and isinstance(written["params"], dict)
    assert list(written)[:8] == [
        "model",
        "model_params",
        "task",
        "decoding",
        "metric",
        "statistic",
        "params",
        "higher_is_better",
    ]


@pytest.mark.parametrize(
    ("group", "text"),
    [("all", "kendall_c"), ("HC", "kendall_c (HC)"), ("mean", "kendall_c (mean)")],
)
def test_an_agreement_has_its_group(group, text):
    assert record(statistic="kendall_c", group=group).agreement == text


@pytest.mark.parametrize(
    ("level", "depends_on", "sizes", "expected"),
    [
        (
            "item",
            None,
            {"candidates": [1], "references": [4, 5]},
            (("references", (4, 5)),),
        ),
        (
            "set",
            None,
            {"candidates": [1], "references": [4, 5]},
            (("candidates", (1,)), ("references", (4, 5))),
        ),
        ("set", None, {"references": [5]}, (("references", (5,)),)),
        ("model", None, {"candidates": [1], "references": [5]}, ()),
        (
            "item",
            ["candidates"],
            {"candidates": [1], "references": [5]},
            (("candidates", (1,)),),
        ),
        ("set", [], {"candidates": [1], "references": [5]}, ()),
        ("set", None, None, ()),
    ],
)
def test_numbers_compare_within_the_sizes_that_they_depend_on(
    level, depends_on, sizes, expected
):
    assert (
        record(level=level, depends_on=depends_on, sizes=sizes).compared_sizes
        == expected
    )
    if depends_on is None and sizes and len(sizes) == 2:
        assert list(sizes_of_level(level)) == [name for name, _ in expected]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("model", "a"),
        ("nothing", None),
        ("params.k", 3),
        ("params.inner.name", "bleu"),
        ("params.inner.name.le", None),
        ("params.other", None),
        ("decoding.temperature", 0.5),
        ("decoding.strategy", "greedy"),
        ("decoding.top_k", None),
        ("decoding.other", None),
        ("decoding.options.alpha", None),
        ("params.strategy", None),
        ("a.strategy", None),
    ],
)
def test_fields_by_path(path, value):
    assert (
        lookup(
            record(
                params={"k": 3, "inner": {"name": "bleu"}},
                decoding={"temperature": 0.5},
            ),
            path,
        )
        == value
    )


def test_fields_of_a_decoding_that_differ_from_the_defaults():
    assert changed_fields(Decoding()) == {}
    options = MappingProxyType({"alpha": 1})
    changed = changed_fields(Decoding("sample", 0.5, 0.9, 4, 2, -1.0, 3, 20, options))
    assert changed == {
        "strategy": "sample",
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 4,
        "beams": 2,
        "length_penalty": -1.0,
        "candidates": 3,
        "max_length": 20,
        "options": {"alpha": 1},
    }
    assert isinstance(changed["options"], dict)
    assert (
        record(decoding={"temperature": 0.5, "candidates": 3}).decoding_key
        == '{"candidates": 3, "temperature": 0.5}'
    )
