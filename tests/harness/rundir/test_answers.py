"""Answers of models on disk: lines with checksums, torn and damaged ones,
parts of one block.
"""

from __future__ import annotations

import io
from contextlib import closing

import pytest

from harness.rundir.answers import AnswerFile, MemoryAnswers, join_answers
from harness.rundir.run_folder import RunFolder

ROWS = {
    "aa": {"candidates": ["a dog", "ein Hund ü \ud800"]},
    "bb": {"failure": "offline"},
}


@pytest.fixture
def file(tmp_path):
    answers = AnswerFile(RunFolder(tmp_path), "candidates/m.jsonl")
    with closing(answers) as writer:
        for key, row in ROWS.items():
            writer.append(key, row)
    return answers


def test_rows_come_back_as_written(file):
    assert file.read() == ROWS
    assert AnswerFile(file.folder, "none").read() == {}


def test_without_rows_there_is_no_file(tmp_path):
    AnswerFile(RunFolder(tmp_path), "x").close()
    assert not list(tmp_path.iterdir())


def test_a_row_is_on_disk_when_append_returns(tmp_path):
    answers = AnswerFile(RunFolder(tmp_path), "x")
    with closing(answers) as writer:
        writer.append("aa", ROWS["aa"])
        assert answers.read() == {"aa": ROWS["aa"]}


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_torn_line_is_left_out_and_later_lines_are_whole(file, cut, caplog):
    file.path.write_bytes(file.path.read_bytes()[:-cut])
    complete = {"aa": ROWS["aa"]} if cut > 1 else ROWS
    assert file.read() == complete
    assert (
        cut == 1
    ) or "1 line is damaged; these answers are computed again" in caplog.text
    with closing(file) as writer:
        writer.append("cc", {"candidates": ["x"]})
    assert file.read() == {**complete, "cc": {"candidates": ["x"]}}
    assert len(file.path.read_bytes().splitlines()) == len(complete) + 1
    assert file.path.read_bytes().endswith(b"\n")


@pytest.mark.parametrize(("cut", "kept"), [(0, ["aa", "cc"]), (5, ["cc"])])
def test_a_first_line_without_its_end(tmp_path, file, cut, kept):
    line = file.path.read_bytes().splitlines()[0]
    (tmp_path / "one").write_bytes(line[: len(line) - cut])
    answers = AnswerFile(RunFolder(tmp_path), "one")
    with closing(answers) as writer:
        writer.append("cc", {"candidates": ["x"]})
    assert list(answers.read()) == kept


class NearlyFull(io.FileIO):
    """A file that takes seven bytes at a time, as on a disk that is nearly full."""

    def write(self, data, /):
        return super().write(memoryview(data)[:7])


def test_short_writes_are_continued(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.rundir.run_folder.FileIO", NearlyFull)
    answers = AnswerFile(RunFolder(tmp_path), "x")
    with closing(answers) as writer:
        for key, row in ROWS.items():
            writer.append(key, row)
    monkeypatch.undo()
    assert answers.read() == ROWS


@pytest.mark.parametrize(
    "damage", [b"aa 00000000 {}", b"aa", b"\xff\xfe", b"aa 92cbcd08 [1]"]
)
def test_a_damaged_line_is_left_out(file, damage):
    file.path.write_bytes(damage + b"\n" + file.path.read_bytes())
    assert file.read() == ROWS


@pytest.mark.parametrize(
    ("count", "text"), [(1, "1 line is damaged"), (2, "2 lines are damaged")]
)
def test_damaged_lines_are_counted(file, count, text, caplog):
    file.path.write_bytes(b"aa\n" * count + file.path.read_bytes())
    assert file.read() == ROWS
    assert caplog.messages == [f"{file.path}: {text}; these answers are computed again"]


def test_a_changed_caption_is_noticed(file):
    file.path.write_bytes(file.path.read_bytes().replace(b"a dog", b"a cat"))
    assert file.read() == {"bb": ROWS["bb"]}


def test_parts_of_a_block_are_joined(file, tmp_path):
    other = AnswerFile(RunFolder(tmp_path), "other.jsonl")
    with closing(other) as writer:
        writer.append("cc", {"candidates": ["x"]})
        writer.append("bb", ROWS["bb"])
    target = AnswerFile(RunFolder(tmp_path), "target.jsonl")
    join_answers([file, other], target)
    join_answers([file, other], target)
    assert target.read() == {**ROWS, "cc": {"candidates": ["x"]}}
    assert len(target.path.read_text().splitlines()) == 3


def test_rows_in_memory_and_dropped_files(file):
    memory = MemoryAnswers()
    with closing(memory) as writer:
        writer.append("aa", ROWS["aa"])
    assert memory.read() == {"aa": ROWS["aa"]}
    memory.drop()
    file.drop()
    assert memory.read() == file.read() == {}
