"""Training of VLP on region files and rendered scenes,
and its adapter on the result.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import pytest
import torch

from harness.contracts import Decoding, Example, Scorer, TaskView
from harness.errors import HarnessError, InputError
from harness_models.shared.weights.checkpoints import load_checkpoint
from harness_models.vlp import training
from harness_models.vlp.adapter import VlpAdapter
from harness_models.vlp.model import Vlp
from harness_models.vlp.training import VlpRecipe, train

COLOURS = ("red", "green", "blue", "pink")
SHAPES = ("ball", "block", "pill")
SMALL = {
    "width": 32,
    "layers": 2,
    "heads": 4,
    "inner": 64,
    "positions": 24,
    "hidden": 32,
    "dropout": 0.0,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Images of three regions: one shows the colour, another the shape."""
    folder = tmp_path_factory.mktemp("vlp")
    random = np.random.default_rng(0)
    arrays = {}
    captions = {}
    for i in range(48):
        c = i % 4
        s = (i // 4) % 3
        features = 5 + 0.1 * random.normal(size=(3, 8))
        features[0, c] += 3
        features[1, 4 + s] += 3
        arrays[f"v{i}.feat"] = features.astype(np.float32)
        arrays[f"v{i}.cls"] = np.eye(4, dtype=np.float32)[[0, 1, 2]]
        arrays[f"v{i}.bbox"] = np.array(
            [[x, x, x + 9, x + 9, 1, 0.9] for x in (0, 5, 9)], dtype=np.float32
        )
        captions[f"v{i}"] = [
            f"a {COLOURS[c]} {SHAPES[s]}",
            f"the {SHAPES[s]} is {COLOURS[c]}",
        ]
    np.savez(folder / "regions.npz", **arrays)
    (folder / "captions.json").write_text(json.dumps(captions))
    return folder, [Example(name, tuple(texts)) for name, texts in captions.items()]


def recipe(folder, **params):
    settings = {
        "features": {"path": str(folder / "regions.npz")},
        "captions": str(folder / "captions.json"),
        "model": SMALL,
        "learning_rate": 3e-3,
        "batch": 24,
        "decay": 0.97,
        "epochs": 1,
    }
    return VlpRecipe(**{**settings, **params})


def right(folder, examples):
    adapter = VlpAdapter(checkpoint=str(folder))
    texts = [
        g.candidates[0]
        for g in adapter.generate(examples, Decoding("greedy"), range(len(examples)))
    ]
    return adapter, np.mean(
        [text in example.references for text, example in zip(texts, examples)]
    )


@pytest.mark.slow
def test_every_word_at_once_learns_in_seconds(data, tmp_path):
    folder, examples = data
    run = train(recipe(folder, masked="all", epochs=40), tmp_path / "run").parent
    adapter, share = right(run, examples)
    assert share > 0.95
    assert isinstance(adapter, Scorer)
    per_word = [
        float(s.log_probs.mean())
        for scores in adapter.score_references(examples)
        for s in scores
    ]
    assert np.mean(per_word) > -0.4
    assert (adapter.max_length, adapter.longest_reference()) == (5, 24 - 5)
    Vlp.from_checkpoint(run / "model.safetensors")  # strictly, in the published layout
    assert "cls.predictions.transform.dense.weight" in load_checkpoint(run).tensors


@pytest.mark.slow
def test_the_published_objective_learns_too(data, tmp_path):
    folder, examples = data
    run = train(recipe(folder, epochs=60, bidirectional=0.25), tmp_path / "run").parent
    losses = [
        json.loads(line)["loss"]
        for line in (run / "curve.jsonl").read_text().splitlines()
    ]
    assert np.mean(losses[-5:]) < 0.5 * losses[0]
    assert right(run, examples)[1] > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("masked", ["all", 0.15])
def test_a_resumed_run_equals_an_uninterrupted_one(data, tmp_path, masked):
    folder, _ = data
    settings = {"masked": masked, "model": {**SMALL, "dropout": 0.1}}
    train(recipe(folder, **settings, epochs=3), tmp_path / "once")
    train(recipe(folder, **settings, epochs=1), tmp_path / "twice")
    train(recipe(folder, **settings, epochs=3), tmp_path / "twice", resume=True)
    one, two = (load_checkpoint(tmp_path / name).tensors for name in ("once", "twice"))
    assert all(torch.equal(one[key], two[key]) for key in one)
    with pytest.raises(HarnessError, match="another recipe"):
        train(recipe(folder, **settings, batch=7), tmp_path / "once", resume=True)


def test_the_command_trains_on_scenes_and_the_adapter_needs_only_the_folder(
    tmp_path, capsys
):
    import yaml

    spec = {
        "scenes": 3,
        "captions_each": 1,
        "epochs": 1,
        "masked": "all",
        "model": {**SMALL, "positions": 64},
    }
    (tmp_path / "r.yaml").write_text(
        yaml.safe_dump({**spec, "features": {"scenes": {"grid": 2}}})
    )
    parser = argparse.ArgumentParser()
    training.add_arguments(parser)
    assert (
        training.run(
            parser.parse_args(
                [str(tmp_path / "r.yaml"), "--output", str(tmp_path / "out")]
            )
        )
        == 0
    )
    assert "epoch   1   loss" in capsys.readouterr().out
    adapter = VlpAdapter(checkpoint=str(tmp_path / "out"))
    example = Example("77", ("a ball",))
    adapter.prepare(TaskView([example], Decoding()))
    assert adapter.regions.read(example).features.shape == (5, 640)
    assert (
        len(
            next(
                iter(adapter.generate([example], Decoding("sample", candidates=2), [1]))
            ).candidates
        )
        == 2
    )
    assert (
        adapter.fingerprint()
        != VlpAdapter(
            checkpoint=str(tmp_path / "out"), features={"scenes": {}}
        ).fingerprint()
    )
    with pytest.raises(InputError, match="example 'img' is not a scene"):
        adapter.prepare(TaskView([Example("img", ("a",))], Decoding()))


def test_invalid_input_is_refused(data, tmp_path):
    folder, _ = data
    for settings, message in (
        (
            {"masked": "some"},
            "masked is 'some'; expected all or a number above 0 and at most 1",
        ),
        ({"masked": 1.5}, "masked is 1.5; expected all"),
        (
            {"masked": "all", "bidirectional": 0.25},
            "bidirectional must be 0 with masked: all",
        ),
        ({"most_masked": 0}, "most_masked is 0; expected a whole number"),
        ({"model": {"depth": 2}}, "unknown sizes depth"),
    ):
        with pytest.raises(HarnessError, match=message):
            recipe(folder, **settings)
    for name, settings, message in (
        (
            "heads",
            {"model": {**SMALL, "heads": 5}},
            "heads must divide the width 32; found 5",
        ),
        (
            "places",
            {"model": {**SMALL, "positions": 9}},
            "10 slots of regions and words do not fit 9 positions",
        ),
        (
            "features",
            {"features": 7},
            "features is a path, {path, boxes}, or {scenes: {}}; found 7",
        ),
        (
            "file",
            {"features": {"path": str(tmp_path / "no.npz")}},
            "no such file of region features",
        ),
        (
            "ids",
            {"features": str(folder / "regions.npz"), "captions": "none.json"},
            "no such file of captions",
        ),
    ):
        with pytest.raises(HarnessError, match=message):
            train(recipe(folder, **settings), tmp_path / name)
    (tmp_path / "c.json").write_text(json.dumps({"v99": ["a ball"]}))
    with pytest.raises(InputError, match="no region features 'v99'"):
        train(recipe(folder, captions=str(tmp_path / "c.json")), tmp_path / "v99")
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"], (
        "a failed training leaves no folder"
    )
    with pytest.raises(HarnessError, match="vlp needs features"):
        (tmp_path / "empty").mkdir()
        VlpAdapter(checkpoint=str(tmp_path / "empty"))
    with pytest.raises(InputError, match="no such checkpoint file"):
        VlpAdapter(checkpoint=str(tmp_path / "nowhere"))
