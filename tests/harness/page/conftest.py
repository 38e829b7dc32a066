"""Finished runs for the report page, and its data blocks."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness import page

HOSTILE = "one <script>alert(1)</script>"
SPEC: dict[str, Any] = {
    "task": "words & <b>more</b>",
    "dataset": {"reader": "words"},
    "models": [
        {"echo": {"label": HOSTILE}},
        {"echo": {"label": "two", "fail": ["e1"]}},
        {"human": {"label": "people", "held_out": 1}},
        {"shuffled": {"label": "others"}},
    ],
    "metrics": ["mine/length"],
    "bootstrap": {"samples": 50},
    "significance": "exact",
    "views": [
        {"plot": "bar", "x": "model", "y": "length"},
        {
            "plot": "table",
            "x": "metric",
            "y": "*",
            "by": "model",
            "reference": {"length": 4.25},
        },
        {"plot": "texts", "y": "length", "examples": 2},
    ],
}


@pytest.fixture
def spec() -> dict[str, Any]:
    """Four models of six examples: markup in a label, a failure,
    the ends of the scale.
    """
    return {**SPEC}


@pytest.fixture
def finished(project: Path) -> Callable[..., str]:
    """``finished(name, **changes)``: the path of a finished run of the spec with
    changes.
    """

    def run(name: str = "r", **changes: object) -> str:
        harness.evaluate({**SPEC, **changes}, output=name)
        return name

    return run


@pytest.fixture
def report(finished: Callable[..., str]) -> Path:
    """The page of the spec."""
    return page.write([finished()])


@pytest.fixture
def blocks() -> Callable[[str], dict[str, bytes]]:
    """``blocks(html)``: name -> content of the data blocks of a page."""

    def read(text: str) -> dict[str, bytes]:
        parts = re.findall(r'data-block="([^"]+)">([^<]*)<', text)
        return {name: gzip.decompress(base64.b64decode(data)) for name, data in parts}

    return read
