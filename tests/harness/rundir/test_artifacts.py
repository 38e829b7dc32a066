"""Artifacts: keys, checksums, damaged files."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from harness.rundir.artifact_key import ArtifactKey
from harness.rundir.artifacts import ArtifactStore, MemoryArtifacts

ROWS = [{"candidates": ["café \ud800"]}, {"failure": "no"}]


@pytest.fixture
def store(tmp_path):
    return ArtifactStore(tmp_path / "r")


def test_rows_and_arrays_come_back_as_written(store):
    key = ArtifactKey.of("a model/with: odd name", {"x": 1})
    assert store.answers(key).read() == {}
    with closing(store.answers(key)) as writer:
        writer.append("e1", ROWS[0])
    assert store.answers(key).read() == {"e1": ROWS[0]}
    store.write_arrays(
        key, {"stats": np.array([[1.5], [np.nan]]), "method": np.asarray("exact")}
    )
    arrays = store.read_arrays(key.stem)
    assert arrays is not None
    assert set(arrays) == {"stats", "method"}
    assert np.array_equal(arrays["stats"], [[1.5], [np.nan]], equal_nan=True)
    assert str(arrays["method"]) == "exact"


def test_statistics_from_256_kib_on_are_compressed(store):
    lengths = (2**14, 2**14 + 1, 2**15)  # of zeros beside as many ones: 8 bytes each
    for length in lengths:
        store.write_arrays(
            ArtifactKey.of("m", length),
            {"zeros": np.zeros(length - 1), "ones": np.ones(2**14)},
        )
    sizes = [
        (store.folder / "scores" / f"{ArtifactKey.of('m', length).stem}.npz")
        .stat()
        .st_size
        for length in lengths
    ]
    assert sizes[0] > 8 * (2**15 - 1)
    assert max(sizes[1:]) < 2**14


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_truncated_statistics_artifact_is_absent_and_logged(store, keep, caplog):
    key = ArtifactKey.of("m", 1)
    store.write_arrays(key, {"stats": np.arange(1000.0)})
    (file,) = (store.folder / "scores").iterdir()
    data = file.read_bytes()
    file.write_bytes(data[: int(keep * len(data)) if isinstance(keep, float) else keep])
    with caplog.at_level("WARNING", logger="harness"):
        assert store.read_arrays(key.stem) is None
    assert f"{file} is damaged; it is computed again" in caplog.text


def test_a_changed_number_is_noticed(store):
    key = ArtifactKey.of("m", 1)
    store.write_arrays(key, {"stats": np.arange(4.0)})
    (file,) = (store.folder / "scores").iterdir()
    with np.load(file) as arrays:
        content = {name: arrays[name].copy() for name in arrays.files}
    content["stats"][2] = 7.0
    np.savez(file, **content)
    assert store.read_arrays(key.stem) is None


@pytest.mark.parametrize("checksum", ["0" * 64, "f" * 64])
def test_statistics_with_another_checksum_are_damaged(store, checksum):
    key = ArtifactKey.of("m", 1)
    store.folder.joinpath("scores").mkdir(parents=True)
    np.savez(
        store.folder / "scores" / f"{key.stem}.npz",
        stats=np.arange(4.0),
        sha256=np.asarray(checksum),
    )
    assert store.read_arrays(key.stem) is None


class Pickled:
    """An object whose pickle creates a file when it is read."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def test_objects_are_neither_written_nor_read(store, tmp_path):
    key = ArtifactKey.of("m", 1)
    arrays = {"stats": np.array([Pickled(tmp_path / "created")])}
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        store.write_arrays(key, arrays)
    assert store.is_empty()
    store.folder.joinpath("scores").mkdir(parents=True)
    np.savez(
        store.folder / "scores" / f"{key.stem}.npz",
        allow_pickle=True,
        **arrays,
        sha256=np.asarray("0" * 64),
    )
    assert store.read_arrays(key.stem) is None
    assert not (tmp_path / "created").exists()


def test_dropped_answers_leave_the_others_or_no_folder(store):
    keys = [ArtifactKey.of("m", i) for i in range(3)]
    for key in keys:
        with closing(store.answers(key)) as writer:
            writer.append("e", ROWS[0])
    store.drop_answers(keys[1:])
    assert [file.name for file in (store.folder / "candidates").iterdir()] == [
        f"{keys[0].stem}.jsonl"
    ]
    store.drop_answers(keys[:1])
    assert store.is_empty()
    assert not (store.folder / "candidates").exists()


@pytest.mark.parametrize("inside", ["", "next/"])
def test_all_artifacts_are_removed(tmp_path, inside):
    store = ArtifactStore(tmp_path, inside)
    key = ArtifactKey.of("m", 1)
    store.write_arrays(key, {"stats": np.zeros(1)})
    with closing(store.answers(key)) as writer:
        writer.append("e", ROWS[0])
    (tmp_path / inside / "report.html").touch()
    store.clear()
    assert store.is_empty()
    assert [path.name for path in (tmp_path / inside).iterdir()] == ["report.html"]


