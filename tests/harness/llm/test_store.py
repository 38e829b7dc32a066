"""Answers of several runs: shared between processes, checked, replaced where damaged, never in the way of a run."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys

import pytest

from harness.errors import InputError
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


@pytest.mark.parametrize("content", [b"not a data base at all" * 100, b"SQLite format 3\x00" + b"\xff" * 4000])
def test_a_damaged_file_is_replaced(tmp_path, caplog, content):
    answers = ReplyStore("answers", DIGEST, tmp_path)
    answers.path.parent.mkdir(parents=True)
    answers.path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert answers.read(["k1"]) == {}
    assert "is damaged; its answers are asked for again" in caplog.text
    answers.add("k1", {"candidates": ["a dog"]})
    assert ReplyStore("answers", DIGEST, tmp_path).read(["k1"]) == {"k1": {"candidates": ["a dog"]}}


def test_a_folder_that_cannot_be_used_costs_the_answers_alone(tmp_path, caplog):
    (tmp_path / "ab").write_text("a file")
    answers = ReplyStore("answers", DIGEST, tmp_path)
    with caplog.at_level(logging.WARNING):
        answers.add("k1", {"candidates": ["a dog"]})
        answers.add("k2", {"candidates": ["a dog"]})
    assert caplog.text.count("answers are not shared with other runs") == 1
    assert answers.read(["k1"]) == {}


def test_processes_write_at_once(tmp_path):
    code = (
        "import sys; from pathlib import Path; from harness.llm.store import ReplyStore\n"
        f"answers = ReplyStore('answers', '{DIGEST}', Path(sys.argv[1]))\n"
        "for k in range(200): answers.add(f'{sys.argv[2]}-{k}', {'candidates': [sys.argv[2] * 50]})\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "abc"]
    assert [process.wait() for process in processes] == [0, 0, 0]
    keys = [f"{name}-{k}" for name in "abc" for k in range(200)]
    rows = ReplyStore("answers", DIGEST, tmp_path).read(keys)
    assert rows == {key: {"candidates": [key[0] * 50]} for key in keys}


@pytest.mark.parametrize(
    ("setting", "server", "local"),
    [("", True, False), ("servers", True, False), ("ALL", True, True), ("none", False, False)],
)
def test_the_setting(monkeypatch, setting, server, local):
    monkeypatch.setenv(SETTING, setting)
    assert (is_shared(True), is_shared(False)) == (server, local)


def test_another_setting_is_refused(monkeypatch):
    monkeypatch.setenv(SETTING, "yes")
    with pytest.raises(InputError, match="HARNESS_ANSWERS is 'yes'; expected servers, all, none"):
        is_shared(True)
