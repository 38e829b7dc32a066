"""Checkpoints and feature files that are damaged, lie about their sizes, or try to run
code: one line, and nothing runs.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.errors import HarnessError, InputError
from harness.files.streams import readable
from harness_models.shared.inputs.features import _read
from harness_models.shared.weights.checkpoints import load_checkpoint
from harness_models.shared.weights.safe_unpickle import load_plain_pickle

HUGE = (1 << 40, 1 << 10)


class Evil:
    """Creates the file PWNED when it is unpickled by an unrestricted unpickler."""

    def __reduce__(self):
        return os.system, ("touch PWNED",)


def npy_header(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    text = (
        f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    )
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def torch_bytes(value: object) -> bytes:
    out = io.BytesIO()
    torch.save(value, out)
    return out.getvalue()


def safetensors_bytes(header: object, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return struct.pack("<Q", len(text)) + text + data


GOOD_TORCH = torch_bytes({"w": torch.ones(4, 4)})
FILES: dict[str, bytes] = {
    "empty.pt": b"",
    "evil.pt": torch_bytes({"w": torch.ones(1), "x": Evil()}),
    "evil-old.pt": pickle.dumps(Evil()),
    "cut.pt": GOOD_TORCH[: len(GOOD_TORCH) // 2],
    "flipped.pt": GOOD_TORCH.replace(b"FloatStorage", b"EvilStorages"),
    "lying.pt": b"\x80\x02B" + struct.pack("<I", 0xFFFFFFF0) + b"x",
    "lying8.pt": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 60) + b"x.",
    "lying-list.pt": b"\x80\x02" + b"(" * 100_000 + b".",
    "text.pt": b"hello\n" * 100,
    "evil.npz": zipped({"w.npy": npy_header((1,), "|O") + pickle.dumps(Evil())}),
    "huge.npz": zipped({"w.npy": npy_header(HUGE)}),
    "negative.npz": zipped({"w.npy": npy_header((-1, 4))}),
    "cut.npz": zipped({"w.npy": npy_header((4,)) + b"\x00" * 8}),
    "header.npz": zipped({"w.npy": b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535}),
    "text.npz": b"PK\x03\x04 hello",
    "dtype.npz": zipped({"w.npy": npy_header((1,), "|V99999999999")}),
    "huge.safetensors": safetensors_bytes(
        {"w": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]}}
    ),
    "length.safetensors": struct.pack("<Q", 1 << 60) + b"{}",
    "overlap.safetensors": safetensors_bytes(
        {"w": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}, b"\x00" * 4
    ),
    "deep.safetensors": safetensors_bytes(b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    "text.safetensors": b"hello",
    "evil.pkl": pickle.dumps({"a": Evil()}),
    "lying.pkl": b"\x80\x02B" + struct.pack("<I", 0xFFFFFFF0) + b"x",
    "lying8.pkl": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 60) + b"x.",
    "deep.pkl": b"\x80\x02" + b"]" * 10 + b"(" * 100_000 + b"l" * 100_000 + b".",
    "reconstruct.pkl": (
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n"
        b"(J\xff\xff\xff\x7fJ\xff\xff\xff\x7ft"
        b"U\x02f8\x87R."
    ),
    "memo.pkl": b"\x80\x02h\x05.",
    "opcode.pkl": b"\x80\x02\xfe.",
    "no-arrays.pkl": pickle.dumps({"a": ["b", {"c": 1}]}),
}


def outcome(read: Callable[[Path], object], path: Path) -> str:
    """Return the message of the error of a reader, or an empty text."""
    try:
        read(path)
    except HarnessError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", FILES)
def test_one_line_and_nothing_runs(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    path = Path(name)
    path.write_bytes(FILES[name])
    readers = [_read, load_plain_pickle] if path.suffix == ".pkl" else [load_checkpoint]
    readers = (
        [_read, load_checkpoint] if path.suffix in (".npz", ".safetensors") else readers
    )
    problems = [problem for read in readers if (problem := outcome(read, path))]
    assert problems
    assert all(text.startswith(name) and "\n" not in text for text in problems)
    assert not Path("PWNED").exists()


def test_a_header_that_lies_says_so(tmp_path):
    path = tmp_path / "huge.npz"
    path.write_bytes(FILES["huge.npz"])
    with pytest.raises(
        InputError,
        match=r"asks for more memory than there is \(\d+ bytes on disk; "
        r".*\.npz of arrays",
    ):
        load_checkpoint(path)


def test_errors_of_other_kinds_pass(tmp_path):
    with pytest.raises(KeyboardInterrupt), readable(tmp_path, "file"):
        raise KeyboardInterrupt
    with pytest.raises(HarnessError, match="^mine$"), readable(tmp_path, "file"):
        raise HarnessError("mine")


def test_good_files_are_read(tmp_path):
    np.savez(tmp_path / "good.npz", w=np.ones(3))
    assert load_checkpoint(tmp_path / "good.npz").shapes() == {"w": (3,)}
    assert list(_read(tmp_path / "good.npz")) == ["w"]
