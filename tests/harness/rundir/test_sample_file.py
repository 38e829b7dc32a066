"""samples.parquet written shard by shard."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.rundir.sample_file import MAX_META, SampleWriter
from harness.rundir.samples import META, SampleTable

SETS = [CaptionSet(f"e{k}", ("a dog",), ("r", "s"), meta={"k": k}) for k in range(4)]


def fill(writer: SampleWriter) -> None:
    for model in ("m", "n"):
        for start in (0, 3):
            sets = SETS[start : start + 3]
            scores = {"x": np.arange(len(sets), dtype=float), "y": np.full(len(sets), np.nan)}
            writer.write(model, {"temperature": 1.5}, sets, scores, {"x": np.full(len(sets), 0.5)})


def test_rows_come_back_in_order(tmp_path):
    path = tmp_path / "samples.parquet"
    with SampleWriter(path.open("wb"), ["x", "y"], ["x"], has_meta=True) as writer:
        fill(writer)
    with SampleWriter(None, ["x", "y"], ["x"], has_meta=True) as writer:
        fill(writer)
    table = SampleTable.open(path)
    assert {name: list(table[name]) for name in table.names} == writer.table.to_dict()
    assert [system.label for system in table.systems] == [system.label for system in writer.table.systems]
    assert len(table) == 8
    assert table.numbers("p:x").tolist() == [0.5] * 8
    assert np.isnan(table.numbers("y")).all()
    assert list(table.to_arrow().to_pandas()["example"][:4]) == ["e0", "e1", "e2", "e3"]


def test_shards_without_metadata_and_without_a_test_have_nulls(tmp_path):
    path = tmp_path / "samples.parquet"
    with SampleWriter(path.open("wb"), ["x"], ["x"], has_meta=True) as writer:
        writer.write("m", {}, SETS[:2], {"x": np.zeros(2)}, {"x": np.full(2, 0.5)})
        writer.write("n", {}, [replace(item, meta={}) for item in SETS[2:]], {"x": np.ones(2)}, {})
    rows = SampleTable.open(path).to_arrow().to_pylist()
    assert [row["x"] for row in rows] == [0.0, 0.0, 1.0, 1.0]
    assert [row["p:x"] for row in rows] == [0.5, 0.5, None, None]
    assert [row[META] for row in rows] == ['{"k": 0}', '{"k": 1}', None, None]


def test_metadata_are_numbers_and_short_texts():
    meta = {"n": 3, "exact": "x" * MAX_META, "long": "x" * (MAX_META + 1), "longer": "x" * 3 * MAX_META, "list": [1]}
    with SampleWriter(None, ["x"], [], has_meta=True) as writer:
        writer.write("m", {}, [replace(SETS[0], meta=meta)], {"x": np.zeros(1)}, {})
    assert writer.table.metadata[0] == {"n": 3, "exact": "x" * MAX_META}


def test_an_error_closes_the_file(tmp_path):
    file = (tmp_path / "s.parquet").open("wb")
    with pytest.raises(RuntimeError), SampleWriter(file, ["x"], [], has_meta=False) as writer:
        writer.write("m", {}, SETS[:1], {"x": np.zeros(1)}, {})
        raise RuntimeError("disk full")
    assert file.closed


def test_a_table_without_rows(tmp_path):
    with SampleWriter((tmp_path / "s.parquet").open("wb"), ["x"], [], has_meta=False):
        pass
    assert len(SampleTable.open(tmp_path / "s.parquet")) == 0
