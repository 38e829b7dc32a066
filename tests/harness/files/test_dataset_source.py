"""Data sets by path: splits with slices of saved folders, files and streams."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.dataset_source import DatasetSource, has_saved_state, loaded_commit

datasets = pytest.importorskip("datasets")
SLICES = [
    ("test", [100, 101, 102, 103, 104]),
    ("train[:3]", [0, 1, 2]),
    ("train[2:4]+test[4:]", [2, 3, 104]),
    ("train[8:99]", [8, 9]),
]
COUNTED = [("train[10%:30%]", [1, 2]), ("train[-2:]", [8, 9]), ("test[:-4]", [100])]


@pytest.fixture(autouse=True)
def local_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)


@pytest.fixture
def folder(tmp_path):
    parts = {"train": range(10), "test": range(100, 105)}
    saved = {
        name: datasets.Dataset.from_dict({"x": list(values)})
        for name, values in parts.items()
    }
    datasets.DatasetDict(saved).save_to_disk(str(tmp_path / "saved"))
    return tmp_path / "saved"


def values(path, split=None, *, streaming=False):
    return [
        row["x"]
        for row in DatasetSource(str(path), split=split, streaming=streaming).load()
    ]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("split, expected", SLICES)
def test_slices_of_a_saved_folder(folder, split, expected, streaming):
    assert values(folder, split, streaming=streaming) == expected


@pytest.mark.parametrize("split, expected", COUNTED)
def test_slices_that_need_the_length(folder, split, expected):
    assert values(folder, split) == expected
    with pytest.raises(
        InputError, match="the length of the stream is not known; give the rows as"
    ):
        values(folder, split, streaming=True)


@pytest.mark.parametrize("streaming", [False, True])
def test_slices_of_one_saved_data_set_and_of_a_file(tmp_path, streaming):
    datasets.Dataset.from_dict({"x": [1, 2, 3]}).save_to_disk(str(tmp_path / "one"))
    datasets.Dataset.from_dict({"x": [1, 2, 3]}).to_parquet(
        str(tmp_path / "one.parquet")
    )
    for path in (tmp_path / "one", tmp_path / "one.parquet"):
        assert values(path, streaming=streaming) == [1, 2, 3]
        assert values(path, "train[1:]", streaming=streaming) == [2, 3]
        with pytest.raises(InputError, match="no split 'test'; found train"):
            values(path, "test", streaming=streaming)


def test_a_saved_split_keeps_its_name(tmp_path):
    datasets.Dataset.from_dict({"x": [1, 2]}, split="validation").save_to_disk(
        str(tmp_path / "one")
    )
    assert values(tmp_path / "one", "validation[:1]") == [1]


@pytest.mark.parametrize(
    "split, message",
    [
        (
            "train[",
            "split 'train[' cannot be read; expected NAME, NAME[from:to] or NAME+NAME",
        ),
        (
            "train[a:b]",
            "split 'train[a:b]': Unrecognized instruction format: train[a:b]",
        ),
        ("train+tets[:1]", "no split 'tets'; did you mean 'test'?; found train, test"),
        (
            "train[:200%]",
            "split 'train[:200%]': percent slice boundaries must be > -100 and < 100.",
        ),
        (
            None,
            "has several splits; expected the parameter 'split' with one of train, "
            "test",
        ),
    ],
)
def test_splits_that_cannot_be_read(folder, split, message):
    with pytest.raises(InputError) as caught:
        values(folder, split)
    assert str(caught.value).lower() == f"{folder}: {message}".lower()
    assert caught.value.parameter == "split"


def test_a_file_that_breaks_off_in_a_stream(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{"x": 1}\n{"x": [}\n')
    source = DatasetSource(str(path), streaming=True)
    with pytest.raises(InputError, match="the datasets library cannot load it"):
        list(source.rows(source.load()))


def test_what_is_saved(folder, tmp_path):
    assert has_saved_state(folder) and has_saved_state(folder / "test")
    assert not has_saved_state(tmp_path)


def test_the_commit_of_a_prepared_data_set(tmp_path):
    folder = tmp_path / ("3" * 40)
    datasets.Dataset.from_dict({"x": [1]}).save_to_disk(str(folder))
    assert loaded_commit(datasets.load_from_disk(str(folder))) == "3" * 40
    assert loaded_commit(datasets.Dataset.from_dict({"x": [1]})) is None


def test_a_source_without_network_is_not_pinned(folder):
    assert DatasetSource(str(folder)).pin() == DatasetSource(str(folder))
    assert DatasetSource("owner/name").pin() == DatasetSource("owner/name")


def test_a_name_beside_a_similar_folder_is_hinted_at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "saved").mkdir()
    with pytest.raises(
        InputError,
        match=r"^svaed: no such file or folder \(did you mean 'saved'\?\), "
        r"the hub cannot be reached",
    ):
        DatasetSource("svaed", reachable=False).load()
    with pytest.raises(
        InputError,
        match=r"no such file or folder; did you mean 'saved'\?, "
        r"and not the name of a dataset",
    ):
        DatasetSource("./svaed")
