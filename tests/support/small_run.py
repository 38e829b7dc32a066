"""A small run of the shipped sample, in a working directory of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import harness_tasks

__all__ = ["folder", "spec"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """The working directory of the test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def spec() -> dict[str, object]:
    """Six examples of two captions each by one system, and one metric."""
    sample = Path(harness_tasks.__file__).parent / "sample" / "captions.json"
    return {
        "task": "words",
        "dataset": {"reader": "coco", "path": str(sample)},
        "limit": 6,
        "references": 2,
        "models": [{"human": {"held_out": 2}}],
        "metrics": ["bleu1"],
        "bootstrap": {"samples": 50},
    }
