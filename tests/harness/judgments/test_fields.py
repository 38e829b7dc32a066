"""Records of judgment files and the values of their fields."""

import gzip
import json

import pytest

from harness.errors import InputError
from harness.files.records import Record
from harness.judgments.fields import (
    column,
    is_marked,
    lookup,
    number,
    ratings,
    rows,
    same,
    scalars,
    votes_of_mean,
)
from harness.judgments.judgment_models import HuggingFaceSource

RECORDS = [{"id": "1", "score": 2.0}, {"id": "2", "score": 3.5}]


def values(path):
    return [(str(r.fields["id"]), float(r.fields["score"])) for r in rows([path])]


def test_scalars_are_short_texts_and_numbers():
    fields = {
        "short": "x" * 80,
        "long": "x" * 81,
        "number": 1.5,
        "list": [1],
        "used": 2,
    }
    assert scalars(fields, ["used.deep", None]) == {"short": "x" * 80, "number": 1.5}


def test_formats(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "a.csv").write_text('id,score\n1,2.0\n"2",3.5\n')
    (tmp_path / "a.tsv").write_text("id\tscore\n1\t2.0\n2\t3.5\n")
    (tmp_path / "a.json").write_text(json.dumps(RECORDS))
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(record) + "\n" for record in RECORDS)
    pq.write_table(pa.Table.from_pylist(RECORDS), tmp_path / "a.parquet")
    for name in ("a.csv", "a.tsv", "a.json", "a.jsonl.gz", "a.parquet"):
        assert values(tmp_path / name) == [("1", 2.0), ("2", 3.5)], name
    assert len(list(rows([tmp_path / "a.csv", tmp_path / "a.json"]))) == 4


def test_a_hugging_face_folder(tmp_path):
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_list(RECORDS).save_to_disk(tmp_path / "one")
    source = HuggingFaceSource(name=str(tmp_path / "one"))
    assert [r.fields for r in rows([], source)] == RECORDS
    assert [r.where for r in rows([], source)] == [
        f"{source.name}: record {number}" for number in (1, 2)
    ]
    datasets.DatasetDict(
        {k: datasets.Dataset.from_list(RECORDS) for k in ("dev", "test")}
    ).save_to_disk(tmp_path / "two")
    with pytest.raises(InputError, match="split.* one of dev, test"):
        list(rows([], HuggingFaceSource(name=str(tmp_path / "two"))))
    assert (
        len(list(rows([], HuggingFaceSource(name=str(tmp_path / "two"), split="dev"))))
        == 2
    )


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"not parquet")
    with pytest.raises(InputError, match="not readable as Parquet"):
        list(rows([tmp_path / "a.parquet"]))
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(InputError, match="not readable as Parquet"):
        list(rows([tmp_path / "b.parquet"]))
    with pytest.raises(
        InputError, match=r"no such file of judgments; did you mean 'a\.parquet'"
    ):
        list(rows([tmp_path / "aa.parquet"]))


def test_paths_into_records():
    fields = {"a.b": 1, "votes": [{"g": {"x": 1}}, {"g": {"x": 4}}, {}], "list": [5, 6]}
    assert lookup(fields, "a.b") == 1
    assert lookup(fields, "votes.*.g.x") == [1, 4, None]
    mixed = {"votes": [{"g": 1}, "text"]}
    assert lookup(mixed, "votes.*") == mixed["votes"] and lookup(
        mixed, "votes.*.g"
    ) == [1, "text"]
    assert lookup(fields, "list.*") == [5, 6]
    assert [lookup(fields, f"list.{k}") for k in range(4)] == [5, 6, None, None]
    assert lookup(fields, "votes.x") is None and lookup(fields, "nothing.*") is None
    assert lookup({"counts": {"#": 3}}, "counts.#") == 3


def test_columns():
    record = Record("f:1", {"caption": "a", "score": 1})
    assert column(None, ("text", "caption"), record, "caption") == "caption"
    assert column("score", (), record, "score") == "score"
    assert column("score.of.people", (), record, "score") == "score.of.people"
    assert column("a.score", (), Record("f:1", {"a.score": 1}), "score") == "a.score"
    with pytest.raises(InputError, match=r"f:1: no column 'human\.score'"):
        column("human.score", (), record, "score")
    assert column(None, (), record, "x", needed=False) is None
    with pytest.raises(InputError, match="f:1: no column 'scor'; did you mean 'score'"):
        column("scor", (), record, "score")
    with pytest.raises(InputError, match="no column for the item"):
        column(None, ("id",), record, "item")


def test_numbers():
    assert [number(v) for v in ("true", " Yes ", "no", [1])] == [1, 1, 0, None]
    assert [
        number(v) for v in (3, "3.5", True, "false", "x", None, float("nan"), "inf")
    ] == [3, 3.5, 1, 0, None, None, None, None]


def test_ratings_and_votes():
    assert ratings([1, None, "3"], "f:1", "votes") == (1.0, 3.0)
    assert ratings(False, "f:1", "label") == (0.0,)
    for value, text in (
        (None, "missing"),
        ([], "a list"),
        ([None, ""], "a list"),
        ("", "an empty text"),
    ):
        with pytest.raises(
            InputError,
            match=f"f:1: 'score' is {text}; expected a human score or a list of the "
            "raters' scores",
        ):
            ratings(value, "f:1", "score")
    with pytest.raises(InputError, match="'score' holds 'good'"):
        ratings(["good"], "f:1", "score")


def test_votes_of_a_mean():
    assert votes_of_mean((2.667,), 3, "f:1", "m") == (2.0, 3.0, 3.0)
    assert votes_of_mean((4.0,), 3, "f:1", "m") == (4.0, 4.0, 4.0)
    assert votes_of_mean((2.66,), 3, "f:1", "m") == (2.0, 3.0, 3.0), (
        "a digit that is cut off is 0.02 of the sum"
    )
    assert votes_of_mean((0.01,), 1, "f:1", "m") == (0.0,), "the largest difference"
    for value in ((2.5,), (2.65,), (1.0, 2.0)):
        with pytest.raises(InputError, match="expected a mean of 3 votes"):
            votes_of_mean(value, 3, "f:1", "m")


def test_marks():
    assert (
        is_marked({"own": True}, "own")
        and not is_marked({"own": "false"}, "own")
        and not is_marked({}, "own")
    )
    assert is_marked({"source": 6}, {"source": 6}) and is_marked(
        {"source": "6"}, {"source": 6}
    )
    assert not is_marked({"source": 7}, {"source": 6}) and not is_marked({}, None)
    assert same("6.0", 6) and not same("de", "en") and not same("de", 6)
    assert (
        same("en-de", "en-de")
        and not same("1", "2")
        and not same(None, 0)
        and same(True, "True")
    )


def test_scalars():
    fields = {
        "kind": "HC",
        "n": 3,
        "votes": [1],
        "caption": "a",
        "long": "x" * 81,
        "flag": True,
    }
    assert scalars(fields, ["caption", None]) == {"kind": "HC", "n": 3, "flag": True}
