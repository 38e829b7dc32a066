"""samples.parquet written shard by shard."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import InputError
from harness.rundir import sample_file
from harness.rundir.parquet import encode_columns
from harness.rundir.sample_events import EVENTS, event_records
from harness.rundir.sample_file import SampleWriter
from harness.rundir.samples import KEY_COLUMNS, META, SampleTable
from tests.support.event_runs import times

SETS = [CaptionSet(f"e{k}", ("a dog",), ("r", "s"), meta={"k": k}) for k in range(4)]


def fill(writer: SampleWriter) -> None:
    for model in ("m", "n"):
        for start in (0, 3):
            sets = SETS[start : start + 3]
            scores = {
                "x": np.arange(len(sets), dtype=float),
                "y": np.full(len(sets), np.nan),
            }
            writer.write(
                model,
                {"temperature": 1.5},
                sets,
                scores,
                {"x": np.full(len(sets), 0.5)},
            )


def test_rows_come_back_in_order(tmp_path):
    path = tmp_path / "samples.parquet"
    with SampleWriter(path.open("wb"), ["x", "y"], ["x"], has_meta=True) as writer:
        fill(writer)
    with SampleWriter(None, ["x", "y"], ["x"], has_meta=True) as writer:
        fill(writer)
    table = SampleTable.open(path)
    assert {name: list(table[name]) for name in table.names} == writer.table.to_dict()
    assert [system.label for system in table.systems] == [
        system.label for system in writer.table.systems
    ]
    assert len(table) == 8
    assert table.numbers("p:x").tolist() == [0.5] * 8
    assert np.isnan(table.numbers("y")).all()
    assert list(table.to_arrow().to_pandas()["example"][:4]) == ["e0", "e1", "e2", "e3"]


def test_shards_without_metadata_and_without_a_test_have_nulls(tmp_path):
    path = tmp_path / "samples.parquet"
    with SampleWriter(path.open("wb"), ["x"], ["x"], has_meta=True) as writer:
        writer.write("m", {}, SETS[:2], {"x": np.zeros(2)}, {"x": np.full(2, 0.5)})
        writer.write(
            "n",
            {},
            [replace(item, meta={}) for item in SETS[2:]],
            {"x": np.ones(2)},
            {},
        )
    rows = SampleTable.open(path).to_arrow().to_pylist()
    assert [row["x"] for row in rows] == [0.0, 0.0, 1.0, 1.0]
    assert [row["p:x"] for row in rows] == [0.5, 0.5, None, None]
    assert [row[META] for row in rows] == ['{"k": 0}', '{"k": 1}', None, None]


def test_p_values_of_one_system_alone_stand_in_its_rows():
    with SampleWriter(None, ["x"], ["x"], has_meta=True) as writer:
        writer.write("m", {}, SETS[:3], {"x": np.zeros(3)}, {})
        writer.write(
            "n", {}, SETS[:2], {"x": np.zeros(2)}, {"x": np.array([0.25, 0.5])}
        )
        writer.write("o", {}, SETS[:1], {"x": np.zeros(1)}, {})
    assert writer.table["p:x"] == [None, None, None, 0.25, 0.5, None]


def test_lone_surrogates_of_captions_are_escaped_and_those_of_metadata_come_back(
    tmp_path,
):
    sets = [CaptionSet("a", ("é\ud800", "é"), ("r",), meta={"name": "é\ud800"})]
    with SampleWriter(
        (tmp_path / "s.parquet").open("wb"), ["x"], [], has_meta=True
    ) as writer:
        writer.write("m", {}, sets, {"x": np.zeros(1)}, {})
    table = SampleTable.open(tmp_path / "s.parquet")
    assert table.lists("candidates") == [("é\\ud800", "é")]
    assert table.metadata == [{"name": "é\ud800"}]


def test_memory_for_two_copies_of_the_rows_is_required(tmp_path, monkeypatch):
    sizes = []
    monkeypatch.setattr(sample_file, "require_memory", sizes.append)
    with SampleWriter(
        (tmp_path / "s.parquet").open("wb"), ["x"], [], has_meta=False
    ) as writer:
        writer.write(
            "m", {}, [CaptionSet("a", ("x" * 10_000,), ("r",))], {"x": np.zeros(1)}, {}
        )
    assert len(sizes) == 1 and 20_000 < sizes[0] < 21_000


def test_metadata_are_numbers_and_short_texts():
    meta = {
        "n": 3,
        "short": "a",
        "exact": "x" * 80,
        "long": "x" * 81,
        "longer": "x" * 240,
        "list": [1],
    }
    with SampleWriter(None, ["x"], [], has_meta=True) as writer:
        writer.write("m", {}, [replace(SETS[0], meta=meta)], {"x": np.zeros(1)}, {})
    assert writer.table.metadata[0] == {"n": 3, "short": "a", "exact": "x" * 80}


def test_an_error_closes_the_file(tmp_path):
    file = (tmp_path / "s.parquet").open("wb")
    with (
        pytest.raises(RuntimeError),
        SampleWriter(file, ["x"], [], has_meta=False) as writer,
    ):
        writer.write("m", {}, SETS[:1], {"x": np.zeros(1)}, {})
        raise RuntimeError("disk full")
    assert file.closed


def test_an_error_before_the_first_row_is_the_one_that_is_raised(tmp_path):
    file = (tmp_path / "s.parquet").open("wb")
    with (
        pytest.raises(RuntimeError, match="no captions"),
        SampleWriter(file, ["x"], [], has_meta=False),
    ):
        raise RuntimeError("no captions")
    assert file.closed


def test_a_table_without_rows(tmp_path):
    with SampleWriter((tmp_path / "s.parquet").open("wb"), ["x"], [], has_meta=False):
        pass
    assert len(SampleTable.open(tmp_path / "s.parquet")) == 0


def test_sets_of_events_have_their_events_as_records_too(tmp_path):
    one, two = times(("a dog", 0.0, 2.5)), times(("a", 0.0, 1.0), ("b", 1.0, 9.0))
    sets = [CaptionSet("v", (one,), (two, one)), CaptionSet("w", (two,), (one,))]

    def write(file):
        with SampleWriter(file, ["x"], [], has_meta=False, has_events=True) as writer:
            writer.write("m", {}, sets, {"x": np.zeros(2)}, {})
            writer.write("n", {}, sets[:1], {"x": np.ones(1)}, {})
        return writer

    in_memory = write(None).table
    write((tmp_path / "s.parquet").open("wb"))
    table = SampleTable.open(tmp_path / "s.parquet")
    assert table.names == (*KEY_COLUMNS, EVENTS, "x") == in_memory.names
    assert table.metrics == table.scored_columns == ("x",) == in_memory.metrics
    assert table.to_dict() == in_memory.to_dict()
    assert table.to_arrow().schema == in_memory.to_arrow().schema
    assert [len(records) for records in table[EVENTS]] == [4, 3, 4]
    assert table[EVENTS][1] == event_records((two,), (one,))
    assert table.systems[0].caption_sets() == sets


def test_the_column_of_events_holds_records(tmp_path):
    path = tmp_path / "s.parquet"
    values = {name: ["a"] for name in ("model", "decoding", "example")}
    texts = {"candidates": [["c"]], "references": [["r"]]}
    path.write_bytes(encode_columns({**values, **texts, EVENTS: [0.5]}, [(0, 1)]))
    with pytest.raises(InputError, match="'events': found numbers, expected lists of"):
        len(SampleTable.open(path).systems)
