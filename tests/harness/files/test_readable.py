"""Errors of libraries that read damaged files."""

from __future__ import annotations

import zlib

import pytest

from harness.errors import InputError
from harness.files.readable import readable


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("first\nsecond"), r"f: not a complete \.npz \(first\)$"),
        (EOFError(), r"f: not a complete \.npz \(EOFError\)$"),
        (zlib.error("bad"), r"\(bad\)$"),
        (RecursionError("deep"), r"\(deep\)$"),
        (MemoryError("9 TB"), r"asks for more memory than there is \(3 bytes on disk; 9 TB\); not a complete \.npz\?$"),
        (MemoryError(), r"more memory than there is \(3 bytes on disk\)"),
    ],
)
def test_one_line_with_the_path(tmp_path, monkeypatch, error, message):
    from pathlib import Path

    monkeypatch.chdir(tmp_path)
    Path("f").write_bytes(b"abc")
    with pytest.raises(InputError, match=message), readable(Path("f"), ".npz"):
        raise error


def test_other_errors_and_no_error_pass(tmp_path):
    with pytest.raises(InputError, match="^mine$"), readable(tmp_path, "x"):
        raise InputError("mine")
    with readable(tmp_path, "x"):
        pass
