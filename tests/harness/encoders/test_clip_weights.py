"""Weights of CLIP models by folder: which towers read them, and folders of others."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from harness.encoders.clip_weights import find_clip_weights
from harness.encoders.open_clip_towers import OpenClipTowers
from harness.encoders.towers import encode_texts
from harness.encoders.transformers_towers import TransformersTowers
from harness.errors import InputError
from harness.registry.torchvision_guard import guard_torchvision

pytest.importorskip("torch")
guard_torchvision()
pytest.importorskip("transformers")

from tests.support import tiny_towers  # noqa: E402

TEXTS = tiny_towers.TEXTS


def load(folder):
    found = find_clip_weights(str(folder), None, subject="the test")
    return found.load("cpu", "float32")


def test_a_folder_is_read_by_the_library_that_wrote_it(tmp_path):
    pytest.importorskip("open_clip")
    towers = load(tiny_towers.write(tmp_path / "clip"))
    assert isinstance(towers, TransformersTowers)
    towers = load(tiny_towers.open_clip_folder(tmp_path / "tiny"))
    assert isinstance(towers, OpenClipTowers)


def test_a_folder_of_sentence_transformers_holds_one(tmp_path):
    folder = tiny_towers.write(tmp_path / "clip")
    tmp_path = tmp_path / "outer"
    shutil.copytree(folder, tmp_path / "0_CLIPModel")
    (tmp_path / "modules.json").write_text("[]")
    assert np.array_equal(
        encode_texts(load(tmp_path), TEXTS),
        encode_texts(load(folder), TEXTS),
    )


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(InputError, match="no CLIP model: the folder has neither"):
        load(tmp_path)
