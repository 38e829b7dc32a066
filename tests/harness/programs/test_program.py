"""Programs as they are declared: command lines, files, keys, limits."""

from __future__ import annotations

import os
import sys

import pytest

from harness.errors import HarnessError
from harness.programs.client import ProgramClient
from harness.programs.program import Limits, Program, limits_of, texts_of


def program(folder, *command, **options):
    return Program("metric 'x'", command, folder, **options)


def test_files_are_passed_with_absolute_paths(tmp_path):
    for name in ("score.py", "weights.bin"):
        (tmp_path / name).touch()
    command = program(tmp_path, "env", "score.py", "--weights", "weights.bin", "other")
    found, *words = command.arguments()
    assert os.path.isabs(found)
    weights = str(tmp_path / "weights.bin")
    assert words == [str(tmp_path / "score.py"), "--weights", weights, "other"]


FAULTS = {
    "no-such-program-x": "there is no program 'no-such-program-x' on PATH",
    "./scor.py": "/scor.py; did you mean 'score.py'?",
    "./score.py": "/score.py is not executable: chmod +x ",
    "./folder": "there is no program ",
}


@pytest.mark.parametrize("word", FAULTS)
def test_a_program_that_cannot_be_started_is_one_line(word, tmp_path):
    (tmp_path / "score.py").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(HarnessError) as caught:
        program(tmp_path, word).arguments()
    assert str(caught.value).startswith("metric 'x': ")
    assert FAULTS[word] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_hash_changes_with_the_command_its_files_and_those_named_beside(tmp_path):
    (tmp_path / "score.py").write_text("1")
    (tmp_path / "weights").write_text("1")

    def digest(*words, files=("weights",)):
        return program(tmp_path, "python3", *(words or ("score.py",)), files=files)

    before = digest().digest()
    assert digest().digest() == before
    others = {digest("score.py", "--fast").digest(), digest(files=()).digest()}
    (tmp_path / "score.py").write_text("2")
    others.add(digest().digest())
    (tmp_path / "score.py").write_text("1")
    (tmp_path / "weights").write_text("2")
    others.add(digest().digest())
    assert len(others) == 4 and before not in others
    (tmp_path / "weights").unlink()
    with pytest.raises(HarnessError, match="weights cannot be read .No such file"):
        digest().digest()


def test_the_hash_does_not_depend_on_the_folder(tmp_path):
    digests = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "score.py").write_text("1")
        digests.add(program(tmp_path / name, "python3", "score.py").digest())
    assert len(digests) == 1


def test_a_file_that_is_not_there_is_named(tmp_path):
    (tmp_path / "score.py").write_text("")
    misspelt = program(tmp_path, sys.executable, "scor.py")
    client = ProgramClient(misspelt, "metric", {}, stored=False)
    with pytest.raises(HarnessError) as caught:
        _ = client.greeting
    assert f"(there is no file {tmp_path / 'scor.py'}; did you mean 'score.py'?)" in (
        str(caught.value)
    )


def test_a_program_gets_no_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "value-of-the-key")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    plain = program(tmp_path, "python3")
    assert "MY_API_KEY" not in plain.variables()
    assert plain.variables()["LC_ALL"] == "C.UTF-8"
    asking = program(tmp_path, "python3", secrets=("MY_API_KEY",))
    with pytest.raises(HarnessError, match="--allow-secret MY_API_KEY"):
        asking.variables()
    monkeypatch.setenv("HARNESS_ALLOWED_SECRETS", "MY_API_KEY")
    assert asking.variables()["MY_API_KEY"] == "value-of-the-key"


def test_limits_are_numbers_above_zero():
    assert limits_of({"batch": 3, "batch_seconds": 0.5}, "x") == Limits(
        batch=3, batch_seconds=0.5
    )
    for value in (0, -1, 1.5, True, "2", None):
        with pytest.raises(HarnessError, match="x: limits.batch is .*; expected a who"):
            limits_of({"batch": value}, "x")
    with pytest.raises(HarnessError, match="memory_gb is 0; expected a number above 0"):
        limits_of({"memory_gb": 0}, "x")
    with pytest.raises(HarnessError, match="has 'replica'; did you mean 'replicas'"):
        limits_of({"replica": 2}, "x")


@pytest.mark.parametrize("value", ["a", [1], None, {"a": 1}])
def test_what_is_no_list_of_texts_is_refused(value):
    with pytest.raises(HarnessError, match="x: files is .*; expected a list of texts"):
        texts_of(value, "files", "x")
