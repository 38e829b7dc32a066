"""Hugging Face datasets from disk, in each of the layouts. Nothing is downloaded."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError, UnknownName
from harness_tasks.readers.hf import MAPPINGS, HuggingFaceDataset

datasets = pytest.importorskip("datasets")
COCO_LIST = {
    "cocoid": [7, 8],
    "sentences_raw": [["a", "b"], ["c"]],
    "filename": ["7.jpg", "8.jpg"],
    "imgid": [1, 2],
}
COCO_ROWS = {
    "cocoid": [7, 7, 8],
    "sentences": [{"raw": "a"}, {"raw": "b"}, {"raw": "c"}],
    "filename": ["x", "x", "y"],
}
COCO_BENCHMARK = {
    "question_id": ["7", "8"],
    "answer": [["a", "b"], ["c"]],
    "file_name": ["x", "y"],
}
FLICKR8K = {"caption_0": ["a", "c"], "caption_1": ["b", "d"], "image": ["x", "y"]}
FLICKR30K = {
    "img_id": ["0", "1"],
    "caption": [["a", "b"], ["c"]],
    "filename": ["x", "y"],
    "split": ["train", "test"],
}


@pytest.fixture(autouse=True)
def local_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)


@pytest.fixture
def saved(tmp_path):
    def write(columns, name="saved"):
        path = tmp_path / name
        if all(isinstance(value, dict) for value in columns.values()):
            parts = {
                split: datasets.Dataset.from_dict(part)
                for split, part in columns.items()
            }
            datasets.DatasetDict(parts).save_to_disk(str(path))
        else:
            datasets.Dataset.from_dict(columns).save_to_disk(str(path))
        return str(path)

    return write


def read(**params):
    return [(item.id, item.references) for item in HuggingFaceDataset(**params)]


def error_message(**params) -> str:
    with pytest.raises(InputError) as caught:
        read(**params)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    "mapping, columns, expected",
    [
        ("coco", COCO_LIST, [("7", ("a", "b")), ("8", ("c",))]),
        ("coco", COCO_ROWS, [("7", ("a", "b")), ("8", ("c",))]),
        ("coco", COCO_BENCHMARK, [("7", ("a", "b")), ("8", ("c",))]),
        ("flickr8k", FLICKR8K, [("0", ("a", "b")), ("1", ("c", "d"))]),
        ("flickr30k", FLICKR30K, [("0", ("a", "b")), ("1", ("c",))]),
    ],
)
def test_mappings_of_usual_layouts(saved, mapping, columns, expected, streaming):
    assert read(path=saved(columns), mapping=mapping, streaming=streaming) == expected


def test_rows_of_one_split_column(saved):
    assert read(
        path=saved(FLICKR30K), mapping="flickr30k", where={"split": "test"}
    ) == [("1", ("c",))]


def test_columns_of_the_parameter(saved):
    path = saved({"key": ["x", "y"], "texts": [["a"], ["b"]]})
    assert read(path=path, columns={"id": "key", "references": "texts"}) == [
        ("x", ("a",)),
        ("y", ("b",)),
    ]
    assert read(path=path, columns={"id": None, "references": "texts"}) == [
        ("0", ("a",)),
        ("1", ("b",)),
    ]


def test_rows_of_one_id_need_not_be_adjacent_unless_streamed(saved):
    path = saved({"id": [1, 2, 1], "caption": ["a", "b", "c"]})
    assert read(path=path) == [("1", ("a", "c")), ("2", ("b",))]
    assert error_message(path=path, streaming=True) == (
        f"{path}: row 3: the id '1' recurs after other ids; "
        "in a stream the rows of one id must be adjacent"
    )


def test_splits(saved):
    path = saved(
        {
            "train": FLICKR8K,
            "test": {"caption_0": ["z"], "caption_1": ["y"], "image": ["w"]},
        }
    )
    assert read(path=path, mapping="flickr8k", split="test") == [("0", ("z", "y"))]
    assert (
        error_message(path=path, mapping="flickr8k")
        == f"{path}: has several splits; expected the parameter 'split' with one of "
        "train, test"
    )
    assert error_message(path=path, mapping="flickr8k", split="tets") == (
        f"{path}: no split 'tets'; did you mean 'test'?; found train, test"
    )


def test_images_are_not_decoded(saved, tmp_path):
    """Only the columns in use are read:
    pictures that cannot be decoded are no error.
    """
    columns = {
        "id": [1],
        "captions": [["a"]],
        "image": [{"bytes": b"no picture", "path": None}],
    }
    features = datasets.Features(
        {
            "id": datasets.Value("int64"),
            "captions": [datasets.Value("string")],
            "image": datasets.Image(),
        }
    )
    datasets.Dataset.from_dict(columns, features=features).save_to_disk(
        str(tmp_path / "pictures")
    )
    assert read(path=str(tmp_path / "pictures")) == [("1", ("a",))]


@pytest.mark.parametrize("streaming", [False, True])
def test_files(tmp_path, streaming):
    path = tmp_path / "data.jsonl"
    path.write_text(
        "".join(
            json.dumps({"id": i, "captions": [f"text {i}"]}) + "\n" for i in range(2)
        )
    )
    expected = [("0", ("text 0",)), ("1", ("text 1",))]
    assert read(path=str(path), streaming=streaming) == expected
    folder = tmp_path / "folder"
    folder.mkdir()
    datasets.Dataset.from_dict(
        {"id": [0, 1], "captions": [["text 0"], ["text 1"]]}
    ).to_parquet(folder / "test.parquet")
    assert read(path=str(folder), split="test", streaming=streaming) == expected
    assert read(path=str(folder / "test.parquet"), streaming=streaming) == expected


def test_fingerprint_depends_on_the_files(saved, tmp_path):
    first = HuggingFaceDataset(
        path=saved(FLICKR8K, "a"), mapping="flickr8k"
    ).fingerprint()
    assert (
        first
        == HuggingFaceDataset(
            path=str(tmp_path / "a"), mapping="flickr8k"
        ).fingerprint()
    )

    other = {**FLICKR8K, "caption_0": ["e", "f"]}
    assert (
        first
        != HuggingFaceDataset(path=saved(other, "b"), mapping="flickr8k").fingerprint()
    )

    commits = [
        HuggingFaceDataset(path="owner/name", revision=digit * 40) for digit in "12"
    ]
    assert commits[0].fingerprint() != commits[1].fingerprint()
    assert commits[0].describe() == {
        "path": "owner/name",
        "revision": "1" * 40,
        "commit": "1" * 40,
    }


def test_bad_input(saved, tmp_path):
    assert error_message(path="./nothing/here.parquet") == (
        "./nothing/here.parquet: no such file or folder, "
        "and not the name of a dataset (owner/name)"
    )

    assert error_message(path="owner/none", revision="v1") == (
        "owner/none: is not in the cache, and HF_HUB_OFFLINE is set. "
        "Fetch it before, with network: "
        'HF_HUB_OFFLINE=0 python -c "import datasets; '
        "datasets.load_dataset('owner/none', revision='v1')\""
    )

    broken = tmp_path / "broken.json"
    broken.write_text("[{")
    assert error_message(path=str(broken)).startswith(
        f"{broken}: the datasets library cannot load it: "
    )
    odd = tmp_path / "data.xyz"
    odd.write_text("")
    assert (
        "the name has the unknown suffix '.xyz'; expected .parquet, .json"
        in error_message(path=str(odd))
    )

    path = saved({"id": [1, 1], "captions": [["a"], ["b"]]}, "twice")
    assert (
        error_message(path=path)
        == f"{path}: row 2: the id '1' occurs twice (first in {path}: row 1)"
    )
    path = saved({"id": [1], "captions": [[""]]}, "empty")
    assert (
        error_message(path=path)
        == f"{path}: row 1: empty reference '' (allow_empty: true keeps it)"
    )

    path = saved({"id": [1], "words": ["a"]}, "other")
    assert error_message(path=path) == (
        f"{path}: no column of captions; found 'id', 'words' (name it with columns: "
        f"{{references: ...}})"
    )
    assert error_message(path=path, mapping="coco") == (
        f"{path}: the mapping finds no column for 'references': "
        "expected one of sentences_raw, sentences, captions,"
        " answer, caption; found id, words (name it with columns)"
    )

    assert (
        error_message(path=path, where={"splti": "a"})
        == f"{path}: where: no column 'splti'"
    )


def test_unknown_mapping():
    with pytest.raises(
        UnknownName, match=r"unknown mapping 'flickr8'; did you mean 'flickr8k'\?"
    ):
        HuggingFaceDataset(path="a/b", mapping="flickr8")
    assert set(MAPPINGS) == {"coco", "flickr8k", "flickr30k"}


def test_errors_name_the_parameter(saved):
    path = saved(FLICKR30K)
    cases = [
        ("path", {"path": "./none.parquet"}),
        ("mapping", {"path": path, "mapping": "coco"}),
        ("where", {"path": path, "where": {"splti": "test"}}),
        ("columns", {"path": path, "columns": {"id": "key"}}),
        ("limit_references", {"path": path, "limit_references": 0}),
    ]
    for parameter, params in cases:
        with pytest.raises(InputError) as caught:
            read(**params)
        assert caught.value.parameter == parameter
