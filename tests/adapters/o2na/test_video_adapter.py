"""Common parts of the adapters over video features."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from harness.contracts import Decoding, Example
from harness.errors import HarnessError, InputError
from harness_models.o2na.adapter import O2naAdapter
from harness_models.o2na.layers import VideoSizes
from harness_models.o2na.model import O2na
from harness_models.o2na.word_list import SPECIAL
from harness_models.shared.weights.checkpoint_config import weight_files
from harness_models.shared.weights.saving import save_checkpoint


@pytest.fixture
def folder(tmp_path):
    """Return the folder of an untrained model."""
    torch.manual_seed(0)
    sizes = VideoSizes(
        features={"m": 3}, width=8, layers=1, heads=2, inner=8, vocabulary=8, max_len=6
    )
    settings = {
        "num_attention_heads": 2,
        "words": [*SPECIAL, "a", "dog"],
        "frames": 2,
        "modality": "m",
    }
    save_checkpoint(O2na(sizes, 1).state_dict(), settings, tmp_path / "run", force=True)
    np.savez(tmp_path / "m.npz", v=np.ones((4, 3)))
    return tmp_path


def build(folder, **params):
    return O2naAdapter(
        checkpoint=str(folder / "run"),
        **{"features": {"m": str(folder / "m.npz")}, "frames": None, **params},
    )


def test_words_and_frames_come_from_the_configuration(folder):
    adapter = build(folder)
    assert adapter.words.words[6:] == ["a", "dog"]
    assert adapter.frames == 2
    assert build(folder, frames=3).frames == 3


def test_checkpoints_without_features_need_the_parameter(folder):
    with pytest.raises(
        HarnessError,
        match="o2na: the checkpoint does not name its features: give features",
    ):
        build(folder, features=None)


def test_word_lists_of_another_size_are_refused(folder):
    (folder / "words.json").write_text(json.dumps([*SPECIAL, "a"]))
    with pytest.raises(InputError, match="7 words, the checkpoint has 8"):
        build(folder, words=str(folder / "words.json"))


def test_captions_have_at_most_the_slots_of_the_model(folder):
    adapter = build(folder)
    assert adapter.longest(Decoding()) == 5
    assert adapter.longest(Decoding(max_length=3)) == 3
    assert adapter.longest(Decoding(max_length=30)) == 5


def test_references_without_words_or_with_too_many_are_refused(folder):
    adapter = build(folder)
    for text, count in (("!", 0), ("a dog a dog a dog", 6)):
        with pytest.raises(
            InputError, match=f"has {count} words; 1 to 5 can be scored"
        ):
            adapter.pseudo_scores([Example("v", (text,))])


def test_fingerprints_depend_on_the_features(folder):
    before = build(folder).fingerprint()
    assert build(folder, batch_size=1).fingerprint() == before
    np.savez(folder / "m.npz", v=np.zeros((4, 3)))
    assert build(folder).fingerprint() != before


def test_weight_files_leave_the_training_state_out(folder):
    (folder / "run" / "state.pt").write_bytes(b"")
    assert [path.name for path in weight_files(str(folder / "run"))] == [
        "model.safetensors",
        "config.json",
    ]
    assert weight_files("x.pt")[0].name == "x.pt"
