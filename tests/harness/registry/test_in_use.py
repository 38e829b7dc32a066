"""The registry in use: files that a process adds, folders, plugins that are chosen."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError, UnknownName
from harness.registry import in_use as registry


def test_only_the_chosen_plugins_are_loaded(install, monkeypatch, metric_code):
    install("acme", "metrics: {one: {import: 'acme.parts:One'}}", metric_code)
    monkeypatch.setenv("HARNESS_LOAD_PLUGINS", "")
    with pytest.raises(UnknownName):
        registry.current().get("metrics", "one")


def test_a_component_that_is_declared_twice_has_one_owner(project):
    (project / "copy.yaml").write_text((project / "registry.yaml").read_text())
    registry.use_files([project / "copy.yaml"])
    assert registry.current().get("metrics", "length").full_name == "mine/length"
    assert [
        e.name for e in registry.current().entries("metrics") if e.provider == "mine"
    ] == ["length"]
    (project / "copy.yaml").write_text(
        'provider: mine\nmetrics: {length: {import: "mine_parts:Chars"}}\n'
    )
    registry._load.cache_clear()
    with pytest.raises(HarnessError, match="the metric name 'length' has 2 owners"):
        registry.current().get("metrics", "length")


def test_folders_without_a_manifest_have_one_registry(tmp_path, monkeypatch):
    folders = [tmp_path / name for name in ("a", "b")]
    found = []
    for folder in folders:
        folder.mkdir()
        monkeypatch.chdir(folder)
        found.append(registry.current())
    assert found[0] is found[1]
    # written after the first use
    (tmp_path / "b/registry.yaml").write_text("provider: mine\n", encoding="utf-8")
    assert [
        manifest.provider for manifest in registry.current().manifests if manifest.local
    ] == ["mine"]
