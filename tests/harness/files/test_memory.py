"""Memory that is asked for before it is used."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.files.memory import SPARE, require_memory
from harness.run import progress
from harness.rundir import parquet, sample_file

ROOT = Path(__file__).parents[3]
LIMITED = """
import resource
from pathlib import Path

def limit(more):
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more,) * 2)
"""


def limited(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program that may call ``limit(bytes)``."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED + program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )


pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="limits of address space are of Linux"
)


def test_memory_that_is_there_is_given_back():
    for _ in range(1000):
        require_memory(SPARE)


def test_memory_that_is_not_there_is_an_error():
    with pytest.raises(MemoryError, match="MB more are needed"):
        require_memory(1 << 60)
    end = limited("""
from harness.files.memory import require_memory
limit(40 << 20)
require_memory()
try:
    require_memory(30 << 20)
except MemoryError as error:
    print(error)
""")
    assert (end.returncode, end.stdout) == (0, "46 MB more are needed\n"), end.stderr


def refuse(size: int) -> None:
    raise MemoryError("16 MB more are needed")


def test_no_table_is_written_without_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(sample_file, "require_memory", refuse)
    monkeypatch.setattr(parquet, "require_memory", refuse)
    writer = sample_file.SampleWriter(
        (tmp_path / "samples.parquet").open("wb"), ["x"], [], has_meta=False
    )
    with pytest.raises(MemoryError), writer:
        writer.write(
            "m", {}, [CaptionSet("1", ("a dog",), ("a cat",))], {"x": np.zeros(1)}, {}
        )
    with pytest.raises(MemoryError):
        parquet.encode_columns({"x": [1.0]}, [(0, 1)])
    assert [file.name for file in tmp_path.iterdir()] == ["samples.parquet"]


def test_no_thread_of_a_progress_line_starts_without_memory(monkeypatch):
    monkeypatch.setattr(progress, "require_memory", lambda: refuse(0))
    before = threading.active_count()
    with pytest.raises(MemoryError):
        progress.Lines("scores", 1, "examples", str)
    assert threading.active_count() == before
