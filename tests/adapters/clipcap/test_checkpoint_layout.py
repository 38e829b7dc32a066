"""Layouts of CLIPCap's checkpoints."""

from __future__ import annotations

import shutil

import pytest
import torch

from harness.errors import InputError
from harness_models.clipcap.checkpoint_layout import tied_tensors
from harness_models.clipcap.model import ClipCap


def test_sizes_come_from_the_shapes(root, tmp_path):
    folder = root / "tests/golden" / "clipcap" / "transformer"
    model = ClipCap.from_checkpoint(folder / "state_dict.safetensors", {"n_head": 4})
    sizes = model.sizes
    assert (
        sizes.mapper,
        sizes.clip,
        sizes.clip_length,
        sizes.prefix_length,
        sizes.layers,
    ) == ("transformer", 12, 4, 5, 2)
    assert sizes.normalise and sizes.gpt2.vocabulary == 67
    alone = shutil.copy(folder / "state_dict.safetensors", tmp_path)
    with pytest.raises(InputError, match="give it in the configuration as n_head"):
        ClipCap.from_checkpoint(alone)
    with pytest.raises(
        InputError, match="says prefix_length = 9, the checkpoint has 5"
    ):
        ClipCap.from_checkpoint(
            folder / "state_dict.safetensors", {"n_head": 4, "prefix_length": 9}
        )


def test_old_checkpoint_layouts_load(root, tmp_path):
    from safetensors.torch import load_file

    folder = root / "tests/golden" / "clipcap" / "mlp"
    tensors = load_file(folder / "state_dict.safetensors")
    old = {
        **tensors,
        "gpt.transformer.h.0.attn.bias": torch.ones(1, 1, 40, 40),
        "gpt.transformer.h.0.attn.masked_bias": torch.tensor(-1e4),
    }
    torch.save(old, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    assert (
        ClipCap.from_checkpoint(tmp_path / "old.pt", {"n_head": 4}).sizes.mapper
        == "mlp"
    )

    single = {k: v for k, v in tensors.items() if not k.startswith("clip_project")}
    single |= {
        "clip_project.weight": torch.randn(96, 16),
        "clip_project.bias": torch.zeros(96),
    }
    torch.save(single, tmp_path / "single.pt")
    model = ClipCap.from_checkpoint(tmp_path / "single.pt", {"n_head": 4})
    assert (model.sizes.mapper, model.sizes.prefix_length) == ("linear", 3)
    assert model(torch.zeros(2, 4, dtype=torch.long), torch.randn(2, 16)).shape == (
        2,
        7,
        61,
    )


def test_one_tensor_of_a_tied_pair_gives_both():
    words = "gpt.transformer.wte.weight"
    head = "gpt.lm_head.weight"
    weight = torch.ones(2, 3)
    other = torch.zeros(2, 3)
    for name in (words, head):
        tensors = {name: weight}
        result = tied_tensors(tensors)
        assert result[words] is weight
        assert result[head] is weight
        assert set(tensors) == {name}
    assert tied_tensors({words: weight, head: other})[head] is other
