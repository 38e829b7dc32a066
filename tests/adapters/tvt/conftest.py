"""Artificial videos of two views, and a model trained on them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness_models.tvt.training import TvtRecipe, train

SMALL = {
    "width": 32,
    "heads": 4,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "inner": 64,
    "dropout": 0.1,
}
COLOURS = ("red", "green", "blue", "pink")
SHAPES = ("ball", "block", "pill")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return a folder with two views, of which one shows the colour and one the shape,
    and the captions.
    """
    folder = tmp_path_factory.mktemp("tvt")
    random = np.random.default_rng(0)
    look = {}
    move = {}
    captions = {}
    for i in range(60):
        c = i % 4
        s = (i // 4) % 3
        frames = 2 + i % 3
        look[f"v{i}"] = (np.eye(6)[c] + 0.1 * random.normal(size=(frames, 6))).astype(
            np.float32
        )
        move[f"v{i}"] = (
            np.eye(5)[s] + 0.1 * random.normal(size=(frames + 1, 5))
        ).astype(np.float32)
        captions[f"v{i}"] = [
            f"a {COLOURS[c]} {SHAPES[s]}",
            f"the {SHAPES[s]} is {COLOURS[c]}",
        ]
    np.savez(folder / "look.npz", **look)
    np.savez(folder / "move.npz", **move)
    (folder / "captions.json").write_text(json.dumps(captions))
    return folder, captions


@pytest.fixture(scope="module")
def recipe(data):
    """Return a function that makes recipes over the artificial videos."""
    folder, _ = data

    def make(**params):
        defaults = {
            "features": {
                "look": str(folder / "look.npz"),
                "move": str(folder / "move.npz"),
            },
            "model": SMALL,
            "epochs": 12,
            "captions": str(folder / "captions.json"),
            "learning_rate": 3e-3,
            "batch": 20,
        }
        return TvtRecipe(**{**defaults, **params})

    return make


@pytest.fixture(scope="module")
def trained(recipe, tmp_path_factory):
    """Return the folder of a trained model."""
    return train(recipe(), tmp_path_factory.mktemp("run")).parent
