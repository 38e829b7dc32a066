"""Blocks of examples: what a script reads from them is what the run holds."""

from __future__ import annotations

import base64
import gzip
import json

import numpy as np
import pytest

from harness.reporting.page import examples
from harness.reporting.page.groups import groups_of, open_run


@pytest.fixture
def read(monkeypatch):
    """``read(run, limit)``: name -> content of the blocks, in parts of four examples."""
    monkeypatch.setattr(examples, "PART", 4)

    def blocks(*names: str, limit: int | None = None) -> dict[str, bytes]:
        (group,) = groups_of([(name, open_run(name)) for name in names])
        result = examples.example_blocks(group, "g", limit)
        return {block.name: gzip.decompress(base64.b64decode(block.data)) for block in result.blocks}

    return blocks


def numbers(content: bytes, systems: int) -> np.ndarray:
    planes = np.frombuffer(content, np.uint8).reshape(4, -1)
    return np.ascontiguousarray(planes.T).view("<f4").reshape(systems, -1)


def test_captions_references_and_scores_of_every_system(read, finished):
    blocks = read(finished())
    index = json.loads(blocks["g-index"])
    assert index["ids"] == [f"e{k}" for k in range(6)] and index["part"] == 4
    assert [metric["name"] for metric in index["metrics"]] == ["length"] and index["metrics"][0]["p"]
    assert json.loads(blocks["g-refs-1"])[0] == ["a dog number 4", "the dog 4 runs"]
    assert json.loads(blocks["g-caps-0-1"])["c"][1] == ["a dog number 5", "the dog 5 runs x"]
    scores = numbers(blocks["g-score-0"], 4)
    assert scores.shape == (4, 6) and np.isnan(scores[1, 1]) and scores[0, 0] == 4.5
    assert numbers(blocks["g-p-0"], 4)[0, 0] <= 1


def test_a_system_with_fewer_examples_has_rows_and_own_references_are_kept(read, finished):
    blocks = read(finished())
    assert np.frombuffer(blocks["g-rows-1"], "<i4").tolist() == [0, -1, 1, 2, 3, 4]
    assert "g-rows-0" not in blocks
    own = json.loads(blocks["g-caps-2-0"])
    assert len(own["r"]["0"]) == 1, "held-out people are compared with the other reference"


def test_fewer_examples_are_spread_over_the_data(read, finished):
    blocks = read(finished(), limit=2)
    index = json.loads(blocks["g-index"])
    assert index["ids"] == ["e1", "e4"] and index["total"] == 6
    assert json.loads(blocks["g-caps-0-0"])["c"][1][0] == "a dog number 4"
    assert json.loads(blocks["g-caps-1-0"])["c"][0][0] == "a dog number 4", "the second model failed for e1"


def test_systems_of_two_runs_share_the_examples(read, finished):
    blocks = read(finished("a"), finished("b", models=[{"echo": {"label": "third"}}]))
    index = json.loads(blocks["g-index"])
    assert [system["run"] for system in index["systems"]] == ["a", "a", "a", "a", "b"]
    assert numbers(blocks["g-score-0"], 5)[4, 0] == 4.5


def test_numbers_that_are_no_means_of_scores_come_last(read, finished):
    metrics = [{"bleu": {"tokenizer": "none"}}, {"rouge": {"tokenizer": "none"}}, "mine/length"]
    models = [{"human": {"held_out": 1}}, {"shuffled": {}}]
    index = json.loads(read(finished(metrics=metrics, models=models, views=[]))["g-index"])
    assert [metric["label"] for metric in index["metrics"]] == ["rouge", "length", "bleu4"], "BLEU of a corpus is none of its sentences"
