"""The registry: third parties' manifests, names with two owners, broken plugins, lazy imports."""

from __future__ import annotations

import sys

import pytest

from harness.errors import HarnessError, MissingExtra, UnknownName
from harness.registry import catalogue as registry


def test_a_third_partys_metric_is_found_without_importing_it(install, metric_code):
    install("acme", "metrics: {one: {import: 'acme.parts:One', summary: always one}}", metric_code)
    entry = registry.current().get("metrics", "one")
    assert (entry.full_name, entry.summary) == ("acme/one", "always one")
    assert "acme" not in sys.modules
    assert registry.current().create("metrics", "acme/one", {"value": 2.0}).value == 2.0


def test_the_list_form_with_targets_is_read_too(install, metric_code):
    text = "api: 1\nprovider: acme\nrequires_harness: '>=0.1,<1'\nmetrics:\n"
    text += "  - {name: one, target: 'acme.parts:One', level: item, aliases: [uno]}\n"
    install("acme", text, metric_code)
    assert registry.current().create("metrics", "uno").spec.name == "one"


def test_a_name_with_two_owners_is_an_error_that_names_both(install, metric_code):
    for name in ("acme", "bolt"):
        install(name, f"metrics: {{one: {{import: '{name}.parts:One'}}}}", metric_code)
    with pytest.raises(HarnessError, match=r"the metric name 'one' has 2 owners: 'acme/one' .* and 'bolt/one'"):
        registry.current().get("metrics", "one")
    assert registry.current().create("metrics", "bolt/one").value == 1.0


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        (None, "holds no registry.yaml"),
        ("metrics: [", "not valid YAML"),
        ("metrcs: {}", "unknown key 'metrcs'; did you mean 'metrics'?"),
        ("metrics: {one: {import: 'acme.parts'}}", 'expected "package.module:Object"'),
        ("metrics: {one: {summary: x}}", "needs 'import"),
        ("api: 2", "api 2 is not known"),
        ("requires_harness: '>=9'", "asks for harness >=9"),
    ],
)
def test_a_broken_manifest_is_reported_and_survived(install, monkeypatch, manifest, reason, metric_code):
    install("acme", manifest)
    install("good", "metrics: {one: {import: 'good.parts:One'}}", metric_code)
    (failure,) = registry.current().failures
    assert failure.provider == "acme"
    assert reason in failure.reason
    assert registry.current().create("metrics", "one").value == 1.0
    monkeypatch.setenv("HARNESS_STRICT_PLUGINS", "1")
    registry._load.cache_clear()
    with pytest.raises(HarnessError):
        registry.current()


def test_a_component_that_cannot_be_imported_says_why(install):
    install("acme", "metrics: {one: {import: 'acme.parts:One'}, two: {import: 'acme.gone:X'}}", "1 / 0")
    with pytest.raises(HarnessError, match=r"'acme/one' \(acme\.parts:One\) could not be imported: ZeroDivisionError"):
        registry.current().create("metrics", "one")
    with pytest.raises(MissingExtra, match="needs the package 'acme', which is not installed"):
        registry.current().create("metrics", "two")


def test_only_the_chosen_plugins_are_loaded(install, monkeypatch, metric_code):
    install("acme", "metrics: {one: {import: 'acme.parts:One'}}", metric_code)
    monkeypatch.setenv("HARNESS_LOAD_PLUGINS", "")
    with pytest.raises(UnknownName):
        registry.current().get("metrics", "one")


def test_unknown_parameters_and_missing_ones_are_named(install, metric_code):
    install("acme", "metrics: {one: {import: 'acme.parts:One'}}", metric_code.replace("value=1.0)", "value)"))
    with pytest.raises(UnknownName, match="has no parameter 'valu'; did you mean 'value'"):
        registry.current().create("metrics", "one", {"valu": 1})
    with pytest.raises(HarnessError, match="needs the parameter 'value'"):
        registry.current().create("metrics", "one")


def test_every_shipped_entry_has_a_summary_and_imports(root):
    for entry in registry.current().entries():
        if entry.provider == "harness":
            assert entry.summary, entry.full_name
            if entry.target:
                assert registry.current().load(entry.kind, entry.full_name) is not None
            else:
                assert entry.file.is_file(), entry.path
