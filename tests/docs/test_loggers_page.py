"""docs/loggers.md names every logger with its parameters."""

from __future__ import annotations

import inspect
import re

from harness_metrics.loggers.services import SERVICES
from harness_metrics.loggers.settings import loggers_of


def test_every_logger_and_parameter_is_listed(root):
    text = (root / "docs" / "loggers.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", text, re.MULTILINE))
    assert set(rows) == set(SERVICES)
    for name, service in SERVICES.items():
        parameters = list(inspect.signature(service).parameters)[1:]
        assert re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", rows[name])) == parameters
    for value in re.findall(r"HARNESS_LOGGERS=(\S+) harness", text):
        for name, params in loggers_of(value):
            assert set(params) <= set(inspect.signature(SERVICES[name]).parameters)
