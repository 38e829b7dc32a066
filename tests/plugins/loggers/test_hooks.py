"""The variable that requests loggers, without the plugin that has them."""

from __future__ import annotations

import importlib.util
import json

import pytest

from harness.cli.main import main


@pytest.fixture
def scores(tmp_path, monkeypatch):
    """Run ``harness score`` where the plugin of the loggers is not installed."""
    (tmp_path / "p.json").write_text(json.dumps({"a": "a dog", "b": "a cat"}))
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *args: None if "logger" in name else find(name, *args),
    )
    paths = [str(tmp_path / "p.json"), "--references", str(tmp_path / "p.json")]
    return lambda: main(["score", *paths, "-m", "caption-length", "--json"])


def test_loggers_without_their_plugin_end_the_run_with_what_to_install(
    scores, monkeypatch, capsys
):
    monkeypatch.setenv("HARNESS_LOGGERS", "wandb")
    assert scores() == 2
    captured = capsys.readouterr()
    assert (
        "HARNESS_LOGGERS needs the plugin caption-loggers, which is not installed: "
        "pip install" in captured.err
    )
    assert "subdirectory=examples/loggers" in captured.err
    assert captured.out == ""


def test_a_run_without_loggers_needs_no_plugin(scores, monkeypatch):
    monkeypatch.delenv("HARNESS_LOGGERS", raising=False)
    assert scores() == 0
