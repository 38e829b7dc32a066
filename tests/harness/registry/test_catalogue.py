"""The registry: third parties' manifests, names with two owners, broken plugins, lazy imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import HarnessError, MissingExtra, UnknownName
from harness.registry import catalogue as registry


def install(folder: Path, name: str, manifest: str | None, code: str = "", hooks: str = "") -> None:
    """Lay an installed distribution ``name`` into ``folder``."""
    package = folder / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text(code)
    if manifest is not None:
        (package / "registry.yaml").write_text(manifest)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    points = f"[harness.manifests]\n{name} = {name}\n" + (f"[harness]\n{name} = {hooks}\n" if hooks else "")
    (info / "entry_points.txt").write_text(points)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on the import path into which tests install distributions."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.chdir(tmp_path)
    registry._load.cache_clear()
    yield folder
    registry._load.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] in ("acme", "bolt", "good", "bad")]:
        del sys.modules[name]


METRIC = """
from harness.contracts import MeanMetric, MetricSpec
import numpy as np
class One(MeanMetric):
    def __init__(self, *, value=1.0):
        self.value = value
        self.spec = MetricSpec("one", higher_is_better=True)
    def scores(self, batch, features, state):
        return np.full(len(batch), self.value)
"""


def test_a_third_partys_metric_is_found_without_importing_it(site):
    install(site, "acme", "metrics: {one: {import: 'acme.parts:One', summary: always one}}", METRIC)
    entry = registry.current().get("metrics", "one")
    assert (entry.full_name, entry.summary) == ("acme/one", "always one")
    assert "acme" not in sys.modules
    assert registry.current().create("metrics", "acme/one", {"value": 2.0}).value == 2.0


def test_the_list_form_with_targets_is_read_too(site):
    text = "api: 1\nprovider: acme\nrequires_harness: '>=0.1,<1'\nmetrics:\n"
    text += "  - {name: one, target: 'acme.parts:One', level: item, aliases: [uno]}\n"
    install(site, "acme", text, METRIC)
    assert registry.current().create("metrics", "uno").spec.name == "one"


def test_a_name_with_two_owners_is_an_error_that_names_both(site):
    for name in ("acme", "bolt"):
        install(site, name, f"metrics: {{one: {{import: '{name}.parts:One'}}}}", METRIC)
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
def test_a_broken_manifest_is_reported_and_survived(site, monkeypatch, manifest, reason):
    install(site, "acme", manifest)
    install(site, "good", "metrics: {one: {import: 'good.parts:One'}}", METRIC)
    (failure,) = registry.current().failures
    assert failure.provider == "acme"
    assert reason in failure.reason
    assert registry.current().create("metrics", "one").value == 1.0
    monkeypatch.setenv("HARNESS_STRICT_PLUGINS", "1")
    registry._load.cache_clear()
    with pytest.raises(HarnessError):
        registry.current()


def test_a_component_that_cannot_be_imported_says_why(site):
    install(site, "acme", "metrics: {one: {import: 'acme.parts:One'}, two: {import: 'acme.gone:X'}}", "1 / 0")
    with pytest.raises(HarnessError, match=r"'acme/one' \(acme\.parts:One\) could not be imported: ZeroDivisionError"):
        registry.current().create("metrics", "one")
    with pytest.raises(MissingExtra, match="needs the package 'acme', which is not installed"):
        registry.current().create("metrics", "two")


def test_only_the_chosen_plugins_are_loaded(site, monkeypatch):
    install(site, "acme", "metrics: {one: {import: 'acme.parts:One'}}", METRIC)
    monkeypatch.setenv("HARNESS_LOAD_PLUGINS", "")
    with pytest.raises(UnknownName):
        registry.current().get("metrics", "one")


def test_unknown_parameters_and_missing_ones_are_named(site):
    install(site, "acme", "metrics: {one: {import: 'acme.parts:One'}}", METRIC.replace("value=1.0)", "value)"))
    with pytest.raises(UnknownName, match="has no parameter 'valu'; did you mean 'value'"):
        registry.current().create("metrics", "one", {"valu": 1})
    with pytest.raises(HarnessError, match="needs the parameter 'value'"):
        registry.current().create("metrics", "one")


HOOKS = """
from harness.registry.hooks import hookimpl
@hookimpl
def harness_run_finished(manifest, results):
    open("finished.txt", "w").write(str(len(results)))
@hookimpl
def harness_commands(subparsers):
    parser = subparsers.add_parser("greet")
    parser.add_argument("name")
    parser.set_defaults(run=lambda args: print("hello", args.name))
"""


def test_hooks_run_and_add_verbs_and_broken_ones_are_survived(site, tmp_path):
    install(site, "acme", "metrics: {one: {import: 'acme.parts:One'}}", METRIC + HOOKS, hooks="acme.parts")
    install(site, "bad", None, "1 / 0", hooks="bad.parts")
    (tmp_path / "p.json").write_text('[{"image_id": 1, "caption": "a"}]')
    (tmp_path / "r.json").write_text('[{"image_id": 1, "references": ["a", "b"]}]')
    command = [sys.executable, "-m", "harness"]
    run = [*command, "score", "--candidates", "p.json", "--references", "r.json", "-m", "one", "--json"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["value"] == 1.0
    assert (tmp_path / "finished.txt").read_text() == "1"
    greeted = subprocess.run([*command, "greet", "you"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert greeted.stdout == "hello you\n", greeted.stderr


def test_every_shipped_entry_has_a_summary_and_imports(root):
    for entry in registry.current().entries():
        if entry.provider == "harness":
            assert entry.summary, entry.full_name
            if entry.target:
                assert registry.current().load(entry.kind, entry.full_name) is not None
            else:
                assert entry.file.is_file(), entry.path
