"""The typed view on manifest.json."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.rundir.provenance import MetricEntry, ModelEntry, Provenance

CONTENT = {
    "task": "t",
    "signature": "t|m:5",
    "digest": "abc",
    "variant": None,
    "data": {"reader": "coco", "examples": 3},
    "spec": {"views": [{"plot": "table", "title": "T"}]},
    "models": [{"label": "m", "adapter": "echo", "params": {"n": 1}, "fingerprint": "f"}],
    "metrics": [{"label": "trm(a)", "name": "trm", "params": {}, "signature": "trm|a"}],
}


def test_fields_are_typed():
    item = Provenance(dict(CONTENT))
    assert (item.task, item.signature, item.digest, item.variant) == ("t", "t|m:5", "abc", "")
    assert item.data["examples"] == 3
    assert item.models == (ModelEntry("m", "echo", {"n": 1}, "f"),)
    assert item.metrics == (MetricEntry("trm(a)", "trm", {}, "trm|a"),)
    assert [view.heading for view in item.views] == ["T"]


def test_an_empty_manifest_has_empty_fields():
    item = Provenance({})
    assert (item.task, item.digest, item.data, item.spec) == ("", "", {}, {})
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
    ],
)
def test_the_choice_of_references(signature, spec, expected):
    content = {"signature": signature, "spec": spec, "data": {"references": [10]}}
    assert Provenance(content).reference_subset == expected
    assert Provenance({**content, "kind": "judgments", "spec": {"references": {"own": "item"}}}).reference_subset == ""


def test_a_model_may_describe_its_source():
    entry = {**CONTENT["models"][0], "source": {"commit": "abc"}}
    (model,) = Provenance({**CONTENT, "models": [entry]}).models
    assert model.source == {"commit": "abc"} and Provenance(dict(CONTENT)).models[0].source is None


def test_models_and_metrics_by_label():
    item = Provenance(dict(CONTENT))
    assert (item.model("m"), item.metric("trm(a)")) == (item.models[0], item.metrics[0])
    with pytest.raises(InputError, match=r"manifest.json: has no metric 'trm\(b\)'; did you mean 'trm\(a\)'.*run the spec again"):
        item.metric("trm(b)")
    with pytest.raises(InputError, match="manifest.json: has no model 'x'.*run the spec again"):
        item.model("x")
