"""A finished run with every kind of number: intervals, p-values, scores per example, a decoding axis, opposite directions."""

from __future__ import annotations

from pathlib import Path

import pytest

import harness

SPEC = {
    "task": "sample",
    "dataset": {"reader": "coco", "path": str(Path(__file__).parents[4] / "tasks" / "sample" / "captions.json")},
    "references": 5,
    "limit": 16,
    "models": [
        {"human": {"label": "people", "held_out": 5}},
        {"central": {"label": "central", "distance": "bleu", "n": 5, "held_out": True}},
        {"shuffled": {"label": "other <b>scene</b>", "n": 5}},
    ],
    "metrics": [
        *({name: {"tokenizer": "none"}} for name in ("bleu1", "rouge", "mbleu")),
        {"trm": {"distance": "bleu"}},
    ],
    "significance": {"method": "exact"},
    "bootstrap": {"samples": 50},
}  # fmt: skip


@pytest.fixture(scope="session")
def captions_run(tmp_path_factory):
    """The run, in a directory of its own."""
    return harness.evaluate(SPEC, output=tmp_path_factory.mktemp("runs") / "sample")
