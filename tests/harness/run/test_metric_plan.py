"""Plans of metrics: grids of parameters, labels, metrics of level model."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import harness
from harness.contracts import Decoding, MetricSpec
from harness.errors import HarnessError, MissingExtra
from harness.registry import current
from harness.run import metric_plan as metric_plan_module
from harness.run.metric_plan import (
    MetricPlan,
    ModelPlan,
    Plan,
    TokenMetricPlan,
    caption_plans,
    default_metrics,
    expand_metric_params,
    expand_params,
    metric_labels,
    metric_plan,
    metric_plans,
    unique,
    with_unique_labels,
)

COCO = ["bleu1", "bleu2", "bleu3", "bleu4", "meteor", "rouge", "cider"]


def fake(name: str, level: Any = "item", **members: Any) -> Any:
    return SimpleNamespace(spec=MetricSpec(name, None, level=level), **members)


def plan(label: str, **params: Any) -> MetricPlan:
    return MetricPlan(label, label, params, fake(label))


def test_lists_are_axes_except_those_that_are_lists_by_nature():
    assert expand_params({"a": [1, 2], "b": ["x", "y"], "c": 3}) == [
        {"a": 1, "b": "x", "c": 3},
        {"a": 1, "b": "y", "c": 3},
        {"a": 2, "b": "x", "c": 3},
        {"a": 2, "b": "y", "c": 3},
    ]
    assert expand_params({"a": [1, 2]}, ("a",)) == [{"a": [1, 2]}]
    assert expand_params({}) == [{}]


def test_parameters_tell_equal_labels_apart():
    plans = [
        plan("trm(a)", distance="a", n=1),
        plan("trm(a)", distance="a", n=2),
        plan("other", n=3),
    ]
    assert metric_labels(plans) == ["trm(a)[n=1]", "trm(a)[n=2]", "other"]
    assert metric_labels([plan("a"), plan("a")]) == ["a", "a #2"]
    assert [item.label for item in with_unique_labels(plans)] == metric_labels(plans)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(["a", "a", "a"], ["a", "a #2", "a #3"]), ([], []), (["a", "b"], ["a", "b"])],
)
def test_repeated_labels_are_numbered(labels, expected):
    assert unique(labels) == expected


def test_metrics_of_level_model_have_plans_of_their_own():
    plans = [
        metric_plan("a", {}, fake("a")),
        metric_plan("b", {"n": 1}, fake("b", level="model")),
    ]
    assert [type(item) for item in plans] == [MetricPlan, TokenMetricPlan]
    assert caption_plans(plans) == plans[:1]
    assert {
        type(metric_plan("c", {}, fake("c", level=level)))
        for level in ("item", "set", "corpus")
    } == {MetricPlan}


def test_names_texts_mappings_and_instances(project):
    instance = fake("mine")
    plans = metric_plans(
        [
            "length",
            "length:scale=2",
            {"length": {"scale": [3.0, 4.0], "undefined": ["e1"]}},
            instance,
        ]
    )
    assert [item.params for item in plans] == [
        {},
        {"scale": 2},
        {"scale": 3.0, "undefined": ["e1"]},
        {"scale": 4.0, "undefined": ["e1"]},
        {},
    ]
    assert len({item.label for item in plans}) == 5
    assert plans[-1].metric is instance
    with pytest.raises(HarnessError, match="unknown metric 'lenth'"):
        metric_plans(["lenth"])


def test_details_belong_to_metrics_that_have_them():
    with_details = MetricPlan(
        "a", "a", {}, fake("a", details=lambda stats: {"rows": len(stats)})
    )
    assert with_details.details(np.zeros((3, 1))) == {"rows": 3}
    assert plan("b").details(np.zeros((3, 1))) is None


def test_texts_may_be_lists_and_names_may_be_spelled_freely():
    plans = metric_plans(["BLEU-4,CIDEr", "Trm:distance=ROUGE_L", {"METEOR": {}}])
    assert [plan.label for plan in plans] == ["bleu4", "cider", "trm(rouge)", "meteor"]


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
    monkeypatch.setattr(
        catalogue, "create", lambda self, kind, name, params=None: Installed()
    )
    names, left_out = default_metrics()
    assert (names, left_out) == (
        ([*COCO, "spice"], {}) if runs else (COCO, {"spice": "no compiler"})
    )


def test_the_python_functions_use_them(monkeypatch):
    monkeypatch.setattr(
        "harness.api.default_metrics", lambda: (["BLEU-1", "ROUGE_L"], {})
    )
    scores = harness.score([["a dog runs"], ["a cat"]], [["the dog runs"], ["a cat"]])
    assert list(scores) == ["bleu1", "rouge"]


def test_parameters_that_a_label_has_are_not_repeated():
    plans = [
        plan("trm(a)", distance="a"),
        plan("trm(a)", distance="a"),
        plan("single", n=1),
        plan("x"),
        plan("x", n=2),
    ]
    assert metric_labels(plans) == ["trm(a)", "trm(a) #2", "single", "x", "x[n=2]"]


def test_lists_may_make_as_many_combinations_as_a_range(monkeypatch):
    monkeypatch.setattr(metric_plan_module, "MAX_RANGE", 6)
    assert len(expand_params({"a": [1, 2], "b": [1, 2, 3]})) == 6
    assert expand_params({"a": []}) == []
    with pytest.raises(
        HarnessError,
        match="the lists of parameters make 8 combinations; expected at most 6",
    ):
        expand_params({"a": [1, 2], "b": [1, 2, 3, 4]})
    assert len(expand_params({"a": [1, 2], "b": [1, 2, 3, 4]}, ["b"])) == 2


def test_parameters_of_a_metric_are_lists_by_its_annotations(project):
    assert list(
        expand_metric_params("length", {"scale": [1.0, 2.0], "undefined": ["e1", "e2"]})
    ) == [
        {"scale": 1.0, "undefined": ["e1", "e2"]},
        {"scale": 2.0, "undefined": ["e1", "e2"]},
    ]


def test_details_that_are_empty_are_none():
    assert (
        MetricPlan("a", "a", {}, fake("a", details=lambda stats: {})).details(
            np.zeros((3, 1))
        )
        is None
    )


def test_a_metric_of_token_scores_reads_metadata_where_it_can():
    read = []
    of_parts = fake(
        "parts",
        level="model",
        of_meta=lambda meta: read.append(list(meta)) or "of these parts",
        column_sizes=dict,
    )
    parts = metric_plan("a", {"n": 1}, of_parts)
    whole = metric_plan("b", {}, fake("whole", level="model"))
    assert isinstance(parts, TokenMetricPlan) and isinstance(whole, TokenMetricPlan)
    assert whole.of_meta([{"k": 1}]) is whole
    assert parts.of_meta([{"k": 1}, {}]) == TokenMetricPlan(
        "parts", "a", {"n": 1}, "of these parts"
    )  # type: ignore[arg-type]
    assert read == [[{"k": 1}, {}]]


def run_plan(project, *overrides: str) -> Plan:
    (item,) = harness.api.plans("spec.yaml", list(overrides))
    assert isinstance(item, Plan)
    return item


def test_a_plan_tells_its_reader_models_and_decodings(project):
    item = run_plan(
        project,
        "models=[{echo: {n: 1}}, {echo: {n: 2, label: two}}]",
        "decoding.temperature=[0.5, 1.0, 2.0]",
    )
    assert item.describe() == {
        "reader": "words",
        "models": ["echo", "two"],
        "decodings": 3,
    }
    assert (item.kind, item.absence, item.obstacle) == ("", "", "")


def test_places_of_media_are_those_of_the_data_and_the_folders_of_images(
    project,
):
    item = run_plan(project, "dataset={reader: words, count: 3}")
    params = {"images": "shots", "path": "x"}
    model = ModelPlan("m", "m", params, object())  # type: ignore[arg-type]
    metric = MetricPlan("a", "a", {"images": "frames"}, fake("a"))
    placed = Plan(
        item.spec,
        item.reader,
        (model, item.models[0]),
        item.decodings,
        (metric,),
        (None,),
    )
    assert [value for value in placed.media_places if value is not None] == [
        {"count": 3},
        3,
        "shots",
        "frames",
    ]


def test_metrics_of_a_plan_are_told_apart_by_what_they_judge(project):
    item = run_plan(project)
    metrics = (
        metric_plan("a", {}, fake("a", level="model")),
        metric_plan("b", {}, fake("b")),
    )
    mixed = Plan(item.spec, item.reader, item.models, item.decodings, metrics, (None,))
    assert (mixed.caption_metrics, mixed.token_metrics) == (metrics[1:], metrics[:1])


def test_decodings_that_differ_in_their_number_of_candidates_share_captions(project):
    item = run_plan(project)
    grid = (
        Decoding(candidates=2),
        Decoding(candidates=5),
        Decoding(),
        Decoding(temperature=0.5, candidates=3),
    )
    shared = Plan(item.spec, item.reader, item.models, grid, item.metrics, (None,))
    assert shared.generations == {
        Decoding(candidates=5): list(grid[:3]),
        Decoding(temperature=0.5, candidates=5): [grid[3]],
    }
    assert Plan(
        item.spec, item.reader, item.models, (Decoding(),), item.metrics, (None,)
    ).generations == {Decoding(): [Decoding()]}
