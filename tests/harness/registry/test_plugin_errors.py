"""Exceptions of plugins, in one line."""

from __future__ import annotations

import sys

from harness.registry import current, plugin_errors
from harness.registry.plugin_errors import plugin_failure


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
    assert line.startswith("the plugin 'mine' failed: KeyError: 3 (mine_parts.py, line ")


def test_other_errors_have_no_line(project):
    assert plugin_failure(error_of(int, "x")) is None


def test_without_another_open_file_no_plugin_is_named(monkeypatch):
    def full():
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(plugin_errors, "current", full)
    assert plugin_failure(error_of(int, "x")) is None
