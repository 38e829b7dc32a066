"""Plans of metrics: grids of parameters, labels, metrics of level model."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import harness
from harness.contracts import MetricSpec
from harness.errors import HarnessError, MissingExtra
from harness.registry import current
from harness.run.metric_plan import (
    MetricPlan,
    TokenMetricPlan,
    caption_plans,
    default_metrics,
    expand_params,
    metric_labels,
    metric_plan,
    metric_plans,
    unique,
    with_unique_labels,
)


def fake(name: str, level: Any = "item", **members: Any) -> Any:
    return SimpleNamespace(spec=MetricSpec(name, None, level=level), **members)


def plan(label: str, **params: Any) -> MetricPlan:
    return MetricPlan(label, label, params, fake(label))


def test_lists_are_axes_except_those_that_are_lists_by_nature():
    assert expand_params({"a": [1, 2], "b": ["x", "y"], "c": 3}) == [
        {"a": 1, "b": "x", "c": 3}, {"a": 1, "b": "y", "c": 3}, {"a": 2, "b": "x", "c": 3}, {"a": 2, "b": "y", "c": 3},
    ]  # fmt: skip
    assert expand_params({"a": [1, 2]}, ("a",)) == [{"a": [1, 2]}]
    assert expand_params({}) == [{}]


def test_parameters_tell_equal_labels_apart():
    plans = [plan("trm(a)", distance="a", n=1), plan("trm(a)", distance="a", n=2), plan("other", n=3)]
    assert metric_labels(plans) == ["trm(a)[n=1]", "trm(a)[n=2]", "other"]
    assert metric_labels([plan("a"), plan("a")]) == ["a", "a #2"]
    assert [item.label for item in with_unique_labels(plans)] == metric_labels(plans)


@pytest.mark.parametrize(("labels", "expected"), [(["a", "a", "a"], ["a", "a #2", "a #3"]), ([], []), (["a", "b"], ["a", "b"])])
def test_repeated_labels_are_numbered(labels, expected):
    assert unique(labels) == expected


def test_metrics_of_level_model_have_plans_of_their_own():
    plans = [metric_plan("a", {}, fake("a")), metric_plan("b", {"n": 1}, fake("b", level="model"))]
    assert [type(item) for item in plans] == [MetricPlan, TokenMetricPlan]
    assert caption_plans(plans) == plans[:1]


def test_names_texts_mappings_and_instances(project):
    instance = fake("mine")
    plans = metric_plans(["length", "length:scale=2", {"length": {"scale": [3.0, 4.0], "undefined": ["e1"]}}, instance])
    assert [item.params for item in plans] == [
        {}, {"scale": 2}, {"scale": 3.0, "undefined": ["e1"]}, {"scale": 4.0, "undefined": ["e1"]}, {},
    ]  # fmt: skip
    assert len({item.label for item in plans}) == 5
    assert plans[-1].metric is instance
    with pytest.raises(HarnessError, match="unknown metric 'lenth'"):
        metric_plans(["lenth"])


def test_details_belong_to_metrics_that_have_them():
    with_details = MetricPlan("a", "a", {}, fake("a", details=lambda stats: {"rows": len(stats)}))
    assert with_details.details(np.zeros((3, 1))) == {"rows": 3}
    assert plan("b").details(np.zeros((3, 1))) is None


def test_texts_may_be_lists_and_names_may_be_spelled_freely():
    plans = metric_plans(["BLEU-4,CIDEr", "Trm:distance=ROUGE_L", {"METEOR": {}}])
    assert [plan.label for plan in plans] == ["bleu4", "cider", "trm(rouge)", "meteor"]


COCO = ["bleu1", "bleu2", "bleu3", "bleu4", "meteor", "rouge", "cider"]


def test_without_its_files_the_optional_metric_is_left_out(monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    monkeypatch.delenv("HARNESS_SPICE_JARS", raising=False)
    names, left_out = default_metrics()
    assert names == COCO
    assert list(left_out) == ["spice"]
    assert "HARNESS_SPICE_JARS" in left_out["spice"]


@pytest.mark.parametrize("runs", [True, False])
def test_an_installed_metric_is_asked_to_check_its_programs(monkeypatch, runs):
    class Installed:
        def __init__(self) -> None: ...

        def check_installation(self) -> None:
            if not runs:
                raise MissingExtra("no compiler")

    catalogue = type(current())
    monkeypatch.setattr(catalogue, "create", lambda self, kind, name, params=None: Installed())
    names, left_out = default_metrics()
    assert (names, left_out) == (([*COCO, "spice"], {}) if runs else (COCO, {"spice": "no compiler"}))


def test_the_python_functions_use_them(monkeypatch):
    monkeypatch.setattr("harness.api.default_metrics", lambda: (["BLEU-1", "Rouge_L"], {}))
    scores = harness.score([["a dog runs"], ["a cat"]], [["the dog runs"], ["a cat"]])
    assert list(scores) == ["bleu1", "rouge"]
