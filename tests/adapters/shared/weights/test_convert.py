"""``harness convert``: a PyTorch file as safetensors and JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.errors import HarnessError
from harness_models.shared.weights.checkpoints import load_checkpoint
from harness_models.shared.weights.convert import add_arguments, run


def convert(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(arguments))


def test_tensors_and_settings_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    tied = torch.randn(3, 3)
    data = {"state_dict": {"a": tied, "b": tied, "c": tied.t()}, "settings": {"x": (1, 2)}, "score": np.float64(0.5)}
    torch.save(data, tmp_path / "best.pth.tar")
    assert convert(str(tmp_path / "best.pth.tar"), "--to", str(tmp_path / "out")) == 0
    output = tmp_path / "out" / "model.safetensors"
    assert capsys.readouterr().out.startswith(f"{output}: 3 tensors, 27 numbers; it looks like no known architecture")
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
