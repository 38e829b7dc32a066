"""Hook modules: loading from entry points and manifests, order of calls,
wrappers, failures.
"""

from __future__ import annotations

import json
import subprocess
import sys
from types import ModuleType

import pytest

from harness.errors import HarnessError, MissingExtra
from harness.registry import current, hooks, in_use
from harness.registry.hooks import Plugins, hookimpl, plugin_failure

SECTIONS = "harness_report_sections"
HOOKS = """
from harness.registry.hooks import hookimpl
@hookimpl
def harness_run_started(manifest):
    open("started.txt", "a").write(manifest["task"] + "\\n")
@hookimpl
def harness_run_finished(manifest, results):
    open("finished.txt", "w").write(str(len(results)))
@hookimpl
def harness_commands(subparsers):
    parser = subparsers.add_parser("greet")
    parser.add_argument("name")
    parser.set_defaults(run=lambda args: print("hello", args.name))
"""
BY_ENTRY_POINT = "metrics: {one: {import: 'acme.parts:One'}}"
PAIR = ("score", "--candidates", "p.json", "--references", "r.json", "-m", "one")


def section(title: str) -> list[dict[str, str]]:
    return [{"title": title, "html": ""}]


def plugins(**implementations) -> Plugins:
    """Return plugins with one module per keyword;
    each defines the hook of report sections.
    """
    loaded = Plugins()
    for name, function in implementations.items():
        module = ModuleType(name)
        setattr(module, SECTIONS, function)
        loaded.manager.register(module, name=name)
    loaded.manager.check_pending()
    return loaded


def titles(loaded: Plugins) -> list[str]:
    return [
        item["title"]
        for part in loaded.call(SECTIONS, manifest={}, results=[])
        for item in part
    ]


def test_a_missing_package_is_one_plain_line():
    @hookimpl
    def missing(manifest):
        raise MissingExtra("loggers need the package wandb: pip install wandb")

    with pytest.raises(
        MissingExtra, match="^loggers need the package wandb: pip install wandb$"
    ):
        plugins(bad=missing).call(SECTIONS, manifest={}, results=[])


def test_the_last_registered_plugin_is_called_first():
    loaded = plugins(
        a=hookimpl(lambda manifest: section("a")),
        b=hookimpl(lambda results: section("b")),
    )
    assert titles(loaded) == ["b", "a"]


def test_tryfirst_and_trylast_order_the_calls():
    loaded = plugins(
        first=hookimpl(lambda manifest: section("first"), tryfirst=True),
        plain=hookimpl(lambda manifest: section("plain")),
        other=hookimpl(lambda manifest: section("other")),
        last=hookimpl(lambda manifest: section("last"), trylast=True),
    )
    assert titles(loaded) == ["first", "other", "plain", "last"]


def test_a_wrapper_runs_around_the_other_plugins_and_may_change_their_results():
    order: list[str] = []

    def around(manifest):
        order.append("before")
        results = yield
        order.append("after")
        return [*results, section("added")]

    def inner(manifest):
        order.append("inner")
        return section("inner")

    loaded = plugins(
        wrapper=hookimpl(around, wrapper=True), inner=hookimpl(inner, tryfirst=True)
    )
    assert titles(loaded) == ["inner", "added"]
    assert order == ["before", "inner", "after"]


def test_results_of_none_are_left_out():
    assert titles(
        plugins(
            silent=hookimpl(lambda manifest: None),
            a=hookimpl(lambda manifest: section("a")),
        )
    ) == ["a"]


def fail(manifest):
    raise ValueError("no disk")


def passing(manifest):
    return (yield)


def test_a_plugin_that_raises_is_named():
    loaded = plugins(
        good=hookimpl(lambda manifest: None),
        bad=hookimpl(fail),
        wrapper=hookimpl(passing, wrapper=True),
    )
    message = f"^plugin 'bad' failed in {SECTIONS}: ValueError: no disk$"
    with pytest.raises(HarnessError, match=message) as caught:
        titles(loaded)
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_wrapper_that_raises_is_named():
    def failing(manifest):
        yield
        raise KeyError("x")

    loaded = plugins(
        wrapper=hookimpl(failing, wrapper=True), good=hookimpl(lambda manifest: None)
    )
    with pytest.raises(
        HarnessError, match="plugin 'wrapper' failed in .*: KeyError: 'x'"
    ):
        titles(loaded)


def test_a_method_of_an_object_that_raises_is_named():
    class Reporter:
        @hookimpl
        def harness_report_sections(self, manifest):
            fail(manifest)

    loaded = plugins(good=hookimpl(lambda manifest: None))
    loaded.manager.register(Reporter(), name="reporter")
    with pytest.raises(HarnessError, match="plugin 'reporter' failed"):
        titles(loaded)


