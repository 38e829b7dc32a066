"""Losses of the agents."""

from __future__ import annotations

import math

import pytest
import torch

from harness_models.a3ds.losses import play, sample_messages, structural_loss
from harness_models.a3ds.model import Listener, ListenerSizes, Speaker, SpeakerSizes
from harness_models.a3ds.vocabulary import END, PAD


def test_policy_gradient_equals_its_formula():
    """The gradient of the functional loss equals REINFORCE, computed game by game."""
    torch.manual_seed(0)
    speaker = Speaker(SpeakerSizes(47, 4, 4, 6, 5))
    listener = Listener(ListenerSizes(47, 4, 6, 5))
    features = torch.randn(6, 2, 5)
    captions = torch.randint(4, 47, (6, 9))

    played = play(
        speaker,
        listener,
        features,
        captions,
        torch.Generator().manual_seed(3),
        structural_weight=0.0,
        entropy_weight=0.0,
    )
    played.speaker.backward()
    gradient = speaker.linear.bias.grad.clone()

    generator = torch.Generator().manual_seed(3)
    messages = sample_messages(speaker, features, 8, generator)
    choice = torch.multinomial(
        listener(features, messages).softmax(-1), 1, generator=generator
    )[:, 0]

    speaker.zero_grad()
    total = torch.zeros(())
    for row in range(6):
        ids = messages[row].tolist()
        ids = ids[: ids.index(END) + 1] if END in ids else ids
        logits = speaker(features[row : row + 1], torch.tensor([[0, *ids[:-1]]]))[0]
        sample = logits.log_softmax(-1)[range(len(ids)), ids].mean()
        total = total - (1.0 if choice[row] == 0 else -1.0) * sample / 6
    total.backward()
    assert torch.allclose(gradient, speaker.linear.bias.grad, atol=1e-5)


def test_samples_end_with_padding_and_can_be_read():
    torch.manual_seed(0)
    speaker = Speaker(SpeakerSizes(47, 4, 4, 6, 5))
    with torch.no_grad():
        speaker.linear.bias[END] = 3.0
    sample = sample_messages(
        speaker, torch.randn(20, 2, 5), 12, torch.Generator().manual_seed(0)
    )
    for row in sample.tolist():
        if END in row:
            assert set(row[row.index(END) + 1 :]) <= {PAD}
    loss = structural_loss(
        speaker, torch.randn(20, 2, 5), torch.randint(4, 47, (20, 13)), sample
    )
    assert math.isfinite(loss.item())


def test_structural_loss_is_the_mean_over_all_slots():
    torch.manual_seed(0)
    speaker = Speaker(SpeakerSizes(47, 4, 4, 6, 5))
    features = torch.randn(3, 2, 5)
    captions = torch.randint(4, 47, (3, 6))
    log_probs = speaker(features, captions[:, :-1]).log_softmax(-1)
    expected = -log_probs.gather(-1, captions[:, 1:, None]).mean()
    assert structural_loss(speaker, features, captions, None).item() == pytest.approx(
        expected.item(), abs=1e-6
    )
