"""The default metrics: COCO's set, from the registry; those that are not installed are left out with their reason."""

from __future__ import annotations

import pytest

import harness
from harness.errors import MissingExtra
from harness.registry import current
from harness.run.default_metrics import default_metrics

COCO = ["bleu1", "bleu2", "bleu3", "bleu4", "meteor", "rouge", "cider"]


def test_without_its_files_the_optional_metric_is_left_out(monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    monkeypatch.delenv("HARNESS_SPICE_JARS", raising=False)
    names, left_out = default_metrics()
    assert names == COCO
    assert list(left_out) == ["spice"]
    assert "HARNESS_SPICE_JARS" in left_out["spice"]


@pytest.mark.parametrize("runs", [True, False])
def test_an_installed_metric_is_asked_to_check_its_programs(monkeypatch, runs):
    class Installed:
        def __init__(self) -> None: ...

        def check_installation(self) -> None:
            if not runs:
                raise MissingExtra("no compiler")

    catalogue = type(current())
    monkeypatch.setattr(catalogue, "create", lambda self, kind, name, params=None: Installed())
    names, left_out = default_metrics()
    assert (names, left_out) == (([*COCO, "spice"], {}) if runs else (COCO, {"spice": "no compiler"}))


def test_the_python_functions_use_them(monkeypatch):
    monkeypatch.setattr("harness.api.default_metrics", lambda: (["BLEU-1", "Rouge_L"], {}))
    scores = harness.score([["a dog runs"], ["a cat"]], [["the dog runs"], ["a cat"]])
    assert list(scores) == ["bleu1", "rouge"]
