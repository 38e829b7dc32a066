"""docs/loggers.md names every logger of examples/loggers with its parameters."""

from __future__ import annotations

import importlib
import inspect
import re


def test_every_logger_and_parameter_is_listed(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "examples" / "loggers"))
    services = importlib.import_module("caption_loggers.services").SERVICES
    loggers_of = importlib.import_module("caption_loggers.settings").loggers_of
    text = (root / "docs" / "loggers.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", text, re.MULTILINE))
    assert set(rows) == set(services)
    for name, service in services.items():
        parameters = list(inspect.signature(service).parameters)[1:]
        assert re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", rows[name])) == parameters
    for value in re.findall(r"HARNESS_LOGGERS=(\S+) harness", text):
        for name, params in loggers_of(value):
            assert set(params) <= set(inspect.signature(services[name]).parameters)
