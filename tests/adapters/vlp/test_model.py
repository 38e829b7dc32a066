"""The VLP network against the values of its authors' code."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from harness.contracts import Example
from harness.errors import InputError
from harness_models.vlp.model import Vlp, VlpStep
from harness_models.vlp.regions import RegionFiles


@pytest.fixture(scope="module")
def golden(golden):
    folder = golden / "vlp"
    config = json.loads((folder / "config.json").read_text())
    model = Vlp.from_checkpoint(folder / "state_dict.npz", folder / "config.json")
    files = RegionFiles(path=folder / "region_features.npz")
    images = [files.read(Example(name, ("a",))) for name in config["image_ids"]]
    regions = torch.from_numpy(np.stack([image.features for image in images]))
    where = torch.from_numpy(np.stack([image.geometry for image in images]))
    return model, regions, where, folder, config


def test_one_pass_equals_the_authors_loop(golden):
    model, regions, where, folder, _ = golden
    with np.load(folder / "forced.npz") as values, torch.inference_mode():
        tokens = torch.from_numpy(values["ref_tokens"])
        logits = model(tokens, regions, where)
        torch.testing.assert_close(
            logits, torch.from_numpy(values["logits"]), atol=1e-5, rtol=0
        )
        scores = logits.log_softmax(-1).gather(-1, tokens[..., None])[..., 0]
        torch.testing.assert_close(
            scores, torch.from_numpy(values["token_logprobs"]), atol=1e-5, rtol=0
        )
        torch.testing.assert_close(
            model.vis_embed(regions)[:, :3],
            torch.from_numpy(values["vis_embed_first3"]),
            atol=1e-5,
            rtol=0,
        )


def test_step_by_step_equals_one_pass(golden):
    model, regions, where, folder, _ = golden
    step = VlpStep(model)
    with np.load(folder / "forced.npz") as values, torch.inference_mode():
        tokens = torch.from_numpy(values["ref_tokens"])
        state = model.context(regions, where)
        last = None
        for t in range(tokens.shape[1]):
            logits, state = step(last, state)
            torch.testing.assert_close(
                logits, torch.from_numpy(values["logits"][:, t]), atol=1e-5, rtol=0
            )
            last = tokens[:, t]


def test_another_architecture_and_old_names(golden, root, tmp_path):
    model, *_ = golden
    with pytest.raises(InputError, match="no VLP checkpoint; it looks like CLIPCap"):
        Vlp.from_checkpoint(
            root / "tests" / "golden" / "clipcap" / "mlp" / "state_dict.safetensors"
        )
    old = {
        k.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): v
        for k, v in model.state_dict().items()
    }
    old["bert.embeddings.token_type_embeddings.weight"] = old[
        "bert.embeddings.token_type_embeddings.weight"
    ][:2]
    torch.save(old, tmp_path / "model.28.bin", _use_new_zipfile_serialization=False)
    config = {
        "num_attention_heads": 3,
        "special_ids": {"[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4},
    }
    loaded = Vlp.from_checkpoint(tmp_path / "model.28.bin", config)
    table = loaded.bert.embeddings.token_type_embeddings.weight
    assert torch.equal(table[2], table[0])
    assert torch.equal(table[5], table[1])
    with pytest.raises(InputError, match="special ids beyond the 53 words"):
        Vlp.from_checkpoint(tmp_path / "model.28.bin", {"num_attention_heads": 3})