@pytest.fixture
def pair(site, tmp_path):
    (tmp_path / "p.json").write_text('[{"image_id": 1, "caption": "a"}]')
    (tmp_path / "r.json").write_text('[{"image_id": 1, "references": ["a", "b"]}]')
    return tmp_path


@pytest.mark.slow
def test_hooks_of_entry_points_run_and_add_verbs_and_broken_ones_do_not_stop_the_run(
    install, pair, metric_code
):
    install("acme", BY_ENTRY_POINT, metric_code + HOOKS, hooks="acme.parts")
    install("bad", None, "1 / 0", hooks="bad.parts")
    command = [sys.executable, "-m", "harness"]
    run = [*command, *PAIR, "--json"]
    done = subprocess.run(run, cwd=pair, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["value"] == 1.0
    assert (pair / "finished.txt").read_text() == "1"
    done = subprocess.run(
        [*command, "greet", "you"],
        cwd=pair,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "hello you\n", done.stderr


def test_hooks_of_a_manifest_run_once_even_when_an_entry_point_names_them_too(
    install, pair, metric_code
):
    from harness.cli.main import main

    install(
        "acme",
        f"{BY_ENTRY_POINT}\nhooks: [acme.parts]",
        metric_code + HOOKS,
        hooks="acme.parts",
    )
    assert main([*PAIR, "--json"]) == 0
    assert (pair / "started.txt").read_text().splitlines() == ["score p.json"]


def test_hooks_of_the_local_registry_are_imported_from_its_folder(project):
    import harness

    (project / "local_hooks.py").write_text(HOOKS)
    (project / "registry.yaml").write_text(
        (project / "registry.yaml").read_text() + "hooks: [local_hooks]\n"
    )
    in_use._load.cache_clear()
    try:
        harness.evaluate("spec.yaml")
        assert (project / "started.txt").read_text() == "words\n"
        assert (project / "finished.txt").read_text() == "1"
    finally:
        sys.modules.pop("local_hooks", None)


def test_hooks_of_the_local_registry_are_not_imported_by_list(project, capsys):
    from harness.cli.main import main

    (project / "registry.yaml").write_text(
        (project / "registry.yaml").read_text() + "hooks: [no_such_module]\n"
    )
    in_use._load.cache_clear()
    assert main(["list", "metrics"]) == 0
    assert "no_such_module" not in capsys.readouterr().out


def test_a_module_with_an_unknown_hook_is_a_failure_and_the_next_one_is_loaded(install):
    misspelt = HOOKS.replace("harness_run_started", "harness_run_begun")
    install("bad", None, misspelt, hooks="bad.parts")
    install("good", None, HOOKS, hooks="good.parts")
    loaded = Plugins().load(current())
    names = [
        name
        for name, _ in loaded.manager.list_name_plugin()
        if not name.startswith("harness:")
    ]
    assert names == ["good"]
    (failure,) = [item for item in loaded.failures if item.phase == "hooks"]
    assert (failure.provider, "harness_run_begun" in failure.reason) == ("bad", True)


def test_strict_loading_raises(install, monkeypatch):
    install("bad", "hooks: [bad.parts]", "1 / 0")
    assert [failure.provider for failure in Plugins().load(current()).failures] == [
        "bad:bad.parts"
    ]
    monkeypatch.setenv("HARNESS_STRICT_PLUGINS", "1")
    with pytest.raises(ZeroDivisionError):
        Plugins().load(current())


def test_an_object_of_a_module_may_hold_the_hooks(install):
    code = """
from harness.registry.hooks import hookimpl
class Reporter:
    @hookimpl
    def harness_report_sections(self, manifest, results):
        return [{"title": "T", "html": ""}]
reporter = Reporter()
"""
    install("acme", "hooks: acme.parts:reporter", code)
    assert titles(Plugins().load(current())) == ["T"]


def error_of(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return error
    raise AssertionError("no error")


def test_an_error_of_a_plugin_names_it_and_the_place(project):
    path = project / "mine_parts.py"
    path.write_text(path.read_text() + "\n\ndef fail(x):\n    return {}[x]\n")
    sys.modules.pop("mine_parts", None)
    module = current().load_module("metrics", "length")
    line = plugin_failure(error_of(module.fail, 3))
    assert line is not None
    assert line.startswith(
        "the plugin 'mine' failed: KeyError: 3 (mine_parts.py, line "
    )


def test_other_errors_have_no_line(project):
    assert plugin_failure(error_of(int, "x")) is None


def test_without_another_open_file_no_plugin_is_named(monkeypatch):
    def full():
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(hooks, "current", full)
    assert plugin_failure(error_of(int, "x")) is None
