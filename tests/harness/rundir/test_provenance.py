"""The typed view on manifest.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import harness
from harness.errors import InputError
from harness.rundir.provenance import (
    MetricEntry,
    ModelEntry,
    Provenance,
    check_manifest,
    check_results,
)

CONTENT = {
    "task": "t",
    "signature": "t|m:5",
    "digest": "abc",
    "variant": None,
    "data": {"reader": "coco", "examples": 3},
    "spec": {"views": [{"plot": "table", "title": "T"}]},
    "models": [
        {"label": "m", "adapter": "echo", "params": {"n": 1}, "fingerprint": "f"}
    ],
    "metrics": [{"label": "trm(a)", "name": "trm", "params": {}, "signature": "trm|a"}],
}
SAMPLE = Path(harness.__file__).parents[1] / "tasks/harness_tasks/sample/captions.json"
MANIFEST: dict[str, Any] = {"task": "t", "signature": "t|m:1", "digest": "0"}
RECORD: dict[str, Any] = {"model": "a", "metric": "m", "value": 0.5}


def test_fields_are_typed():
    item = Provenance(dict(CONTENT))
    assert (item.task, item.signature, item.digest, item.variant) == (
        "t",
        "t|m:5",
        "abc",
        "",
    )
    assert item.data["examples"] == 3
    assert Provenance({"kind": "judgments"}).kind == "judgments"
    assert item.models == (ModelEntry("m", "echo", {"n": 1}, "f"),)
    assert item.metrics == (MetricEntry("trm(a)", "trm", {}, "trm|a"),)
    assert [view.heading for view in item.views] == ["T"]


def test_an_empty_manifest_has_empty_fields():
    item = Provenance({})
    assert (item.task, item.digest, item.kind, item.data, item.spec) == (
        "",
        "",
        "",
        {},
        {},
    )
    assert (item.models, item.metrics, item.views) == ((), (), ())


@pytest.mark.parametrize(
    ("signature", "spec", "expected"),
    [
        ("t|m:5|refs:random(3)|seed:3", {"references": 5}, "random(3)"),
        ("t|m:5|refs:first|seed:0", {"references": {"first": 5}}, "first"),
        ("t|m:5|seed:0", {"references": 5}, "first"),
        ("t|m:1-10|seed:0", {"references": [1, 10]}, "first"),
        ("t|m:10|refs:random(0)|seed:0", {"references": 10}, ""),
        ("t|m:10|refs:random(0)|seed:0", {"sizes": "equal"}, "random(0)"),
        ("t|m:10|seed:0", {}, ""),
        ("t|m:10|refs:random(0)|seed:0", {"references": 12}, ""),
        ("refs:mine|m:5|refs:random(3)|seed:3", {"references": 5}, "random(3)"),
    ],
)
def test_the_choice_of_references(signature, spec, expected):
    content = {"signature": signature, "spec": spec, "data": {"references": [10]}}
    assert Provenance(content).reference_subset == expected
    assert (
        Provenance(
            {**content, "kind": "judgments", "spec": {"references": {"own": "item"}}}
        ).reference_subset
        == ""
    )


def test_a_model_may_describe_its_source():
    entry = {**CONTENT["models"][0], "source": {"commit": "abc"}}
    (model,) = Provenance({**CONTENT, "models": [entry]}).models
    assert (
        model.source == {"commit": "abc"}
        and Provenance(dict(CONTENT)).models[0].source is None
    )


def test_models_and_metrics_by_label():
    item = Provenance(dict(CONTENT))
    assert (item.model("m"), item.metric("trm(a)")) == (item.models[0], item.metrics[0])
    models = [{**CONTENT["models"][0], "label": label} for label in ("z", "m", "a")]
    assert [
        Provenance({"models": models}).model(label).label for label in ("m", "a", "z")
    ] == ["m", "a", "z"]
    with pytest.raises(
        InputError,
        match=r"manifest.json: has no metric 'trm\(b\)'; "
        r"did you mean 'trm\(a\)'.*run the spec again",
    ):
        item.metric("trm(b)")
    with pytest.raises(
        InputError, match="manifest.json: has no model 'x'.*run the spec again"
    ):
        item.model("x")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": 3}, "task: input should be a valid string; found 3"),
        ({"spec": []}, "spec: input should be a valid dictionary"),
        ({"spec": {"views": [{"plot": "pie"}]}}, r"spec\.views\.0\.plot: "),
        ({"data": {"examples": "many"}}, r"data\.examples: "),
        ({"models": [{"label": "a"}]}, r"models\.0\.adapter: field required"),
        ({"metrics": [3]}, r"metrics\.0: "),
    ],
)
def test_a_manifest_of_another_shape_is_one_line(tmp_path, change, message):
    check_manifest(MANIFEST, tmp_path)
    with pytest.raises(
        InputError, match=f"is no manifest of a run: {message}"
    ) as caught:
        check_manifest(MANIFEST | change, tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "source", ["a sentence", {"features": "f", "sizes": {"hidden": 3}}]
)
def test_a_manifest_may_have_the_description_of_an_adapter(tmp_path, source):
    model: dict[str, Any] = {
        "label": "a",
        "adapter": "b",
        "params": {},
        "fingerprint": "c",
    }
    check_manifest(MANIFEST | {"models": [model, model | {"source": source}]}, tmp_path)
    with pytest.raises(InputError, match=r"models\.0\.source"):
        check_manifest(MANIFEST | {"models": [model | {"source": 3}]}, tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": {"a": 1}}, "model: input should be a valid string"),
        ({"value": "many"}, "value: expected a number or null; found 'many'"),
        ({"value": True}, "value: expected a number"),
        ({"ci95": [1]}, "ci95"),
        ({"statistics": ["x"]}, "statistics: input should be a valid string"),
        ({"level": "planet"}, "level: "),
        ({"p": {"calibrated": []}}, r"p\.calibrated: expected a number"),
    ],
)
def test_a_record_of_another_shape_is_one_line(tmp_path, change, message):
    check_results(
        {"results": [RECORD, RECORD | {"value": None}, RECORD | {"value": "inf"}]},
        tmp_path,
    )
    with pytest.raises(
        InputError, match=rf"holds no results of a run: results\.0\.{message}"
    ):
        check_results({"results": [RECORD | change]}, tmp_path)


def test_what_a_run_writes_has_the_shape(project):
    harness.evaluate("spec.yaml", output="out")
    for name, check in (
        ("manifest.json", check_manifest),
        ("results.json", check_results),
    ):
        content = json.loads((project / "out" / name).read_text())
        check(content, project / "out" / name)
        assert content["schema"] == 1


def test_the_run_of_an_adapter_that_describes_itself_is_written(tmp_path):
    """The manifest of word-model has the description of its corpus."""
    (tmp_path / "corpus.txt").write_text("a dog runs\na cat sits\n")
    spec = {
        "task": "t",
        "dataset": {"reader": "coco", "path": str(SAMPLE)},
        "models": [{"word-model": {"corpus": {"path": str(tmp_path / "corpus.txt")}}}],
        "metrics": ["perplexity"],
        "bootstrap": {"samples": 0},
    }
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(spec))
    run = harness.evaluate(tmp_path / "spec.yaml", output=tmp_path / "out", limit=2)
    assert run.records
    assert json.loads((tmp_path / "out/manifest.json").read_text())["models"][0][
        "source"
    ]["corpus"]


LOOK = {"n": 2, "difference": 0.1, "low": "-inf", "high": None}


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("readings", [[False]], "readings.0"),
        ("readings", [{"items": 1}], "readings.0.texts"),
        ("readings", [{"items": 1, "texts": 1, "left_out": []}], "left_out"),
        ("local_code", [{"registry": 1, "provider": "p"}], "local_code.0.registry"),
        ("stopped", {"examples": 1, "of": 2, "level": 0.1}, "stopped.conditions"),
        (
            "stopped",
            {
                "examples": 1,
                "of": 2,
                "level": 0.1,
                "conditions": [
                    {
                        "condition": "c",
                        "verdict": "v",
                        "sequences": [{"systems": "s", "path": [LOOK | {"n": "many"}]}],
                    }
                ],
            },
            "path.0.n",
        ),
    ],
)
def test_lists_of_a_manifest_have_their_shape(key, value, found):
    with pytest.raises(InputError, match=found):
        check_manifest({**MANIFEST, key: value}, Path("r/manifest.json"))
