"""The content of manifest.json: identity, digest, versions, plugins."""

from __future__ import annotations

import hashlib
import importlib.metadata
import sys
from dataclasses import replace

import numpy as np
import pytest

from harness import __version__, api
from harness.registry.manifest_schema import PluginFailure
from harness.run.execute import read_examples
from harness.run.provenance import (
    build_manifest,
    code_of,
    digest,
    kernels_build,
    local_code,
    manifest_of,
    plugins,
    signature,
    versions,
)
from harness.spec.models import Spec


def plan(**values):
    (item,) = api.plans("spec.yaml", **values)
    return item


def test_the_manifest_describes_spec_data_models_and_metrics(project):
    item = plan(seed=3, limit=2)
    manifest = build_manifest(item, read_examples(item), [])
    assert manifest["data"] == {
        "reader": "words",
        "fingerprint": "words-6",
        "source": "",
        "examples": 2,
        "references": [2],
    }
    assert manifest["models"] == [
        {"label": "echo", "adapter": "echo", "params": {}, "fingerprint": "echo-2-()"}
    ]
    assert manifest["metrics"] == [
        {
            "label": "length",
            "name": "length",
            "params": {},
            "signature": "length|scale:1",
        }
    ]
    assert (manifest["task"], manifest["seed"]) == ("words", 3)
    assert manifest == build_manifest(item, read_examples(item), []), (
        "the same run has the same manifest"
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, "words|m:2|seed:0|harness:"),
        ({"limit": 2, "seed": 1}, "words|m:2|limit:2|seed:1|harness:"),
        ({"references": [1, 2]}, "words|m:1-2|refs:random(0)|seed:0|harness:"),
        ({"references": {"first": 1}}, "words|m:1|refs:first|seed:0|harness:"),
        ({"decoding": {"candidates": [1, 4]}}, "words|n:1-4|m:2|seed:0|harness:"),
        (
            {"decoding": {"candidates": [3]}, "limit": 1},
            "words|n:3|m:2|limit:1|seed:0|harness:",
        ),
    ],
)
def test_the_signature_is_short(project, values, expected):
    assert signature(plan(**values), [2]) == expected + __version__


def test_the_signature_has_the_range_of_the_references(project):
    assert signature(plan(), [2, 3, 5]) == f"words|m:2-5|seed:0|harness:{__version__}"


class Described:
    """A reader or an adapter that says where its content comes from."""

    def fingerprint(self):
        return "print"

    def describe(self):
        return "the 2014 server"


def test_sources_are_those_of_components_that_describe_them(project):
    item = plan()
    described = replace(
        item,
        reader=Described(),
        models=(replace(item.models[0], adapter=Described(), params={"n": 3}),),
    )
    manifest = build_manifest(described, read_examples(item), [], "given")
    assert manifest["data"] == {
        "reader": "words",
        "fingerprint": "print",
        "source": "the 2014 server",
        "examples": 6,
        "references": [2],
    }
    assert manifest["models"] == [
        {
            "label": "echo",
            "adapter": "echo",
            "params": {"n": 3},
            "fingerprint": "print",
            "source": "the 2014 server",
        }
    ]
    assert manifest["digest"] == "given"
    assert build_manifest(item, read_examples(item), [])["digest"] == digest(item)


def test_a_manifest_of_metrics_alone_lists_them_as_components(project):
    item = plan(notice="careful")
    manifest = manifest_of(
        item.spec, "a signature", "a digest", {"reader": "words"}, item.metrics, []
    )
    assert [(entry["kind"], entry["name"]) for entry in manifest["plugins"]] == [
        ("metrics", "length")
    ]
    assert (manifest["signature"], manifest["digest"], manifest["notice"]) == (
        "a signature",
        "a digest",
        "careful",
    )
    assert [entry["provider"] for entry in manifest["local_code"]] == ["mine"]
    assert "local_code" not in manifest_of(
        item.spec, "s", "d", {}, plan(metrics=["bleu1"]).metrics, []
    )


def test_a_component_that_is_used_twice_is_listed_once(project):
    names = [("metrics", "bleu1"), ("metrics", "length"), ("metrics", "bleu1")]
    first, second = plugins(names, [])
    assert (first["name"], first["provider"], first["used"]) == (
        "bleu1",
        "harness",
        True,
    )
    assert second == {
        "kind": "metrics",
        "name": "length",
        "provider": "mine",
        "target": "mine_parts:Length",
        "used": True,
    }


@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    "values",
    [
        {"seed": 1},
        {"limit": 3},
        {"metrics": [{"length": {"scale": 2.0}}]},
        {"models": [{"echo": {"n": 3}}]},
        {"dataset": {"reader": "words", "count": 5}},
        {"significance": "exact"},
        {"decoding": {"temperature": 0.5}},
        {"references": 1},
        {"until": {"conditions": ["length \u00b1 1"]}},
    ],
)
def test_the_digest_changes_with_everything_that_could_change_a_number(project, values):
    assert digest(plan(**values)) != digest(plan())


