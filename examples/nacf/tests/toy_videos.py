"""Artificial videos: motion features show the colour, image features the shape;
captions have two lengths.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from harness.contracts import Example

COLOURS = ("red", "green", "blue", "pink")
SHAPES = ("ball", "block", "pill")
SMALL = {"width": 32, "heads": 4, "inner": 64, "dropout": 0.1}


def toy_videos(folder: Path) -> list[Example]:
    """Write m.npz, i.npz and captions.json, and return the examples,
    whose ids start with v.
    """
    random = np.random.default_rng(0)
    motion = {}
    image = {}
    captions = {}
    for i in range(60):
        c = i % 4
        s = (i // 4) % 3
        frames = 2 + i % 3
        motion[f"v{i}"] = (
            5 + np.eye(6)[c] + 0.1 * random.normal(size=(frames, 6))
        ).astype(np.float32)
        image[f"v{i}"] = (
            20 * np.eye(5)[s] + random.normal(size=(frames + 1, 5))
        ).astype(np.float32)
        captions[f"v{i}"] = [
            f"a {COLOURS[c]} {SHAPES[s]}",
            f"the {SHAPES[s]} here is {COLOURS[c]}",
        ]
    np.savez(folder / "m.npz", **motion)
    np.savez(folder / "i.npz", **image)
    (folder / "captions.json").write_text(json.dumps(captions))
    return [Example(name, tuple(texts)) for name, texts in captions.items()]


def toy_recipe(folder: Path, **params) -> dict:
    """Return the fields of a recipe for the artificial videos in ``folder``."""
    defaults = {
        "features": {name: str(folder / f"{name}.npz") for name in "mi"},
        "captions": str(folder / "captions.json"),
        "frames": 3,
        "model": SMALL,
        "epochs": 25,
        "batch": 20,
        "learning_rate": 5e-3,
    }
    return {**defaults, **params}
