"""Local registries: code of their own folder, nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.errors import HarnessError
from harness.registry import current, in_use
from harness.registry.local_code import import_from, module_file

HOSTILE = [
    'metrics: {m: {import: "os:system"}}',
    'metrics: {m: {import: "subprocess:check_output"}}',
    'metrics: {m: {import: "builtins:eval"}}',
    'metrics: {m: {import: "antigravity:geohash"}}',
    'metrics: {m: {import: "harness.registry.in_use:create"}}',
    'metrics: {m: {import: "..evil:Evil"}}',
    'metrics: {m: {import: "evil/../../evil:Evil"}}',
    'metrics: {m: {import: "empty:Evil"}}',
    'metrics: {m: {import: "linked:Evil"}}',
    'metrics: {m: {import: "os.path:join"}}',
    'adapters: {m: {import: "harness_metrics.ngram.bleu:Bleu"}}',
    'commands: {m: {import: "os:system"}}',
]


def declare(project: Path, text: str) -> None:
    """Replace the registry of the project."""
    (project / "registry.yaml").write_text(f"provider: mine\n{text}\n")
    in_use._load.cache_clear()


@pytest.mark.parametrize("text", HOSTILE)
def test_code_outside_the_folder_is_refused_and_not_imported(project, text):
    outside = project.parent / f"{project.name}-outside"
    outside.mkdir()
    (outside / "evil.py").write_text("open('PWNED', 'w')\nclass Evil: pass\n")
    (project / "linked.py").symlink_to(outside / "evil.py")
    (project / "empty").mkdir()
    declare(project, text)
    sys.modules.pop("antigravity", None)
    (entry,) = [entry for entry in current().entries() if entry.provider == "mine"]
    with pytest.raises(
        HarnessError, match="a local registry may name code in its own folder"
    ) as caught:
        current().load(entry.kind, entry.full_name)
    assert "\n" not in str(caught.value)
    assert "antigravity" not in sys.modules
    assert not (project / "PWNED").exists()


@pytest.mark.slow
def test_a_shell_command_does_not_run_under_validate(project):
    declare(project, 'metrics: {m: {import: "os:system"}}')
    (project / "evil.yaml").write_text(
        "task: t\ndataset: {reader: lines, path: x}\nmodels: [human]\nmetrics: [m: "
        "{command: 'touch PWNED'}]\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "harness", "validate", "evil.yaml"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert not (project / "PWNED").exists()


def test_hooks_outside_the_folder_are_not_imported(project):
    from harness.registry.hooks import Plugins

    declare(project, "hooks: [antigravity]")
    sys.modules.pop("antigravity", None)
    (failure,) = Plugins().load(current()).failures
    assert "may name code in its own folder" in failure.reason
    assert "antigravity" not in sys.modules


def test_a_component_that_a_distribution_declares_may_have_another_name(project):
    target = current().get("metrics", "bleu").target
    declare(project, f'metrics: {{my-bleu: {{import: "{target}"}}}}')
    assert type(current().create("metrics", "my-bleu")) is current().load(
        "metrics", "harness/bleu"
    )


def test_a_module_that_another_one_hides_is_refused(project):
    (project / "json.py").write_text("class Mine: pass\n")
    declare(project, 'metrics: {m: {import: "json:loads"}}')
    with pytest.raises(HarnessError, match="another module of this name is in use"):
        current().load("metrics", "m")


@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["list"], ["show", "length"], ["schema"], ["list", "--json"]],
)
def test_verbs_that_show_the_catalogue_import_no_local_code(project, arguments):
    (project / "mine_parts.py").write_text(
        "open('IMPORTED', 'w')\n" + (project / "mine_parts.py").read_text()
    )
    done = subprocess.run(
        [sys.executable, "-m", "harness", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (project / "IMPORTED").exists()


def test_the_manifest_of_a_run_names_local_code(project):
    (project / "my_hooks.py").write_text("")
    with (project / "registry.yaml").open("a") as file:
        file.write("hooks: [my_hooks]\n")
    in_use._load.cache_clear()
    manifest: Any = harness.evaluate("spec.yaml").manifest
    (item,) = manifest["local_code"]
    assert (item["registry"], item["provider"], item["hooks"]) == (
        str(project / "registry.yaml"),
        "mine",
        ["my_hooks"],
    )
    assert list(item["modules"]) == ["mine_parts"]
    sys.modules.pop("my_hooks", None)


def test_modules_and_packages_are_found_without_an_import(tmp_path):
    (tmp_path / "pack" / "deep").mkdir(parents=True)
    (tmp_path / "pack" / "__init__.py").write_text("1 / 0")
    (tmp_path / "pack" / "deep" / "part.py").write_text("x = 1")
    assert module_file(tmp_path, "pack") == tmp_path / "pack" / "__init__.py"
    assert (
        module_file(tmp_path, "pack.deep.part")
        == tmp_path / "pack" / "deep" / "part.py"
    )
    assert module_file(tmp_path, "pack.deep") is None
    assert module_file(tmp_path, "os") is None
    with pytest.raises(ZeroDivisionError):
        import_from(tmp_path, "pack", "metric 'm'")
