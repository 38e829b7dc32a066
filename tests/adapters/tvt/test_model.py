"""The TVT network: caching, fusion, masks, checkpoints."""

from __future__ import annotations

import math
import shutil

import pytest
import torch

from harness.errors import HarnessError, InputError
from harness_models.tvt.model import Fusion, Tvt, TvtSizes, TvtStep, sinusoids

SMALL = {
    "width": 32,
    "heads": 4,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "inner": 64,
    "dropout": 0.1,
}


@pytest.mark.parametrize("fusion", ["add", "attentive"])
def test_one_word_at_a_time_equals_one_pass(fusion):
    torch.manual_seed(0)
    model = Tvt(
        TvtSizes(views={"a": 6, "b": 5}, vocabulary=11, fusion=fusion, **SMALL)
    ).eval()
    views = {"a": torch.randn(3, 4, 6), "b": torch.randn(3, 2, 5)}
    masks = {
        "a": torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]]).bool(),
        "b": torch.ones(3, 2).bool(),
    }
    tokens = torch.randint(4, 11, (3, 6))
    with torch.inference_mode():
        whole = model(tokens, views, masks)
        state = model.encode(views, masks)
        step = TvtStep(model)
        for t in range(6):
            logits, state = step(tokens[:, t], state)
            torch.testing.assert_close(logits, whole[:, t], atol=1e-5, rtol=0)
        views["a"][1, 2:] = 100.0  # frames beyond the mask change nothing
        torch.testing.assert_close(
            model(tokens, views, masks), whole, atol=1e-5, rtol=0
        )


def test_position_vectors_equal_their_formula():
    vectors = sinusoids(5, 4, torch.device("cpu"))
    for position in range(5):
        for k in range(2):
            angle = position / 10000 ** (2 * k / 4)
            assert vectors[position, 2 * k] == pytest.approx(math.sin(angle), abs=1e-6)
            assert vectors[position, 2 * k + 1] == pytest.approx(
                math.cos(angle), abs=1e-6
            )


def test_attentive_fusion_of_equal_scores_is_the_mean():
    torch.manual_seed(0)
    views = {"a": 6, "b": 5}
    fusion = Fusion(
        TvtSizes(views=views, vocabulary=11, fusion="attentive", **SMALL)
    ).eval()
    torch.nn.init.zeros_(fusion.weigh["score"].weight)
    x = torch.randn(2, 3, 32)
    frames = torch.randn(2, 4, 32)
    memory = {name: fusion.cross[name].keys_values(frames) for name in views}
    masks = {name: torch.ones(2, 4, dtype=torch.bool) for name in views}
    mean = fusion(x, memory, masks)
    fusion.weigh = None
    torch.testing.assert_close(mean, fusion(x, memory, masks) / 2)


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(HarnessError, match="fusion is one of add, attentive"):
        TvtSizes(views={"a": 1}, vocabulary=9, fusion="sum")
    with pytest.raises(
        HarnessError,
        match="expected at least one view, and a width that 8 heads and 2 divide; "
        "found 12",
    ):
        TvtSizes(views={"a": 1}, vocabulary=9, width=12)


def test_other_checkpoints_are_refused(golden, tmp_path):
    shutil.copy(golden / "clipcap" / "mlp" / "state_dict.safetensors", tmp_path)
    with pytest.raises(InputError, match="it looks like CLIPCap"):
        Tvt.from_checkpoint(tmp_path / "state_dict.safetensors")
