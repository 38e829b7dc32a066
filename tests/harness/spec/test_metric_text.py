"""Metrics as texts of the command line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.spec.metric_text import parse_metric, split_metrics, split_outside_brackets


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cider", {"cider": {}}),
        (" cider : n = 2 ", {"cider": {"n": 2}}),
        ("bleu:n=4,tokenizer=none", {"bleu": {"n": 4, "tokenizer": "none"}}),
        (
            "m:a=true,b=1.5,c=null,d=",
            {"m": {"a": True, "b": 1.5, "c": None, "d": None}},
        ),
        ("m:a=[1, 2],b={c: [3, 4]}", {"m": {"a": [1, 2], "b": {"c": [3, 4]}}}),
        ("m:a=x=y", {"m": {"a": "x=y"}}),
        ("m:", {"m": {}}),
    ],
)
def test_names_and_parameters(text, expected):
    assert parse_metric(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "m:abc",
            "metric 'm:abc': expected NAME or NAME:PARAMETER=VALUE,...; found 'abc'",
        ),
        ("m:=3", "found '=3'"),
        ("m:a=[", "the value of 'a' is not readable: '\\['"),
    ],
)
def test_mistakes_are_quoted(text, message):
    with pytest.raises(HarnessError, match=message):
        parse_metric(text)


@given(st.lists(st.text("ab=", max_size=4), min_size=1, max_size=5))
def test_joined_parts_are_split_again(parts):
    assert split_outside_brackets(",".join(parts)) == parts


def test_commas_inside_brackets_do_not_split():
    assert split_outside_brackets("a={b: [1,2],c: 3},d") == ["a={b: [1,2],c: 3}", "d"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bleu,cider", ["bleu", "cider"]),
        (" bleu , cider,", ["bleu", "cider"]),
        ("trm:distance=cider,pooling=pooled", ["trm:distance=cider,pooling=pooled"]),
        (
            "bleu,trm:distance=cider,pooling=pooled,meteor",
            ["bleu", "trm:distance=cider,pooling=pooled", "meteor"],
        ),
        (
            "trm:distance=[bert,cider],best:metric=meteor",
            ["trm:distance=[bert,cider]", "best:metric=meteor"],
        ),
        (
            "wmd:vectors=a:b.vec,lower=true,cider",
            ["wmd:vectors=a:b.vec,lower=true", "cider"],
        ),
        ("m:a={b: c,d: [1,2]},n", ["m:a={b: c,d: [1,2]}", "n"]),
    ],
)
def test_lists_of_metrics(text, expected):
    assert split_metrics(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bleu,n=2", "'n=2' belongs to no metric; write bleu:n=2"),
        ("n=2", "write NAME:n=2"),
        (",", "expected NAME"),
    ],
)
def test_lists_with_stray_parameters_are_refused(text, message):
    with pytest.raises(HarnessError, match=message):
        split_metrics(text)


def test_metric_lists_with_brackets():
    assert split_metrics("trm:distance=[meteor,bert],cider") == [
        "trm:distance=[meteor,bert]",
        "cider",
    ]
    assert split_metrics(
        "bleu:n=4,tokenizer=none, rouge,trm:distance={cider: {df: x, tokenizer: "
        "none}},pooling=pooled"
    ) == [
        "bleu:n=4,tokenizer=none",
        "rouge",
        "trm:distance={cider: {df: x, tokenizer: none}},pooling=pooled",
    ]
