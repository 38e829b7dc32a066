"""Pieces: keys, checksums, damaged files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.rundir.pieces import PieceKey, PieceStore, content_digest

ROWS = [{"candidates": ["café \ud800"]}, {"failure": "no"}]


@pytest.fixture
def store(tmp_path):
    return PieceStore(tmp_path / "r")


def test_rows_and_arrays_come_back_as_written(store):
    key = PieceKey.of("a model/with: odd name", {"x": 1})
    assert store.read_rows(key) is None
    store.write_rows(key, ROWS)
    assert store.read_rows(key) == ROWS
    store.write_arrays(key, {"stats": np.array([[1.5], [np.nan]]), "method": np.asarray("exact")})
    arrays = store.read_arrays(key)
    assert arrays is not None
    assert set(arrays) == {"stats", "method"}
    assert np.array_equal(arrays["stats"], [[1.5], [np.nan]], equal_nan=True)
    assert str(arrays["method"]) == "exact"


def test_a_key_depends_on_every_part_and_not_on_the_label():
    key = PieceKey.of("m", "data", {"t": 1.0}, [1, 2])
    assert PieceKey.of("other", "data", {"t": 1.0}, [1, 2]).digest == key.digest
    for parts in (("data2", {"t": 1.0}, [1, 2]), ("data", {"t": 2.0}, [1, 2]), ("data", {"t": 1.0}, [2, 1])):
        assert PieceKey.of("m", *parts).digest != key.digest
    assert PieceKey.of("A b/C", 1).stem.startswith("a-b-c-")
    assert content_digest({"a": 1, "b": 2}) == content_digest({"b": 2, "a": 1})


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b'{"rows": [1], "sha256": "0"}', b'{"rows"'])
def test_a_damaged_captions_piece_is_absent(store, damage, caplog):
    key = PieceKey.of("m", 1)
    store.write_rows(key, ROWS)
    (file,) = (store.folder / "candidates").iterdir()
    file.write_bytes(damage)
    assert store.read_rows(key) is None
    assert "is damaged; it is computed again" in caplog.text


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_truncated_statistics_piece_is_absent(store, keep):
    key = PieceKey.of("m", 1)
    store.write_arrays(key, {"stats": np.arange(1000.0)})
    (file,) = (store.folder / "scores").iterdir()
    data = file.read_bytes()
    file.write_bytes(data[: int(keep * len(data)) if isinstance(keep, float) else keep])
    assert store.read_arrays(key) is None


def test_a_changed_number_is_noticed(store):
    key = PieceKey.of("m", 1)
    store.write_arrays(key, {"stats": np.arange(4.0)})
    (file,) = (store.folder / "scores").iterdir()
    with np.load(file) as arrays:
        content = {name: arrays[name].copy() for name in arrays.files}
    content["stats"][2] = 7.0
    np.savez(file, **content)
    assert store.read_arrays(key) is None


def test_a_changed_caption_is_noticed(store):
    key = PieceKey.of("m", 1)
    store.write_rows(key, [{"candidates": ["a dog"]}])
    (file,) = (store.folder / "candidates").iterdir()
    content = json.loads(file.read_text())
    content["rows"][0]["candidates"] = ["a cat"]
    file.write_text(json.dumps(content))
    assert store.read_rows(key) is None


def test_dropped_rows_leave_no_folder(store):
    keys = [PieceKey.of("m", i) for i in range(3)]
    for key in keys:
        store.write_rows(key, ROWS)
    store.drop_rows(keys)
    assert store.is_empty()
