"""Losses of the training on videos."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from harness_models.o2na.layers import MASK, PAD
from harness_models.o2na.losses import cross_entropy, masked_words_loss
from harness_models.o2na.video_training import Batch
from harness_models.shared.training.caption_tokens import IGNORED


def test_ignored_slots_have_no_loss():
    logits = torch.tensor([[[0.0, 0.0], [9.0, -9.0]]])
    assert float(cross_entropy(logits, torch.tensor([[1, IGNORED]]))) == pytest.approx(
        0.6931, abs=1e-4
    )
    assert float(cross_entropy(logits, torch.full((1, 2), IGNORED))) == 0


def test_only_masked_words_are_predicted():
    class Model:
        def logits(self, tokens, encoded):
            self.tokens = tokens
            return torch.zeros(*tokens.shape, 9)

    torch.manual_seed(0)
    model: Any = Model()
    tokens = torch.tensor([[6, 7, 8, PAD], [6, PAD, PAD, PAD]])
    encoded: Any = None
    loss, count = masked_words_loss(model, Batch(tokens, encoded, torch.arange(2)))
    hidden = model.tokens == MASK
    assert count == int(hidden.sum()) and bool(hidden.any(1).all())
    assert not bool((hidden & (tokens == PAD)).any())
    assert float(loss) == pytest.approx(torch.tensor(9.0).log().item())
