"""Installed distributions of third parties, laid into a folder on the import path."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.registry import in_use

METRIC = """
from harness.contracts import MeanMetric, MetricSpec
import numpy as np
class One(MeanMetric):
    def __init__(self, *, value=1.0):
        self.value = value
        self.spec = MetricSpec("one", higher_is_better=True)
    def scores(self, batch, features, state):
        return np.full(len(batch), self.value)
"""
PROVIDERS = ("acme", "bolt", "good", "bad")


@pytest.fixture
def metric_code() -> str:
    """Source of a module with the metric ``One``,
    whose score is its parameter ``value``.
    """
    return METRIC


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the import path; the current directory is its parent."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(in_use, "_extra_files", [])
    in_use._load.cache_clear()
    yield folder
    in_use._load.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] in PROVIDERS]:
        del sys.modules[name]


@pytest.fixture
def install(site: Path) -> Callable[..., None]:
    """A function that installs a distribution:
    ``install(name, manifest, code="", hooks="")``.
    """

    def lay(name: str, manifest: str | None, code: str = "", hooks: str = "") -> None:
        package = site / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "parts.py").write_text(code)
        if manifest is not None:
            (package / "registry.yaml").write_text(manifest)
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        )
        points = f"[harness.manifests]\n{name} = {name}\n" + (
            f"[harness]\n{name} = {hooks}\n" if hooks else ""
        )
        (info / "entry_points.txt").write_text(points)

    return lay
