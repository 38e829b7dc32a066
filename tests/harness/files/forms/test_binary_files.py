"""Files that hold captions in a form that is not read: what they are, what to do."""

from __future__ import annotations

import gzip
import io
import pickle
import sqlite3
import tarfile
from contextlib import closing

import numpy as np
import pyarrow as pa
import pytest

from harness.errors import InputError
from harness.files.forms import existing_captions, read_form


def message(path):
    with pytest.raises(InputError) as caught:
        read_form(path, "candidates")
    return caught.value.message


def write_tar(path, names):
    with tarfile.open(path, "w") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 5
            archive.addfile(member, io.BytesIO(b"a dog"))


SHARD = [f"v{k}.{end}" for k in range(3) for end in ("jpg", "txt", "json")]


@pytest.mark.parametrize("zipped", [False, True])
def test_a_shard_of_webdataset_is_a_tar_archive(tmp_path, zipped):
    path = tmp_path / "a shard.tar"
    write_tar(path, SHARD)
    if zipped:
        path.write_bytes(gzip.compress(path.read_bytes()))
    text = message(path)
    assert text.startswith(
        "is a tar archive ('v0.jpg', 'v0.txt', 'v0.json', 'v1.jpg', 'v1.txt', ...); "
    )
    assert (
        "tar -xf 'a shard.tar' -C NEW) and name one of its files, or a folder" in text
    )
    assert "iconv" not in text


def test_a_damaged_archive_is_one_too(tmp_path):
    path = tmp_path / "a.tar"
    write_tar(path, SHARD)
    path.write_bytes(path.read_bytes()[:700])
    assert message(path).startswith("is a tar archive")


def test_other_kinds_are_named(tmp_path):
    value = {"1": "a dog"}
    path = tmp_path / "file"
    for protocol in (2, 3, 4, 5):
        path.write_bytes(pickle.dumps(value, protocol))
        assert message(path).startswith("is a pickle of Python")
    path.write_bytes(b"")
    with path.open("wb") as file:
        np.save(file, np.array(["a dog"]))
    assert message(path).startswith("is an array of NumPy; write it as JSON")
    table = pa.table({"caption": ["a dog"]})
    for new in (pa.ipc.new_file, pa.ipc.new_stream):
        with new(str(path), table.schema) as writer:
            writer.write_table(table)
        assert message(path).startswith("is an Arrow file; write its table as Parquet")
    path.unlink()
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table captions(id, caption)")
    assert message(path).startswith("is a database of SQLite")


def test_a_file_that_is_no_text_has_no_advice_on_its_encoding(tmp_path):
    path = tmp_path / "x.jpg"
    path.write_bytes(b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(range(256)) * 4)
    assert message(path) == "holds bytes that are zero; expected text in UTF-8"


@pytest.mark.parametrize(
    ("entries", "splits", "data"),
    [
        (["state.json"], "", ""),
        (
            ["dataset_dict.json", "val/state.json", "test/state.json"],
            " with the splits 'test', 'val'",
            "/test",
        ),
    ],
)
def test_a_folder_of_save_to_disk_is_named(tmp_path, entries, splits, data):
    for entry in entries:
        path = tmp_path / entry
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    with pytest.raises(InputError) as caught:
        existing_captions(tmp_path, "file of predictions")
    assert caught.value.message == (
        f"is a data set of save_to_disk{splits}; expected a file of predictions: write "
        f"it as Parquet, datasets.load_from_disk('{tmp_path}{data}')"
        ".to_parquet('NEW.parquet')"
    )