def test_the_digest_ignores_views_and_texts(project):
    views = [{"plot": "line", "y": "length"}]
    assert digest(plan(views=views, description="new", notice="new")) == digest(plan())


def test_the_digest_does_not_depend_on_the_order_of_parameters(project):
    one, other = (
        {"echo": params}
        for params in ({"n": 3, "fail": ["e1"]}, {"fail": ["e1"], "n": 3})
    )
    assert digest(plan(models=[one])) == digest(plan(models=[other]))


def test_the_digest_changes_with_the_condition_that_ends_the_run(project):
    one, other = (
        digest(plan(until={"conditions": [f"length \u00b1 {width}"]}))
        for width in (1, 2)
    )
    assert one != other


def test_the_digest_changes_with_the_way_in_which_references_are_drawn(
    project, monkeypatch
):
    before = digest(plan(references=1))
    monkeypatch.setattr(Spec, "reference_subset", "drawn in another way")
    assert digest(plan(references=1)) != before


def test_the_digest_changes_with_the_code_of_a_component(project):
    before = digest(plan())
    code = (project / "mine_parts.py").read_text()
    (project / "mine_parts.py").write_text(code + "\n# edited\n")
    sys.modules.pop("mine_parts")
    assert digest(plan()) != before


def test_code_includes_the_parts_of_a_component(project):
    item = plan()
    metric = item.metrics[0].metric
    modules = code_of([metric])
    assert list(modules) == ["mine_parts"]
    assert code_of([3, "text", None]) == {}

    class Holder:
        def __init__(self) -> None:
            self.part = metric

    assert modules.items() <= code_of([Holder()]).items()


def test_code_of_a_local_registry_is_that_of_its_folder(project):
    metrics = [item.metric for item in plan(metrics=["length", "bleu1"]).metrics]
    hashes = code_of(metrics)
    assert len(hashes) > 1
    assert local_code(metrics) == [
        {
            "registry": str(project / "registry.yaml"),
            "provider": "mine",
            "modules": {"mine_parts": hashes["mine_parts"]},
        }
    ]
    assert local_code(metrics[1:]) == []


def test_code_is_hashed_for_objects_of_python_files(project):
    metric = plan().metrics[0].metric
    expected = hashlib.sha256((project / "mine_parts.py").read_bytes()).hexdigest()[:16]
    assert (
        code_of([metric])
        == code_of([metric, metric, np.zeros(3)])
        == {"mine_parts": expected}
    )


def test_hooks_of_a_local_registry_are_code_of_every_run(project):
    (project / "mine_hooks.py").write_text("")
    text = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(f"{text}hooks: [mine_hooks]\n")
    item = plan(metrics=["bleu1"])
    (entry,) = local_code([item.metrics[0].metric])
    assert entry == {
        "registry": str(project / "registry.yaml"),
        "provider": "mine",
        "modules": {},
        "hooks": ["mine_hooks"],
    }
    (entry,) = build_manifest(item, read_examples(item), [])["local_code"]
    assert (list(entry["modules"]), entry["hooks"]) == (["mine_parts"], ["mine_hooks"])


def test_versions_name_the_harness_python_and_installed_packages():
    values = versions()
    assert values["harness"] == __version__
    assert {"python", "platform", "numpy", "scipy"} <= set(values)
    assert values["caption-kernels"] == kernels_build() != ""


def test_versions_leave_out_packages_that_are_not_installed(monkeypatch):
    before = set(versions())
    monkeypatch.setitem(sys.modules, "caption_kernels", None)
    for function in (kernels_build, versions):
        function.cache_clear()
    installed = importlib.metadata.version

    def version(package):
        if package in ("scipy", "torch"):
            raise importlib.metadata.PackageNotFoundError(package)
        return installed(package)

    monkeypatch.setattr(importlib.metadata, "version", version)
    try:
        assert kernels_build() == ""
        assert set(versions()) == before - {"caption-kernels", "scipy", "torch"}
    finally:
        for function in (kernels_build, versions):
            function.cache_clear()


def test_components_and_failures_are_listed(project):
    failure = PluginFailure("bad", "hooks", "ValueError: no")
    item = plan()
    entries = build_manifest(item, read_examples(item), [failure])["plugins"]
    assert [
        (entry.get("kind"), entry.get("name"), entry["provider"], entry["used"])
        for entry in entries
    ] == [
        ("readers", "words", "mine", True),
        ("adapters", "echo", "mine", True),
        ("metrics", "length", "mine", True),
        (None, None, "bad", False),
    ]
    assert entries[-1] == {
        "provider": "bad",
        "phase": "hooks",
        "reason": "ValueError: no",
        "used": False,
    }
