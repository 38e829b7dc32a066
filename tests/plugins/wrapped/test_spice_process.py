"""The SPICE program as a process: requests, failures, its end, and the classes that it
needs.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import pytest

from harness.errors import HarnessError, MissingExtra
from harness_metrics.wrapped import spice_process
from harness_metrics.wrapped.spice_process import SpiceProcess


@pytest.fixture
def process(program):
    process = SpiceProcess(program)
    yield process
    process.close()


def test_pairs_are_sent_in_requests_of_bounded_size(process, tmp_path, monkeypatch):
    monkeypatch.setattr(spice_process, "PAIRS_PER_REQUEST", 2)
    scores = process.evaluate([("a", ["a"]), ("b\u2028", ["b "]), ("c", ["d"])])
    assert scores[:, 0].tolist() == [1.0, 1.0, 0.0]
    assert (tmp_path / "log").read_text().splitlines() == [
        "request of 2",
        "request of 1",
    ]
    assert process.evaluate([]).shape == (0, 7)


def test_a_pair_without_tuples_scores_zero(process):
    assert process.evaluate([("empty", ["a"]), ("a", ["a"])])[:, 0].tolist() == [
        0.0,
        1.0,
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "die",
            r"ended during a request \(exit code 1\): Exception in thread main: "
            r"java.lang.OutOfMemoryError",
        ),
        ("mute", r"returned no scores \(FileNotFoundError\): Loading models"),
    ],
)
def test_a_failure_is_one_line_and_ends_the_process(metric, text, message):
    with pytest.raises(HarnessError, match=message) as error:
        metric._serving().evaluate([(text, ["a"])])
    assert "\n" not in str(error.value)
    assert not metric._process.alive
    # a new process
    assert metric._serving().evaluate([("a", ["a"])])[:, 0].tolist() == [1.0]


def test_a_program_without_output_is_reported(tmp_path):
    process = SpiceProcess([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(
        HarnessError, match=r"\(exit code 3\): no output on standard error"
    ):
        process.evaluate([("a", ["a"])])


def test_the_process_and_its_folder_end_with_the_object(program):
    process = SpiceProcess(program)
    child = process._process
    folder = process._folder.name
    assert process.alive
    assert os.path.isdir(folder)
    del process
    assert child.poll() is not None
    assert not os.path.exists(folder)


def test_the_process_ends_when_its_input_does(process):
    child = process._process
    child.stdin.close()
    limit = time.monotonic() + 20
    while child.poll() is None and time.monotonic() < limit:
        time.sleep(0.02)
    assert child.returncode == 0
    assert not process.alive


def compiler(folder: Path, body: str) -> None:
    """Write a program called javac into a folder."""
    program = folder / "javac"
    program.write_text(f"#!{sys.executable}\nimport pathlib, sys\n{body}\n")
    program.chmod(0o755)


def test_classes_are_compiled_once_into_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    compiler(
        tmp_path,
        "out = pathlib.Path(sys.argv[sys.argv.index('-d') + 1]); "
        "(out / 'Serve.class').touch()",
    )
    folder = spice_process.compile_classes(tmp_path / "spice.jar")
    assert folder.parent == tmp_path / "cache" / "spice"
    assert sorted(path.name for path in folder.iterdir()) == [
        "META-INF",
        "Serve.class",
        "checksums.crc32",
    ]
    (tmp_path / "javac").unlink()
    assert spice_process.compile_classes(tmp_path / "spice.jar") == folder


@pytest.mark.parametrize("damage", ["flipped", "cut", "missing", "no checksums"])
def test_damaged_classes_are_compiled_again_with_one_note(
    tmp_path, monkeypatch, caplog, damage
):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    compiler(
        tmp_path,
        "out = pathlib.Path(sys.argv[sys.argv.index('-d') + 1]); "
        "(out / 'Serve.class').write_bytes(b'cafebabe')",
    )
    folder = spice_process.compile_classes(tmp_path / "spice.jar")

    path = folder / "Serve.class"
    if damage in ("flipped", "cut"):
        path.write_bytes({"flipped": b"cafebabf", "cut": b"cafe"}[damage])
    else:
        (path if damage == "missing" else folder / "checksums.crc32").unlink()
    assert spice_process.compile_classes(tmp_path / "spice.jar") == folder
    assert path.read_bytes() == b"cafebabe"
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name]

    told = [record.getMessage() for record in caplog.records]
    assert told == (
        []
        if damage == "no checksums"
        else [f"note: {folder} is damaged; it is compiled again"]
    )

    # whole classes need no compiler
    (tmp_path / "javac").unlink()
    assert spice_process.compile_classes(tmp_path / "spice.jar") == folder


def test_a_failing_or_missing_compiler_is_an_error_and_leaves_no_classes(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtra, match="needs javac"):
        spice_process.compile_classes(tmp_path / "spice.jar")
    compiler(tmp_path, "sys.exit('Serve.java:1: error: no')")
    with pytest.raises(
        HarnessError,
        match="javac failed on the server classes: Serve.java:1: error: no",
    ):
        spice_process.compile_classes(tmp_path / "spice.jar")
    assert not list((tmp_path / "cache" / "spice").iterdir())


@pytest.mark.slow
@pytest.mark.java
def test_the_real_compiler_accepts_the_stand_in_engine(tmp_path):
    if not shutil.which("javac"):
        pytest.skip("no javac")
    import subprocess

    source = str(spice_process.SOURCES["PassThrough"])
    line = ["javac", "--release", "8", "-nowarn", "-d", str(tmp_path), source]
    result = subprocess.run(line, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "PassThrough.class").is_file()
