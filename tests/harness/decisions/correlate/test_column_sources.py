"""Columns of files and of run directories."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.decisions.correlate.column_sources import read_columns
from harness.errors import InputError


def run_directory(path, results, samples=None):
    path.mkdir()
    (path / "manifest.json").write_text(
        json.dumps({"task": "toy", "digest": "0", "signature": "toy"})
    )
    (path / "results.json").write_text(json.dumps({"schema": 1, "results": results}))
    if samples:
        pq.write_table(pa.Table.from_pylist(samples), path / "samples.parquet")
    return path


def result(model, metric, value, level="item", **decoding):
    return {
        "model": model,
        "task": "toy",
        "decoding": decoding,
        "metric": metric,
        "value": value,
        "level": level,
    }


def test_systems_of_runs(tmp_path):
    first = run_directory(
        tmp_path / "one",
        [
            result("m", "cider", 1.0, temperature=1.0),
            result("m", "cider", 2.0, temperature=0.5),
            result("m", "pregen(x)", 0.25, level="model"),
            result("k", "cider", "inf", temperature=1.0),
            result("k", "bleu", None, temperature=1.0),
            result("s", "pregen(x)", 0.5, level="model"),
        ],
    )
    table = read_columns([first])
    assert table.labels["model"] == ("m", "m", "k", "s")
    np.testing.assert_array_equal(table.numbers["cider"], [1, 2, np.inf, np.nan])
    np.testing.assert_array_equal(table.numbers["pregen(x)"], [0.25, 0.25, np.nan, 0.5])
    assert table.labels["dataset"] == ("toy",) * 4
    assert (
        len(
            read_columns(
                [first, run_directory(tmp_path / "two", [result("m", "cider", 3.0)])]
            )
        )
        == 5
    )


def test_examples_of_runs(tmp_path):
    samples = [
        {
            "model": "m",
            "decoding": "{}",
            "example": "1",
            "candidates": ["a"],
            "references": ["a"],
            "cider": 1.0,
        },
        {
            "model": "m",
            "decoding": "{}",
            "example": "2",
            "candidates": ["a"],
            "references": ["a"],
            "cider": None,
        },
    ]
    table = read_columns([run_directory(tmp_path / "one", [], samples)], "example")
    np.testing.assert_array_equal(table.numbers["cider"], [1, np.nan])
    assert (
        table.labels["example"]
        if "example" in table.labels
        else table.numbers["example"].tolist() == [1, 2]
    )
    with pytest.raises(InputError, match="no scores per example"):
        read_columns([run_directory(tmp_path / "two", [])], "example")


def test_bad_sources(tmp_path):
    run = run_directory(tmp_path / "one", [])
    (tmp_path / "t.tsv").write_text("a\n1\n")
    with pytest.raises(InputError, match="not both"):
        read_columns([run, tmp_path / "t.tsv"])
    with pytest.raises(InputError, match="no such file or run directory"):
        read_columns([tmp_path / "none"])
