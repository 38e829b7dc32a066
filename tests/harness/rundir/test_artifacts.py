"""Artifacts: keys, checksums, damaged files."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from harness.rundir.artifacts import (
    ArtifactKey,
    ArtifactStore,
    KeptFile,
    MemoryArtifacts,
    ShardFile,
    content_digest,
)
from harness.rundir.run_folder import RunFolder

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


def test_a_key_depends_on_every_part_and_not_on_the_label():
    key = ArtifactKey.of("m", "data", {"t": 1.0}, [1, 2])
    assert ArtifactKey.of("other", "data", {"t": 1.0}, [1, 2]).digest == key.digest
    for parts in (
        ("data2", {"t": 1.0}, [1, 2]),
        ("data", {"t": 2.0}, [1, 2]),
        ("data", {"t": 1.0}, [2, 1]),
    ):
        assert ArtifactKey.of("m", *parts).digest != key.digest
    assert ArtifactKey.of("A b/C", 1).stem.startswith("a-b-c-")
    assert content_digest({"a": 1, "b": 2}) == content_digest({"b": 2, "a": 1})
    assert ArtifactKey("Ab " * 30, "0" * 64).stem == "ab-" * 13 + "a-" + "0" * 16, (
        "40 characters of the label, 16 of the digest"
    )
    assert content_digest("é") == hashlib.sha256(b'"\\u00e9"').hexdigest(), (
        "directories of earlier versions have these names"
    )


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


@pytest.fixture
def file(tmp_path):
    return ShardFile(RunFolder(tmp_path), "shards.json")


def test_what_is_written_is_read(file):
    assert file.read() is None
    file.write(5, examples=12)
    assert file.read() == {"size": 5, "examples": 12}


def test_a_file_that_has_the_same_values_is_not_written_again(file):
    file.write(5, examples=12)
    before = (file.folder.path / "shards.json").stat().st_ino
    file.write(5, examples=12)
    assert (file.folder.path / "shards.json").stat().st_ino == before


@pytest.mark.parametrize(
    ("size", "expected"), [(1, {"size": 1}), (0, None), (-1, None), (2.5, None)]
)
def test_the_size_of_shards_is_a_whole_number_from_1_on(file, size, expected):
    file.write(size)
    assert file.read() == expected


def test_a_complete_part_stays_complete_with_the_same_shards_alone(file):
    file.write(5, examples=12, finished=True)
    file.write(5, examples=12)
    assert file.read() == {"size": 5, "examples": 12, "finished": True}
    file.write(6, examples=12)
    assert file.read() == {"size": 6, "examples": 12}


def test_a_damaged_file_is_none(file):
    file.write(5, examples=12)
    whole = file.folder.read("shards.json")
    for torn in (b"", whole[:9], whole.replace(b"5", b"7", 1), b"[]", b"{}"):
        file.folder.write("shards.json", torn)
        assert file.read() is None


def test_kept_rows_are_read_under_their_key_alone(tmp_path, caplog):
    path = tmp_path / "rows.json"
    assert KeptFile(path, "key").read() is None
    KeptFile(path, "key").write(3, [[1, 0.5], [2, None]])
    assert KeptFile(path, "key").read() == [[1, 0.5], [2, None]]
    assert [KeptFile(path, other).read() for other in ("kex", "kez")] == [None, None]
    assert KeptFile(None, "key").read() is None
    assert not caplog.messages, "an absent file and one of another key are no damage"
    assert json.loads(path.read_bytes()) | {"sha256": ""} == {
        "schema": 3,
        "key": "key",
        "sha256": "",
        "rows": [[1, 0.5], [2, None]],
    }


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[1]",
        b'{"key": "key", "rows": [1]}',
        *(
            b'{"key": "key", "rows": [1], "sha256": "%s"}' % (digit * 64)
            for digit in (b"0", b"f")
        ),
    ],
)
def test_damaged_kept_rows_are_none_and_logged(tmp_path, caplog, content):
    path = tmp_path / "rows.json"
    path.write_bytes(content)
    assert KeptFile(path, "key").read() is None
    assert caplog.messages == [f"{path} is damaged; its content is computed again"]


def test_a_kept_file_without_rows_has_none(tmp_path):
    (tmp_path / "rows.json").write_text(
        json.dumps({"key": "key", "sha256": content_digest(None)})
    )
    assert KeptFile(tmp_path / "rows.json", "key").read() is None


def test_a_directory_that_cannot_be_written_keeps_no_file(tmp_path, caplog):
    (tmp_path / "file").write_text("no folder")
    kept = KeptFile(tmp_path / "file" / "rows.json", "key")
    with caplog.at_level("INFO", logger="harness"):
        kept.write(1, [1, 2])
    assert "rows.json is not kept" in caplog.text and kept.read() is None
    KeptFile(None, "key").write(1, [1])


def test_statistics_that_are_unknown_have_no_shards(tmp_path):
    assert (
        ArtifactStore(tmp_path / "r").shards_of("unknown")
        == []
        == MemoryArtifacts().shards_of("unknown")
    )
