"""Checkpoints that are written."""

from __future__ import annotations

import pytest
import torch

from harness.errors import HarnessError
from harness_models.shared.weights.saving import convert, save_checkpoint

STATE = {
    "clip_project.model.0.weight": torch.randn(4, 3),
    "gpt.lm_head.weight": torch.randn(5, 4),
}


def save(path, data, **how):
    torch.save(data, path, **how)
    return path


def test_existing_files_are_not_replaced(tmp_path):
    source = save(tmp_path / "a.pt", STATE)
    path = convert(source, tmp_path / "out")
    assert convert(source, tmp_path / "out") == path, "the same content again"
    (tmp_path / "out" / "config.json").unlink()  # a kill between the two renames
    assert convert(source, tmp_path / "out") == path
    before = path.read_bytes()
    other = save(tmp_path / "b.pt", {name: value + 1 for name, value in STATE.items()})
    with pytest.raises(
        HarnessError,
        match="exists already, with other content; "
        "choose another folder or overwrite them",
    ):
        convert(other, tmp_path / "out")
    assert path.read_bytes() == before
    assert convert(other, tmp_path / "out", force=True) == path
    assert path.read_bytes() != before
    assert sorted(file.name for file in path.parent.iterdir()) == [
        "config.json",
        "model.safetensors",
    ]


def test_settings_that_are_not_json_are_refused(tmp_path):
    with pytest.raises(
        HarnessError, match="a setting of the checkpoint cannot be written as JSON"
    ):
        save_checkpoint(STATE, {"x": object()}, tmp_path)
