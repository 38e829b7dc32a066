"""Answers of several runs: shared between processes, checked, replaced where damaged,
never in the way of a run.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import subprocess
import sys
import zlib

import numpy as np
import pytest

from harness.errors import HarnessError, InputError
from harness.llm.store import SETTING, ReplyStore, is_shared

DIGEST = "ab" * 32


def test_rows_come_back(tmp_path):
    first = ReplyStore("answers", DIGEST, tmp_path)
    first.add("k1", {"candidates": ["a dog", "ein H\u00fcndchen \ud83d\ude00"]})
    first.add("k2", {"candidates": [], "lengths": [3]})
    first.add("k1", {"candidates": ["a cat"]})
    second = ReplyStore("answers", DIGEST, tmp_path)
    assert second.read([f"k{n}" for n in range(2000)]) == {
        "k1": {"candidates": ["a cat"]},
        "k2": {"candidates": [], "lengths": [3]},
    }
    assert ReplyStore("answers", "cd" * 32, tmp_path).read(["k1"]) == {}


def test_a_row_with_another_checksum_is_absent(tmp_path):
    answers = ReplyStore("answers", DIGEST, tmp_path)
    answers.add("k1", {"candidates": ["a dog"]})
    answers.close()
    with sqlite3.connect(answers.path) as connection:
        connection.execute("UPDATE answers SET row = replace(row, 'dog', 'cat')")
    assert answers.read(["k1"]) == {}


@pytest.mark.parametrize(
    ("damaged", "value"),
    [
        ("row", b'{"candidates": ["a \xff dog"]}'),  # not UTF-8
        ("row", None),
        ("row", 5),
        ("checksum", b"\xff"),
        ("key", b"k\xff"),
    ],
)
def test_a_damaged_row_costs_that_row(tmp_path, caplog, damaged, value):
    answers = ReplyStore("answers", DIGEST, tmp_path)
    for key in ("k1", "k2", "k3"):
        answers.add(key, {"candidates": ["a dog"]})
    answers.close()
    with sqlite3.connect(answers.path) as connection:
        connection.execute(
            f"UPDATE answers SET {damaged} = CAST(? AS TEXT) WHERE key = 'k2'", (value,)
        )
    assert answers.read(["k1", "k2", "k3"]) == {
        key: {"candidates": ["a dog"]} for key in ("k1", "k3")
    }
    answers.add("k2", {"candidates": ["a cat"]})
    assert ReplyStore("answers", DIGEST, tmp_path).read(["k2"]) == {
        "k2": {"candidates": ["a cat"]}
    }
    assert not caplog.text


@pytest.mark.parametrize("text", [b"{", b"[1]", b"", b"\xff", b"null"])
def test_a_row_that_is_no_object_is_absent_though_its_checksum_is_right(tmp_path, text):
    answers = ReplyStore("answers", DIGEST, tmp_path)
    answers.add("k1", {"candidates": ["a dog"]})
    answers.close()
    with sqlite3.connect(answers.path) as connection:
        connection.execute(
            "UPDATE answers SET row = CAST(? AS TEXT), checksum = ?",
            (text, zlib.crc32(text)),
        )
    assert answers.read(["k1"]) == {}


def keyed_rows(count: int) -> dict[str, dict[str, list[str]]]:
    """Rows under keys as those of runs, of different texts."""
    return {
        hashlib.sha256(b"%d" % k).hexdigest(): {
            "candidates": [f"a dog runs over the grass {k}"] * 5
        }
        for k in range(count)
    }


@pytest.mark.slow
def test_a_flipped_bit_costs_few_rows_and_gives_no_wrong_one(tmp_path):
    rows = keyed_rows(400)
    answers = ReplyStore("answers", DIGEST, tmp_path)
    for key, row in rows.items():
        answers.add(key, row)
    answers.close()
    whole = answers.path.read_bytes()
    random = np.random.default_rng(0)
    lost = []
    for _ in range(150):
        content = bytearray(whole)
        content[random.integers(100, len(content))] ^= 1 << random.integers(8)
        answers.path.write_bytes(content)
        readable = ReplyStore("answers", DIGEST, tmp_path).read(list(rows))
        assert readable.items() <= rows.items()
        lost.append(len(rows) - len(readable))
    assert np.mean(np.array(lost) <= 1) > 0.9 and np.mean(lost) < 4


def test_a_file_with_a_damaged_page_is_replaced_by_its_other_rows(tmp_path, caplog):
    rows = keyed_rows(400)
    answers = ReplyStore("answers", DIGEST, tmp_path)
    for key, row in rows.items():
        answers.add(key, row)
    answers.close()
    content = bytearray(answers.path.read_bytes())
    content[10 * 4096 : 10 * 4096 + 100] = b"\xff" * 100  # the header of a leaf
    answers.path.write_bytes(content)
    readable = answers.read(list(rows))
    assert (
        len(rows) - 40 < len(readable) < len(rows) and readable.items() <= rows.items()
    )
    assert (
        "is damaged; its answers that cannot be read are asked for again" in caplog.text
    )
    assert answers.path.with_suffix(".damaged").read_bytes() == content
    for key in rows.keys() - readable.keys():
        answers.add(key, rows[key])
    answers.close()
    caplog.clear()
    assert ReplyStore("answers", DIGEST, tmp_path).read(list(rows)) == rows
    assert not caplog.text


@pytest.mark.parametrize(
    "content",
    [b"not a data base at all" * 100, b"SQLite format 3\x00" + b"\xff" * 4000],
)
def test_a_damaged_file_is_replaced(tmp_path, caplog, content):
    answers = ReplyStore("answers", DIGEST, tmp_path)
    answers.path.parent.mkdir(parents=True)
    answers.path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert answers.read(["k1"]) == {}
    assert (
        "is damaged; its answers that cannot be read are asked for again" in caplog.text
    )
    answers.add("k1", {"candidates": ["a dog"]})
    assert ReplyStore("answers", DIGEST, tmp_path).read(["k1"]) == {
        "k1": {"candidates": ["a dog"]}
    }


def test_a_folder_that_cannot_be_used_costs_the_answers_alone(tmp_path, caplog):
    (tmp_path / "ab").write_text("a file")
    answers = ReplyStore("answers", DIGEST, tmp_path)
    with caplog.at_level(logging.WARNING):
        answers.add("k1", {"candidates": ["a dog"]})
        answers.add("k2", {"candidates": ["a dog"]})
    assert caplog.text.count("answers are not shared with other runs") == 1
    assert answers.read(["k1"]) == {}


def test_a_damaged_file_that_cannot_be_replaced_is_not_used(
    tmp_path, caplog, monkeypatch
):
    for required in (False, True):
        answers = ReplyStore(
            "answers", DIGEST, tmp_path / str(required), required=required
        )
        answers.path.parent.mkdir(parents=True)
        answers.path.write_bytes(b"not a data base at all" * 100)
        # NotADirectoryError
        monkeypatch.setattr(
            type(answers.path), "replace", lambda path, target: path.rmdir()
        )
        if required:
            with pytest.raises(
                HarnessError,
                match=r"the cache of answers cannot be used \(.*Not a directory.*\): "
                r"set HARNESS_CACHE",
            ):
                answers.add("k1", {"candidates": ["a dog"]})
        else:
            answers.add("k1", {"candidates": ["a dog"]})
            assert (
                "answers are not shared with other runs: [Errno 20] Not a directory"
                in caplog.text
            )


def test_processes_write_at_once(tmp_path):
    code = (
        "import sys; from pathlib import Path; from harness.llm.store import "
        "ReplyStore\n"
        f"answers = ReplyStore('answers', '{DIGEST}', Path(sys.argv[1]))\n"
        "for k in range(200): answers.add(f'{sys.argv[2]}-{k}', {'candidates': "
        "[sys.argv[2] * 50]})\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name])
        for name in "abc"
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    keys = [f"{name}-{k}" for name in "abc" for k in range(200)]
    rows = ReplyStore("answers", DIGEST, tmp_path).read(keys)
    assert rows == {key: {"candidates": [key[0] * 50]} for key in keys}


@pytest.mark.parametrize(
    ("setting", "server", "local"),
    [
        ("", True, False),
        ("servers", True, False),
        ("ALL", True, True),
        ("none", False, False),
    ],
)
def test_the_setting(monkeypatch, setting, server, local):
    monkeypatch.setenv(SETTING, setting)
    assert (is_shared(True), is_shared(False)) == (server, local)


def test_another_setting_is_refused(monkeypatch):
    monkeypatch.setenv(SETTING, "yes")
    with pytest.raises(
        InputError, match="HARNESS_ANSWERS is 'yes'; expected servers, all, none"
    ):
        is_shared(True)


def test_a_full_disk_costs_the_answers_alone_or_is_one_line(tmp_path, caplog):
    for required in (False, True):
        answers = ReplyStore(
            "answers", DIGEST, tmp_path / str(required), required=required
        )
        answers.add("k1", {"candidates": ["a dog"]})
        (pages,) = answers._open().execute("PRAGMA page_count").fetchone()
        # SQLite then reports a full disk
        answers._open().execute(f"PRAGMA max_page_count = {pages}")
        if required:
            with pytest.raises(
                HarnessError,
                match="the cache of answers cannot be used .database or disk is full.: "
                "set",
            ) as caught:
                answers.add("k2", {"candidates": ["a dog" * 10_000]})
            assert "\n" not in str(caught.value)
        else:
            answers.add("k2", {"candidates": ["a dog" * 10_000]})
            assert (
                caplog.text.count(
                    "answers are not shared with other runs: database or disk is full"
                )
                == 1
            )
        assert ReplyStore("answers", DIGEST, tmp_path / str(required)).read(
            ["k1", "k2"]
        ) == {"k1": {"candidates": ["a dog"]}}
