"""Manifest files: sources, keys, hooks and versions, tasks inside packages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.errors import HarnessError
from harness.registry import current, in_use
from harness.registry.manifest_files import find_manifests, kept_providers, locate


def manifest(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "extra" / "registry.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def read(tmp_path, text):
    manifests, failures = find_manifests([manifest(tmp_path, text)], tmp_path, "")
    assert failures == []
    return manifests[-1]


def test_the_built_in_manifest_comes_first(tmp_path):
    manifests, _ = find_manifests([], tmp_path, "")
    assert [(item.provider, item.local) for item in manifests] == [
        ("harness", False)
    ] * 4
    assert {Path(item.source).parent.name for item in manifests} == {
        "harness",
        "harness_metrics",
        "harness_models",
        "harness_tasks",
    }


def test_the_folder_is_the_provider_without_a_provider_key(tmp_path):
    item = read(tmp_path, "metrics: {m: {import: 'a.b:C'}}")
    assert (item.provider, item.local, item.entries[0].full_name) == (
        "extra",
        True,
        "extra/m",
    )
    assert (
        read(tmp_path, "provider: acme\nmetrics: {m: {import: 'a.b:C'}}")
        .entries[0]
        .full_name
        == "acme/m"
    )


def test_both_forms_and_all_keys_of_entries_are_read(tmp_path):
    text = (
        "metrics: {m: 'a.b:C', k: {import: 'a.b:K', summary: s, extra: [x, y], "
        "level: set, needs: [images], "
        "higher_is_better: false, aliases: [kk], version: '2.1'}}\n"
        "readers: [{name: r, target: 'a.b:R'}]\n"
    )
    entries = {entry.name: entry for entry in read(tmp_path, text).entries}
    assert entries["m"].target == "a.b:C"
    k = entries["k"]
    assert (k.summary, k.extra, k.level, k.needs) == ("s", "x,y", "set", ("images",))
    assert (k.higher_is_better, k.aliases, k.version) == (False, ("kk",), "2.1")
    assert (entries["r"].kind, entries["r"].target) == ("readers", "a.b:R")


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("hooks: acme.hooks", ("acme.hooks",)),
        ("hooks: [acme.hooks, 'acme.more:Object']", ("acme.hooks", "acme.more:Object")),
        ("hooks: [{target: acme.hooks}]", ("acme.hooks",)),
        ("hooks:", ()),
    ],
)
def test_hooks_are_texts_or_mappings_with_a_target(tmp_path, section, expected):
    assert read(tmp_path, section).hooks == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metrcs: {}", "unknown key 'metrcs'; did you mean 'metrics'?"),
        ("[1]", "a registry is a mapping of kinds; found list"),
        (
            "metrics: [",
            "registry.yaml:2: not valid YAML|registry.yaml:1: not valid YAML",
        ),
        (
            "metrics: {m: {imprt: x}}",
            "metrics.m: unknown key 'imprt'; did you mean 'import'?",
        ),
        (
            "metrics: {m: {import: abc}}",
            "import is 'abc'; expected \"package.module:Object\"",
        ),
        ("metrics: {m: {}}", "metrics.m needs 'import"),
        ("tasks: {t: {}}", "or 'path'"),
        (
            "metrics: abc",
            "'metrics' must map names to entries, or list entries with a name",
        ),
        ("metrics: {m: [1]}", r"metrics.m must be a mapping; found list"),
        ("hooks: [3]", r"hooks is a list of modules .* found \[3\]"),
        ("api: 2", "manifest api 2 is not known; this harness reads api 1"),
        ("requires_harness: '>=99'", "asks for harness >=99; this is harness"),
        (
            "provider: harness",
            "the provider 'harness' is reserved; choose another name",
        ),
    ],
)
def test_a_mistake_is_one_line_with_the_file(tmp_path, text, message):
    with pytest.raises(HarnessError, match=message) as caught:
        read(tmp_path, text)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(HarnessError, match=r"none\.yaml: no such registry file"):
        find_manifests([tmp_path / "none.yaml"], tmp_path, "")


def test_the_registry_of_the_directory_is_read_once(project):
    manifests, _ = find_manifests([project / "registry.yaml"], project, "")
    assert [item.provider for item in manifests] == [*["harness"] * 4, "mine"]


def test_a_distribution_of_the_harness_that_does_not_fit_is_an_error(
    install, tmp_path, monkeypatch
):
    install("acme", "provider: harness\nrequires_harness: '>=99'")
    _, failures = find_manifests([], tmp_path, None)
    assert failures and "asks for harness >=99" in failures[0].reason
    monkeypatch.setattr("harness.registry.manifest_files.BUILT_IN_DISTRIBUTION", "acme")
    with pytest.raises(
        HarnessError, match="registry.yaml: asks for harness >=99; this is harness"
    ):
        find_manifests([], tmp_path, "")


def test_the_engine_alone_has_no_components_and_says_what_installs_them(
    tmp_path, monkeypatch, capsys
):
    from harness.cli.main import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: ())
    in_use._load.cache_clear()
    assert main(["list"]) == 0
    assert capsys.readouterr().out == (
        "no components are installed: pip install caption-harness\n"
    )
    (tmp_path / "a.txt").write_text("a dog\n")
    assert main(["score", "a.txt", "--references", "a.txt"]) == 2
    assert "not installed: pip install caption-harness" in capsys.readouterr().err
    in_use._load.cache_clear()


def test_lists_of_providers():
    assert kept_providers(None) is None
    assert kept_providers("") == set()
    assert kept_providers("a, b,") == {"a", "b"}


def test_a_package_is_located_without_importing_it(install, site):
    install("acme", "{}")
    assert locate("acme") == site / "acme" / "registry.yaml"
    assert locate("acme:parts.py") == site / "acme" / "parts.py"
    assert "acme" not in sys.modules
    with pytest.raises(HarnessError, match=r"the package 'acme' holds no other\.yaml"):
        locate("acme:other.yaml")
    with pytest.raises(
        HarnessError, match="names the package 'nowhere', which is not installed"
    ):
        locate("nowhere")


def test_a_task_is_a_file_beside_its_manifest_or_in_a_package(install, site):
    install("acme", "tasks: {t: {path: t.yaml}, u: {path: 'acme:u.yaml'}}")
    assert current().get("tasks", "t").file == site / "acme" / "t.yaml"
    assert current().get("tasks", "u").file == site / "acme" / "u.yaml"


@pytest.mark.slow
def test_a_local_manifest_that_cannot_be_read_is_passed_over_with_one_note(
    tmp_path, caplog, monkeypatch
):
    for content in (
        b"schemas: [a]",
        b"\x00\xff\xfe binary",
        b"[" * 100_000,
        b"provider: harness",
        b"- a\n- b",
        b"x" * 300_000,
    ):
        (tmp_path / "registry.yaml").write_bytes(content)
        monkeypatch.chdir(tmp_path)
        in_use._load.cache_clear()
        caplog.clear()
        registry = current()
        assert [(failure.provider, failure.local) for failure in registry.failures] == [
            (tmp_path.name, True)
        ]
        assert registry.get("metrics", "bleu").provider == "harness"
        current()
        (record,) = caplog.records
        assert record.getMessage().startswith(
            f"note: passed over {tmp_path}/registry.yaml"
        )
        assert "\n" not in record.getMessage()


def test_an_alias_bomb_in_a_manifest_is_refused_at_once(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 12)]
    with pytest.raises(HarnessError, match="aliases"):
        read(tmp_path, "\n".join(lines))


def test_local_plugins_can_be_switched_off(project, monkeypatch, capsys):
    from harness.cli.main import main

    monkeypatch.setenv("HARNESS_LOCAL_PLUGINS", "0")
    assert not [item.provider for item in current().manifests if item.local]
    manifests, _ = find_manifests([project / "registry.yaml"], project, "", local=False)
    assert [item.provider for item in manifests] == [*["harness"] * 4, "mine"]
    monkeypatch.delenv("HARNESS_LOCAL_PLUGINS")
    assert main(["show", "length"]) == 0
    assert main(["--no-local-plugins", "show", "length"]) == 2
    assert "there is nothing called 'length'" in capsys.readouterr().err
    assert [item.provider for item in current().manifests if item.local] == ["mine"], (
        "the switch lasts for one call"
    )


def test_versions_of_components_appear_in_the_manifest_of_a_run(project):
    text = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        text.replace("level: item", "level: item, version: '2.1'")
    )
    in_use._load.cache_clear()
    manifest: Any = harness.evaluate("spec.yaml").manifest
    components = {item["name"]: item for item in manifest["plugins"]}
    assert components["length"]["version"] == "2.1"
    assert (components["length"]["provider"], components["length"]["used"]) == (
        "mine",
        True,
    )
    assert "version" not in components["echo"]
