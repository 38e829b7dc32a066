"""``harness inspect``: what it refuses; the browser itself is tested with its module."""

from __future__ import annotations

import harness
from harness.cli import inspect
from harness.cli.main import main
from harness.reporting import example_browser


def test_without_a_terminal_it_names_the_report(project, capsys):
    harness.evaluate("spec.yaml", output="r")
    assert main(["inspect", "r"]) == 2
    assert "needs a terminal; 'harness report r' makes a page" in capsys.readouterr().err


def test_an_unknown_metric_is_an_error_with_the_nearest(project, capsys):
    harness.evaluate("spec.yaml", output="r")
    assert main(["inspect", "r", "-m", "lenght"]) == 2
    assert "did you mean 'length'" in capsys.readouterr().err


def test_a_folder_without_a_run_is_an_error(project, capsys):
    assert main(["inspect", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_in_a_terminal_it_opens_the_browser(project, monkeypatch):
    harness.evaluate("spec.yaml", output="r")
    opened = []
    monkeypatch.setattr(inspect.sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(inspect.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(example_browser.ExampleBrowser, "run", lambda app: opened.append((app.metric, app.text_query)))
    assert main(["inspect", "r", "-m", "length", "--search", "dog"]) == 0
    assert opened == [("length", "dog")]