def test_a_store_takes_the_artifacts_of_parts(store, tmp_path):
    shared, own, scores = (
        ArtifactKey.of(name, 1) for name in ("shared", "own", "scores")
    )
    parts = [ArtifactStore(tmp_path / f"part{k}") for k in range(2)]
    for k, part in enumerate(parts):
        with closing(part.answers(shared)) as writer:
            writer.append(f"e{k}", ROWS[k])
        part.write_arrays(
            ArtifactKey.of("scores", k), {"stats": np.full((2, 1), float(k))}
        )
        (part.folder / "scores" / ".unfinished.npz").write_bytes(b"torn")
    with closing(parts[1].answers(own)) as writer:
        writer.append("e1", ROWS[1])
    (parts[1].folder / "candidates" / ".unfinished.jsonl").write_bytes(b"torn")
    store.write_arrays(scores, {"stats": np.zeros((1, 1))})
    for _ in range(2):
        store.take(parts)
        assert store.answers(shared).read() == {"e0": ROWS[0], "e1": ROWS[1]}
        assert store.answers(own).read() == {"e1": ROWS[1]}
        assert store.read_arrays(ArtifactKey.of("scores", 0).stem)[
            "stats"
        ].tolist() == [[0.0], [0.0]]
        assert store.read_arrays(scores.stem)["stats"].tolist() == [[0.0]], (
            "what is there already stays"
        )
        assert {path.name for path in store.folder.rglob("*") if path.is_file()} == {
            f"{key.stem}.{ending}"
            for key, ending in (
                (shared, "jsonl"),
                (own, "jsonl"),
                (scores, "npz"),
                (ArtifactKey.of("scores", 0), "npz"),
            )
        }


def test_shards_are_the_statistics_of_a_result(store):
    keys = [ArtifactKey.of("m", i) for i in range(2)]
    for k, key in enumerate(keys):
        store.write_arrays(key, {"stats": np.full((2, k + 1), float(k))})
    assert store.shards_of(keys[0].stem) == [keys[0].stem]
    assert not store.is_whole("whole")
    store.write_shards("whole", [key.stem for key in keys])
    assert store.is_whole("whole")
    assert store.shards_of("whole") == [key.stem for key in keys]
    (store.folder / "scores" / f"{keys[1].stem}.npz").unlink()
    assert not store.is_whole("whole")


def test_shards_of_several_runs_are_those_of_each(store):
    for k in range(3):
        store.write_arrays(ArtifactKey("m", str(k) * 64), {"stats": np.zeros(1)})
    stems = [ArtifactKey("m", str(k) * 64).stem for k in range(3)]
    store.write_shards("run", stems[:2])
    store.write_shards("all", [stems[2], "run"])
    assert store.shards_of("all") == [stems[2], *stems[:2]] and store.is_whole("all")


@pytest.mark.parametrize("content", ["{", "{}", "[]", '{"shards": 3}'])
def test_a_damaged_list_of_shards_is_unknown(store, content):
    store.folder.joinpath("scores").mkdir(parents=True)
    (store.folder / "scores" / "whole.json").write_text(content)
    assert store.shards_of("whole") == [] and not store.is_whole("whole")


def test_a_list_of_shards_that_contains_itself_is_not_whole(store):
    store.write_shards("a", ["a", "a"])
    store.write_shards("b", ["c", "c"])
    store.write_shards("c", ["b"])
    assert (store.shards_of("a"), store.shards_of("b")) == (["a", "a"], ["b", "b"])
    assert not store.is_whole("a") and not store.is_whole("b")


def test_artifacts_in_memory_are_those_that_were_written():
    artifacts = MemoryArtifacts()
    key = ArtifactKey.of("m", 1)
    assert artifacts.read_arrays(key.stem) is None
    artifacts.write_arrays(key, {"stats": np.zeros((1, 1))})
    assert artifacts.read_arrays(key.stem) is not None
    artifacts.write_shards("whole", [key.stem])
    assert artifacts.shards_of("whole") == artifacts.shards_of(key.stem) == [key.stem]
    with closing(artifacts.answers(key)) as writer:
        writer.append("e", ROWS[0])
    assert artifacts.answers(key).read() == {"e": ROWS[0]}
    artifacts.drop_answers([key])
    assert artifacts.answers(key).read() == {}


def test_statistics_that_are_unknown_have_no_shards(tmp_path):
    assert (
        ArtifactStore(tmp_path / "r").shards_of("unknown")
        == []
        == MemoryArtifacts().shards_of("unknown")
    )
