"""Training of CLIPCap, and its adapter on the result."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from harness.contracts import Decoding, Example, TaskView
from harness.errors import HarnessError, InputError
from harness_models.clipcap.adapter import ClipCapAdapter
from harness_models.clipcap.training import ClipCapRecipe, train
from harness_models.shared.standardiser import Standardiser
from harness_models.shared.training.loop import load_state
from harness_models.shared.weights.checkpoints import load_checkpoint

COLOURS = ("red", "green", "blue", "pink")
SHAPES = ("ball", "block", "pill")


@pytest.mark.slow
@pytest.mark.parametrize("mapper", ["mlp", "transformer"])
def test_training_learns_and_resumes(tmp_path, mapper):
    random = np.random.default_rng(0)
    vectors = {}
    captions = {}
    for i in range(48):
        c = i % 4
        s = (i // 4) % 3
        vectors[f"i{i}"] = (
            np.concatenate([np.eye(4)[c], np.eye(3)[s]]) + 0.05 * random.normal(size=7)
        ).astype(np.float32)
        captions[f"i{i}"] = [
            f"a {COLOURS[c]} {SHAPES[s]}.",
            f"the {SHAPES[s]} is {COLOURS[c]}",
        ]

    np.savez(tmp_path / "f.npz", **vectors)
    (tmp_path / "c.json").write_text(json.dumps(captions))
    params = {
        "features": str(tmp_path / "f.npz"),
        "captions": str(tmp_path / "c.json"),
        "mapper": mapper,
        "prefix_length": 3,
        "model": {
            "width": 32,
            "layers": 2,
            "heads": 4,
            "positions": 32,
            "vocabulary": 300,
        },
        "learning_rate": 4e-3,
        "decay": 0.98,
        "batch": 24,
    }

    folder = train(ClipCapRecipe(**params, epochs=60), tmp_path / "run").parent
    # with the features of the training
    adapter = ClipCapAdapter(checkpoint=str(folder))
    assert (
        adapter.fingerprint()
        == ClipCapAdapter(
            checkpoint=str(folder), features=str(tmp_path / "f.npz")
        ).fingerprint()
    )

    examples = [
        Example(name, tuple(t.rstrip(".") + "." for t in texts))
        for name, texts in captions.items()
    ]
    texts = [
        g.candidates[0]
        for g in adapter.generate(examples, Decoding("greedy"), range(48))
    ]
    assert (
        np.mean([text in example.references for text, example in zip(texts, examples)])
        > 0.9
    )

    train(ClipCapRecipe(**params, epochs=2), tmp_path / "once")
    train(ClipCapRecipe(**params, epochs=1), tmp_path / "twice")
    train(ClipCapRecipe(**params, epochs=2), tmp_path / "twice", resume=True)
    one, two = (load_checkpoint(tmp_path / name).tensors for name in ("once", "twice"))
    assert all(torch.equal(one[key], two[key]) for key in one)


@pytest.mark.parametrize("mapper", ["mlp", "transformer"])
def test_saved_weights_take_unstandardised_vectors(tmp_path, mapper):
    """The first layer of the checkpoint on raw vectors equals that of the training
    state on standardised vectors.
    """
    sizes = {
        "width": 16,
        "layers": 1,
        "heads": 2,
        "positions": 64,
        "mapper_layers": 1,
        "mapper_heads": 2,
    }
    recipe = ClipCapRecipe(
        scenes=4,
        captions_each=1,
        kind="short",
        mapper=mapper,
        prefix_length=2,
        epochs=1,
        model=sizes,
    )

    folder = train(recipe, tmp_path / "run").parent
    adapter = ClipCapAdapter(checkpoint=str(folder))
    examples = [Example(name, (text,)) for name, text in recipe.pairs()]
    vectors = torch.stack([adapter.inputs([example])[0] for example in examples])

    state = load_state(folder / "state.pt")["model"]
    first = "clip_project.model.0" if mapper == "mlp" else "clip_project.linear"
    standard = Standardiser.fit(vectors.numpy())
    expected = torch.nn.functional.linear(
        standard(vectors), state[f"{first}.weight"], state[f"{first}.bias"]
    )

    saved = load_checkpoint(folder).tensors
    result = torch.nn.functional.linear(
        vectors, saved[f"{first}.weight"], saved[f"{first}.bias"]
    )
    torch.testing.assert_close(result, expected, atol=2e-3, rtol=1e-3)


def test_a_folder_trained_on_scenes_needs_no_other_parameters(tmp_path):
    sizes = {"width": 16, "layers": 1, "heads": 2, "positions": 64}
    folder = train(
        ClipCapRecipe(scenes=3, captions_each=1, epochs=1, model=sizes),
        tmp_path / "run",
    ).parent

    adapter = ClipCapAdapter(checkpoint=str(folder))
    examples = [
        Example("77", ("a ball.",)),
        Example("one/shape/00000", ("a ball.",), meta={"target_id": 77}),
    ]

    adapter.prepare(TaskView(examples, Decoding()))
    one, two = (
        g.candidates for g in adapter.generate(examples, Decoding("greedy"), [1, 2])
    )
    assert one == two

    with pytest.raises(InputError, match="example 'cat' is not a scene"):
        adapter.prepare(TaskView([Example("cat", ("a",))], Decoding()))
    with pytest.raises(
        HarnessError,
        match="features is a file of vectors by example id, or {scenes: {}}; "
        "found {'views': 1}",
    ):
        ClipCapAdapter(checkpoint=str(folder), features={"views": 1})


def test_invalid_input_is_refused(tmp_path):
    with pytest.raises(
        HarnessError, match="mapper is 'cnn'; expected mlp or transformer"
    ):
        ClipCapRecipe(scenes=3, mapper="cnn")
    with pytest.raises(HarnessError, match="unknown sizes depth"):
        ClipCapRecipe(scenes=3, model={"depth": 3})
    with pytest.raises(HarnessError, match="does not fit 8 positions"):
        train(ClipCapRecipe(scenes=3, model={"positions": 8}), tmp_path / "a")
    with pytest.raises(HarnessError, match="heads must divide the width 256; found 3"):
        train(ClipCapRecipe(scenes=3, model={"heads": 3}), tmp_path / "b")

    (tmp_path / "c.json").write_text(json.dumps({"a": ["one"], "b": ["two"]}))
    np.savez(tmp_path / "f.npz", a=np.ones(3), b=np.ones(4))
    with pytest.raises(
        InputError, match=r"image vectors differ in their width: \[3, 4\]"
    ):
        train(
            ClipCapRecipe(
                captions=str(tmp_path / "c.json"), features=str(tmp_path / "f.npz")
            ),
            tmp_path / "c",
        )

    np.savez(tmp_path / "g.npz", a=np.ones(3))
    with pytest.raises(InputError, match="no features for 1 of 2 examples: b"):
        train(
            ClipCapRecipe(
                captions=str(tmp_path / "c.json"), features=str(tmp_path / "g.npz")
            ),
            tmp_path / "d",
        )

    assert not any((tmp_path / name).exists() for name in "abcd"), (
        "a failed training leaves no folder"
    )


def test_tokeniser_files_without_a_run_are_replaced(tmp_path):
    (tmp_path / "vocab.json").write_text("{}")
    (tmp_path / "merges.txt").write_text("")
    small = {"width": 16, "layers": 1, "heads": 2, "vocabulary": 300}
    train(
        ClipCapRecipe(
            scenes=4, captions_each=1, prefix_length=2, epochs=1, model=small
        ),
        tmp_path,
    )
    assert len(json.loads((tmp_path / "vocab.json").read_text())) > 256
