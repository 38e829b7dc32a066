"""Samples: columns by name, systems, writing and lazy reading."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.contracts import CaptionSet
from harness.errors import InputError, UnknownName
from harness.rundir.sample_file import SampleColumns
from harness.rundir.samples import SampleTable, cluster_of
from tests.support.sample_files import write_samples

SETS = [CaptionSet("a", ("x", "y"), ("r",)), CaptionSet("b", ("z",), ("s", "t"))]


@pytest.fixture
def table() -> SampleTable:
    columns = SampleColumns(["m", "k"])
    columns.begin("one", {}, SETS)
    columns.add("m", np.array([0.5, np.nan]), np.array([0.25, np.nan]))
    columns.begin("two", {"temperature": 0.5, "references": 1}, SETS[:1])
    columns.add("m", np.array([1.0]), None)
    columns.add("k", np.array([2.0]), np.array([1.0]))
    return columns.table()


@pytest.fixture
def read(table, tmp_path) -> SampleTable:
    write_samples(tmp_path / "samples.parquet", table)
    return SampleTable.open(tmp_path / "samples.parquet")


def test_columns_and_null_values(table):
    assert table.names == (
        "model",
        "decoding",
        "example",
        "candidates",
        "references",
        "m",
        "k",
        "p:m",
        "p:k",
    )
    assert (table.metrics, table.scored_columns) == (
        ("m", "k"),
        ("m", "k", "p:m", "p:k"),
    )
    assert (len(table), "m" in table, "x" in table) == (3, True, False)
    assert table["m"] == [0.5, None, 1.0]
    assert table["k"] == [None, None, 2.0]
    assert table["p:k"] == [None, None, 1.0]
    assert np.array_equal(table.numbers("p:m"), [0.25, np.nan, np.nan], equal_nan=True)
    assert table.lists("references") == [("r",), ("s", "t"), ("r",)]


def test_a_table_without_rows_has_no_metrics():
    assert SampleColumns(["m"]).table().metrics == ()


def test_an_unknown_column_is_an_error_with_the_nearest_name(table):
    with pytest.raises(
        UnknownName,
        match="the samples have no column 'exmple'; did you mean 'example'?",
    ):
        table["exmple"]


def test_systems_are_rows_of_one_model_and_decoding(table):
    one, two = table.systems
    assert (one.model, one.label, one.references, one.examples) == (
        "one",
        "one",
        None,
        ("a", "b"),
    )
    assert (two.label, two.references, dict(two.decoding)) == (
        "two T=0.5 m=1",
        1,
        {"references": 1, "temperature": 0.5},
    )
    assert np.array_equal(one.scores("m"), [0.5, np.nan], equal_nan=True)
    assert one.p_values("nothing") is None
    p = two.p_values("k")
    assert p is not None and p.tolist() == [1.0]
    assert dict(one.row_of) == {"a": 0, "b": 1}
    assert one.caption_sets() == SETS


def test_systems_of_several_models_and_decodings_are_in_the_order_of_the_run(tmp_path):
    columns = SampleColumns(["m"])
    systems = [
        ("b", {}),
        ("a", {"temperature": 0.5}),
        ("c", {}),
        ("a", {}),
        ("c", {"temperature": 0.5}),
        ("b", {"temperature": 0.5}),
    ]
    for k, (model, decoding) in enumerate(systems):
        columns.begin(model, decoding, SETS)
        columns.add("m", np.array([k, k + 0.5]), None)
    write_samples(tmp_path / "samples.parquet", columns.table())
    for table in (columns.table(), SampleTable.open(tmp_path / "samples.parquet")):
        assert [(system.model, system.decoding) for system in table.systems] == systems
        assert [system.scores("m").tolist() for system in table.systems] == [
            [k, k + 0.5] for k in range(6)
        ]


def test_a_number_column_that_is_not_there_is_an_error(table, read):
    for samples in (table, read):
        with pytest.raises(KeyError, match="nothing"):
            samples.numbers("nothing")


def test_a_cluster_is_the_text_of_a_metadata_value():
    columns = SampleColumns([])
    columns.begin(
        "one",
        {},
        [
            CaptionSet("a", (), (), meta={"size": 2, "kind": "k"}),
            CaptionSet("b", (), (), meta={"kind": "l"}),
        ],
    )
    (system,) = columns.table().systems
    assert system.clusters("kind") == ["k", "l"]
    with pytest.raises(
        InputError,
        match=r"^stratum: example 'b' has no 'size' in its metadata; it has kind$",
    ):
        system.clusters("size", "stratum")
    assert cluster_of({"size": 2}, "size", "a") == "2"
    with pytest.raises(
        InputError,
        match=r"^cluster: example 'a' has no 'kid' in its metadata; "
        r"did you mean 'kind'\?; it has kind, size$",
    ):
        cluster_of({"kind": "k", "size": 2}, "kid", "a")
    with pytest.raises(InputError, match="it has none$"):
        cluster_of({}, "size", "a")


def test_a_missing_file_with_a_checksum_is_an_error(tmp_path):
    with pytest.raises(
        InputError, match=r"none\.parquet: is missing; run the spec again to rebuild it"
    ):
        len(SampleTable.open(tmp_path / "none.parquet", "0" * 64))


def test_a_written_table_is_read_back(table, read):
    assert read.to_dict() == table.to_dict()
    assert [system.label for system in read.systems] == [
        system.label for system in table.systems
    ]


def test_one_row_group_per_system_and_columns_are_read_by_name(
    read, tmp_path, monkeypatch
):
    assert pq.ParquetFile(tmp_path / "samples.parquet").num_row_groups == 2
    columns: list[list[str]] = []
    read_file = pq.ParquetFile.read

    def recorded(file, **options):
        columns.append(options["columns"])
        return read_file(file, **options)

    monkeypatch.setattr(pq.ParquetFile, "read", recorded)
    assert len(read) == 3
    assert columns == []
    for _ in range(2):
        read.numbers("m")
    assert columns == [["m"]]
    assert read["k"] == [None, None, 2.0]
    assert np.array_equal(read.numbers("k"), [np.nan, np.nan, 2.0], equal_nan=True)
    assert columns == [["m"], ["k"]], "a column is read once"


def test_a_run_without_captions_has_an_empty_table(tmp_path):
    table = SampleTable.open(tmp_path / "none.parquet")
    assert (len(table), table.systems, table.metrics) == (0, (), ())


def test_a_damaged_file_is_an_error(tmp_path):
    (tmp_path / "samples.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(
        InputError,
        match=r"samples\.parquet: is damaged .*; run the spec again to rebuild it",
    ):
        _ = SampleTable.open(tmp_path / "samples.parquet").names


def test_unpaired_surrogates_are_escaped(tmp_path):
    columns = SampleColumns([])
    columns.begin("m", {}, [CaptionSet("a", ("x\ud800",), ("r",))])
    write_samples(tmp_path / "s.parquet", columns.table())
    assert SampleTable.open(tmp_path / "s.parquet").lists("candidates") == [
        ("x\\ud800",)
    ]


def test_metadata_of_each_row(tmp_path):
    columns = SampleColumns(["m"])
    columns.begin(
        "one",
        {},
        [
            CaptionSet("a", ("x",), ("r",), meta={"kind": "k", "size": 2}),
            CaptionSet("b", ("z",), ("s",)),
        ],
    )
    columns.add("m", np.array([0.5, 1.0]), None)
    write_samples(tmp_path / "samples.parquet", columns.table())
    assert SampleTable.open(tmp_path / "samples.parquet").metadata == [
        {"kind": "k", "size": 2},
        {},
    ]


def test_rows_without_metadata(read):
    assert read.metadata == [{}] * len(read)


def test_a_table_in_a_file_and_in_memory_have_the_same_arrow_columns(table, read):
    assert read.to_arrow().to_pydict() == table.to_arrow().to_pydict()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("model", 1, "column 'model': found numbers, expected texts"),
        ("example", ["x"], "column 'example': found lists of texts, expected texts"),
        (
            "candidates",
            "x",
            "column 'candidates': found texts, expected lists of texts",
        ),
        (
            "candidates",
            [1],
            "column 'candidates': found list.*, expected lists of texts",
        ),
        ("m", "x", "column 'm': found texts, expected numbers"),
        (
            "references",
            None,
            "column 'references': found nothing, expected lists of texts",
        ),
        ("model", None, "column 'model': found nothing, expected texts"),
    ],
)
def test_columns_of_other_types_are_damage(read, tmp_path, name, value, message):
    rows = read.to_arrow()
    place = rows.column_names.index(name)
    other = rows.remove_column(place)
    if value is not None:
        other = rows.set_column(place, name, pa.array([value] * 3))
    pq.write_table(other, tmp_path / "other.parquet")
    with pytest.raises(InputError, match=rf"other.parquet: is damaged \({message}\)"):
        len(SampleTable.open(tmp_path / "other.parquet"))


@pytest.mark.parametrize("text", ["}", "", "[1]", "[" * 5000])
def test_a_decoding_that_is_no_object_is_damage(read, tmp_path, text):
    rows = read.to_arrow()
    pq.write_table(
        rows.set_column(1, "decoding", pa.array([text] * 3)), tmp_path / "other.parquet"
    )
    with pytest.raises(InputError, match="column 'decoding': not a JSON object"):
        _ = SampleTable.open(tmp_path / "other.parquet").systems[0].label


def test_columns_without_values_are_no_damage(tmp_path):
    columns = SampleColumns(["m"])
    columns.begin("one", {}, [CaptionSet("a", (), ())])
    columns.add("m", np.array([np.nan]), np.array([np.nan]))
    write_samples(tmp_path / "samples.parquet", columns.table())
    table = SampleTable.open(tmp_path / "samples.parquet")
    assert np.isnan(table.numbers("m")).all()
    assert table.systems[0].caption_sets() == [CaptionSet("a", (), ())]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_captions_of_a_system_are_read_by_row_groups(table, tmp_path, size):
    path = tmp_path / "samples.parquet"
    write_samples(path, table)
    pq.write_table(pq.read_table(path), path, row_group_size=size)
    for system, own in zip(SampleTable.open(path).systems, table.systems):
        assert list(system.iter_caption_sets()) == own.caption_sets()
        assert list(own.iter_caption_sets()) == own.caption_sets()


def test_captions_of_a_file_that_was_damaged_meanwhile_are_an_error(read, tmp_path):
    system = read.systems[0]
    (tmp_path / "samples.parquet").write_bytes(b"PAR1" + b"\0" * 40)
    with pytest.raises(InputError, match=r"samples\.parquet: is damaged"):
        list(system.iter_caption_sets())
