"""CLIPCap trained here: it learns, and its adapter loads what training wrote."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from harness.adapters.checkpoints import load_checkpoint
from harness.adapters.clipcap.adapter import ClipCapAdapter
from harness.adapters.clipcap.training import ClipCapRecipe, train
from harness.contracts import Decoding, Example
from harness.errors import HarnessError

COLOURS, SHAPES = ("red", "green", "blue", "pink"), ("ball", "block", "pill")


@pytest.mark.parametrize("mapper", ["mlp", "transformer"])
def test_it_learns_and_resumes(tmp_path, mapper):
    random = np.random.default_rng(0)
    vectors, captions = {}, {}
    for i in range(48):
        c, s = i % 4, (i // 4) % 3
        vectors[f"i{i}"] = (np.concatenate([np.eye(4)[c], np.eye(3)[s]]) + 0.05 * random.normal(size=7)).astype(
            np.float32
        )
        captions[f"i{i}"] = [f"a {COLOURS[c]} {SHAPES[s]}.", f"the {SHAPES[s]} is {COLOURS[c]}"]
    np.savez(tmp_path / "f.npz", **vectors)
    (tmp_path / "c.json").write_text(json.dumps(captions))
    given = {
        "features": str(tmp_path / "f.npz"), "captions": str(tmp_path / "c.json"), "mapper": mapper, "prefix_length": 3,
        "model": {"width": 32, "layers": 2, "heads": 4, "positions": 32, "vocabulary": 300},
        "learning_rate": 4e-3, "decay": 0.98, "batch": 24,
    }  # fmt: skip
    folder = train(ClipCapRecipe(**given, epochs=60), tmp_path / "run").parent
    adapter = ClipCapAdapter(checkpoint=str(folder), features=str(tmp_path / "f.npz"))
    examples = [Example(name, tuple(t.rstrip(".") + "." for t in texts)) for name, texts in captions.items()]
    made = [g.candidates[0] for g in adapter.generate(examples, Decoding("greedy"), range(48))]
    assert np.mean([text in example.references for text, example in zip(made, examples)]) > 0.9

    train(ClipCapRecipe(**given, epochs=2), tmp_path / "once")
    train(ClipCapRecipe(**given, epochs=1), tmp_path / "twice")
    train(ClipCapRecipe(**given, epochs=2), tmp_path / "twice", resume=True)
    one, two = (load_checkpoint(tmp_path / name).tensors for name in ("once", "twice"))
    assert all(torch.equal(one[key], two[key]) for key in one)


def test_sizes_are_checked():
    with pytest.raises(HarnessError, match="mapper is mlp or transformer"):
        ClipCapRecipe(features="f", captions="c", mapper="cnn")
    with pytest.raises(HarnessError, match="unknown sizes depth"):
        ClipCapRecipe(features="f", captions="c", model={"depth": 3})
