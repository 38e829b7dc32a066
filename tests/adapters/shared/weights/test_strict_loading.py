"""Comparison of checkpoints with models."""

from __future__ import annotations

import pytest
import torch

from harness.errors import InputError
from harness_models.shared.weights.checkpoints import load_checkpoint
from harness_models.shared.weights.strict_loading import check_keys, load_strictly

STATE = {
    "clip_project.model.0.weight": torch.randn(4, 3),
    "gpt.lm_head.weight": torch.randn(5, 4),
}


def save(path, data, **how):
    torch.save(data, path, **how)
    return path


def test_keys_are_compared_strictly(tmp_path):
    checkpoint = load_checkpoint(
        save(
            tmp_path / "a.pt",
            {**STATE, "extra.bias": torch.ones(2), "old.masked_bias": torch.ones(())},
        )
    )
    expected = {
        "clip_project.model.0.weight": (4, 4),
        "gpt.lm_head.weight": (5, 4),
        "gpt.ln.weight": (4,),
    }
    with pytest.raises(InputError) as error:
        check_keys(checkpoint, expected, "CLIPCap", ignored=[r"masked_bias$"])
    text = str(error.value)
    assert "does not fit CLIPCap (it looks like CLIPCap (MLP mapper))" in text
    assert "1 missing: gpt.ln.weight (4)" in text
    assert "1 unexpected: extra.bias (2)" in text
    assert "clip_project.model.0.weight (4, 3), expected (4, 4)" in text


def test_weights_with_nan_are_refused(tmp_path):
    layer = torch.nn.Linear(2, 2)
    bad = {
        "weight": torch.tensor([[1.0, float("nan")], [0, 0]]),
        "bias": torch.zeros(2),
    }
    with pytest.raises(InputError, match="'weight' holds NaN"):
        load_strictly(
            layer, load_checkpoint(save(tmp_path / "a.pt", bad)), "a linear layer"
        )
