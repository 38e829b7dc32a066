"""``harness convert``: a PyTorch file as safetensors and JSON."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.errors import HarnessError
from harness_models.shared.weights.checkpoints import load_checkpoint
from harness_models.shared.weights.convert import add_arguments, run
from harness_models.shared.weights.saving import save_checkpoint


def convert(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(arguments))


def test_tensors_and_settings_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    tied = torch.randn(3, 3)
    data = {
        "state_dict": {"a": tied, "b": tied, "c": tied.t()},
        "settings": {"x": (1, 2)},
        "score": np.float64(0.5),
    }
    torch.save(data, tmp_path / "best.pth.tar")
    assert convert(str(tmp_path / "best.pth.tar"), "--to", str(tmp_path / "out")) == 0
    output = tmp_path / "out" / "model.safetensors"
    assert capsys.readouterr().out.startswith(
        f"{output}: 3 tensors, 27 numbers; it looks like no known architecture"
    )
    loaded = load_checkpoint(tmp_path / "out")
    assert torch.equal(loaded.tensors["c"], tied.t())
    assert loaded.settings["settings"] == {"x": [1, 2]}
    assert json.loads((tmp_path / "out" / "config.json").read_text())["score"] == 0.5


def test_existing_files_of_other_content_need_overwrite(tmp_path: Path):
    for name, size in (("a", 2), ("b", 3)):
        torch.save({"a": torch.ones(size)}, tmp_path / f"{name}.pt")
    output = "--to", str(tmp_path / "out")
    assert convert(str(tmp_path / "a.pt"), *output) == 0
    assert convert(str(tmp_path / "a.pt"), *output) == 0
    with pytest.raises(HarnessError, match="exists already"):
        convert(str(tmp_path / "b.pt"), *output)
    assert convert(str(tmp_path / "b.pt"), *output, "--overwrite") == 0


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (28, "No space left on device"),
        (30, "Read-only file system"),
        (122, "Disk quota exceeded"),
    ],
)
def test_a_disk_that_refuses_is_an_error_of_the_system_that_names_the_file(
    tmp_path, monkeypatch, number, name
):
    class SafetensorError(Exception):
        """Error of the Rust library."""

    def save_file(tensors, path, metadata):
        Path(path).parent.joinpath(".tmpabc").touch()
        raise SafetensorError(
            f"Error while serializing: I/O error: {name} (os error {number}) "
            f'at path "{path}"'
        )

    monkeypatch.setattr("safetensors.torch.save_file", save_file)
    with pytest.raises(OSError, match=name) as caught:
        save_checkpoint({"weight": torch.zeros(2)}, {}, tmp_path / "out")
    assert (caught.value.errno, caught.value.filename) == (
        number,
        str(tmp_path / "out" / "model.safetensors"),
    )
    assert not list((tmp_path / "out").iterdir())


def test_what_a_killed_conversion_left_is_removed_by_the_next_one(tmp_path):
    process = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        capture_output=True,
        text=True,
        check=True,
    )
    left = tmp_path / f".model.safetensors.{process.stdout.strip()}.tmp"
    left.mkdir()
    (left / ".tmpabc").write_bytes(b"torn")
    save_checkpoint({"weight": torch.zeros(2)}, {"words": ["a"]}, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "config.json",
        "model.safetensors",
    ]
