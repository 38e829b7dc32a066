"""``harness validate``: valid specs, views, JSON."""

from __future__ import annotations

import json

import pytest

from harness.cli.main import main

TWO_SIZES = ("--set", "decoding.candidates=[1, 2]")
DATA = """task: t
dataset: {reader: jsonl, path: refs.jsonl}
models: [{predictions: {path: c.jsonl}}]
metrics: [rouge]
"""


def test_a_valid_spec_is_described_and_nothing_is_written(project, capsys):
    assert main(["validate", "spec.yaml", *TWO_SIZES]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "spec.yaml: valid; task words, reader words\n  models: echo\n  decodings: "
        "2\n  metrics: length\n  cost: "
    )
    assert out.endswith("of memory\n")
    assert not (project / "runs").exists()


def test_json(project, capsys):
    assert main(["validate", "spec.yaml", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert set(row.pop("estimate")) == {"text", "seconds", "bytes"}
    assert row == {
        "task": "words",
        "variant": "",
        "reader": "words",
        "models": ["echo"],
        "decodings": 1,
        "metrics": ["length"],
    }


@pytest.mark.parametrize(
    "view",
    [
        "{plot: table, x: decoding.candidates, by: model}",
        "{plot: table, x: metric, by: decoding.candidates}",
        "{plot: line, x: model}",
    ],
)
def test_a_view_with_one_result_per_cell_is_valid(project, view):
    assert main(["validate", "spec.yaml", *TWO_SIZES, "--set", f"views=[{view}]"]) == 0


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "dataset.split=tst",
            "refs.jsonl: no split 'tst'; did you mean 'test'?; found train, test",
        ),
        ("dataset.split=[train, dev]", "refs.jsonl: no split 'dev'; found train, test"),
        ("dataset.columns={references: capt}", "refs.jsonl:1: no column 'capt'"),
    ],
)
def test_data_that_cannot_be_read_as_the_spec_says_are_refused(
    tmp_path, monkeypatch, capsys, setting, message
):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": k, "captions": ["a dog", "the dog"], "split": name}
        for k, name in enumerate(("train", "test", "test"))
    ]
    (tmp_path / "refs.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    (tmp_path / "c.jsonl").write_text(
        "".join(json.dumps({"id": k, "candidates": ["a dog"]}) + "\n" for k in range(3))
    )
    (tmp_path / "spec.yaml").write_text(DATA)
    assert main(["validate", "spec.yaml", "--set", "dataset.split=test"]) == 0
    assert "2 examples" in capsys.readouterr().out
    assert main(["validate", "spec.yaml", "--set", setting]) == 2
    assert capsys.readouterr().err.startswith(f"harness: {message}")


def test_a_view_with_several_results_in_one_cell_is_refused_with_its_line(
    project, capsys
):
    written = (
        (project / "spec.yaml")
        .read_text()
        .replace("  - echo: {}\n", "  - echo: {n: 1}\n  - echo: {n: 2}\n")
    )
    (project / "spec.yaml").write_text(
        written + "views:\n  - {plot: bar, title: T, x: metric}\n"
    )
    assert main(["validate", "spec.yaml"]) == 2
    message = (
        "the view 'T' has one cell for several results, which differ in model (echo, "
        "echo #2): make model its x or by"
    )
    assert capsys.readouterr().err.strip() == f"harness: spec.yaml:10: {message}"
