"""The network over video features: sizes from checkpoints,
slots that are predicted in parallel.
"""

from __future__ import annotations

import pytest
import torch

from harness.errors import InputError
from harness_models.o2na.layers import VideoSizes
from harness_models.o2na.network import VideoNetwork, sizes_of
from harness_models.shared.weights.checkpoints import Checkpoint

SIZES = VideoSizes(
    features={"m": 6, "i": 5},
    width=16,
    layers=2,
    heads=4,
    inner=24,
    vocabulary=17,
    max_len=7,
)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return VideoNetwork(SIZES).eval().requires_grad_(False)


def encode(model, rows):
    random = torch.Generator().manual_seed(0)
    return model.encode(
        [
            torch.randn(rows, 3, 6, generator=random),
            torch.randn(rows, 2, 5, generator=random),
        ]
    )


def test_sizes_come_from_the_shapes_of_the_tensors(model):
    checkpoint = Checkpoint(dict(model.state_dict()))
    assert (
        VideoSizes(
            **sizes_of(checkpoint, {"num_attention_heads": 4, "modality": "mi"}, "O2NA")
        )
        == SIZES
    )
    assert list(sizes_of(checkpoint, {"modality": "im"}, "O2NA")["features"]) == [
        "i",
        "m",
    ]


def test_settings_that_contradict_the_shapes_are_refused(model):
    checkpoint = Checkpoint(dict(model.state_dict()))
    with pytest.raises(
        InputError, match="the setting modality = 'm', the checkpoint has"
    ):
        sizes_of(checkpoint, {"modality": "m"}, "O2NA")
    with pytest.raises(InputError, match="max_len"):
        sizes_of(checkpoint, {"max_len": 9}, "O2NA")


def test_every_slot_sees_all_words_and_no_padding(model):
    encoded = encode(model, 1)
    tokens = torch.tensor([[7, 8, 9]])
    logits = model.logits(tokens, encoded)
    padded = model.logits(torch.tensor([[7, 8, 9, 0]]), encoded)
    torch.testing.assert_close(logits, padded[:, :3], atol=1e-5, rtol=1e-5)
    changed = model.logits(torch.tensor([[7, 8, 10]]), encoded)
    assert not torch.allclose(logits[:, 0], changed[:, 0])


def test_lengths_are_log_probabilities(model):
    lengths = encode(model, 3).lengths
    assert lengths.shape == (3, 7)
    torch.testing.assert_close(lengths.exp().sum(1), torch.ones(3))
