"""``harness inspect``: what it refuses;
the browser itself is tested with its module.
"""

from __future__ import annotations

import argparse

import pytest
from caption_browser import app, inspect

from harness.errors import HarnessError


def call(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    inspect.add_arguments(parser)
    return inspect.run(parser.parse_args(arguments))


def test_without_a_terminal_it_names_the_report(captions_run):
    with pytest.raises(
        HarnessError, match="needs a terminal; 'harness report .*sample' makes a page"
    ):
        call(str(captions_run.path))


def test_an_unknown_metric_is_an_error_with_the_nearest(captions_run):
    with pytest.raises(HarnessError, match="did you mean 'rouge'"):
        call(str(captions_run.path), "-m", "roge")


def test_a_folder_without_a_run_is_an_error():
    with pytest.raises(HarnessError, match="nowhere"):
        call("nowhere")


def test_in_a_terminal_it_opens_the_browser(captions_run, monkeypatch):
    opened = []
    monkeypatch.setattr(inspect.sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(inspect.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(
        app.ExampleBrowser,
        "run",
        lambda app: opened.append((app.metric, app.text_query)),
    )
    assert call(str(captions_run.path), "-m", "rouge", "--search", "dog") == 0
    assert opened == [("rouge", "dog")]
