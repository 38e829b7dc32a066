"""A finished run of the sample that ships with the harness."""

from __future__ import annotations

import pytest

import harness

MODELS = [
    {"human": {"label": "people", "held_out": 5}},
    {"central": {"label": "central", "distance": "bleu", "n": 5, "held_out": True}},
    {"shuffled": {"label": "other <b>scene</b>", "n": 5}},
]


@pytest.fixture(scope="session")
def captions_run(tmp_path_factory):
    """Three systems, sixteen examples, four metrics with p-values of three."""
    sample = pytest.importorskip("harness_tasks").__path__[0] + "/sample/captions.json"
    metrics = [
        *({name: {"tokenizer": "none"}} for name in ("bleu1", "rouge", "mbleu")),
        {"trm": {"distance": "bleu"}},
    ]
    spec = {
        "task": "sample",
        "dataset": {"reader": "coco", "path": sample},
        "references": 5,
        "limit": 16,
        "models": MODELS,
        "metrics": metrics,
        "significance": {"method": "exact"},
        "bootstrap": {"samples": 50},
    }
    return harness.evaluate(spec, output=tmp_path_factory.mktemp("runs") / "sample")
