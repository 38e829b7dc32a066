"""The cache of answers: keys by content, damaged files, a kill while it is written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from harness.errors import HarnessError
from harness_metrics.judges.answer_cache import AnswerCache
from harness_metrics.judges.replies import Reply

TALK = ({"role": "user", "content": "a\udc80 “dog”?"},)


def test_answers_come_back(cache):
    answers, reply = AnswerCache(), Reply("ein Hund – 犬", "length", 3, 4)
    path = answers.path("model", TALK)
    assert path.is_relative_to(cache / "judges")
    assert answers.get(path) is None
    answers.put(path, reply)
    assert answers.get(path) == reply
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_the_key_is_the_content(tmp_path):
    answers = AnswerCache(tmp_path)
    paths = {answers.path("m", TALK), answers.path("n", TALK), answers.path("m", (*TALK, *TALK)), answers.path("m", ())}
    assert len(paths) == 4
    assert answers.path("m", TALK) == answers.path("m", ({"content": "a\udc80 “dog”?", "role": "user"},))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"text": "a", "other": 1}', '{"finish": "stop"}'])
def test_a_damaged_file_counts_as_absent(tmp_path, content: str):
    answers = AnswerCache(tmp_path)
    path = answers.path("m", TALK)
    path.parent.mkdir()
    path.write_text(content)
    assert answers.get(path) is None
    answers.put(path, Reply("b"))
    assert answers.get(path) == Reply("b")


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    answers = AnswerCache(tmp_path / "file")
    with pytest.raises(HarnessError, match="the cache of judges cannot be written .*: set HARNESS_CACHE"):
        answers.put(answers.path("m", TALK), Reply("b"))


WRITER = """
import itertools, sys
from pathlib import Path
from harness_metrics.judges.answer_cache import AnswerCache
from harness_metrics.judges.replies import Reply
answers = AnswerCache(Path(sys.argv[1]))
for k in itertools.count():
    answers.put(answers.path("m", ({"role": "user", "content": str(k % 50)},)), Reply("x" * 200_000))
"""


def test_a_kill_leaves_complete_answers(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)])
    try:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.rglob("*.json"))) < 20:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    answers = AnswerCache(tmp_path)
    files = list(tmp_path.rglob("*.json"))
    assert all(answers.get(file) == Reply("x" * 200_000) for file in files)
