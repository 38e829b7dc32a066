"""Language drift: the trigram model and both kinds of drift."""

from __future__ import annotations

import pytest
import torch

from benchmarks.language_drift import TrigramModel, semantic_drift, structural_drift
from harness_models.a3ds.model import Speaker, SpeakerSizes
from harness_tasks.a3ds.grammar import captions


@pytest.fixture(scope="module")
def model():
    return TrigramModel.of_grammar(scenes=60)


def test_probabilities_of_a_context_sum_to_one(model):
    for context in ((0, 0), (0, 4), (13, 4), (46, 46)):
        assert sum(
            model.probability(context, token) for token in range(47)
        ) == pytest.approx(1)


def test_shuffled_messages_are_less_likely(model):
    messages = captions(12_345)
    shuffled = [" ".join(sorted(text.split())) for text in messages]
    assert structural_drift(messages, model) > structural_drift(shuffled, model) + 1


def test_semantic_drift_is_the_mean_log_probability():
    torch.manual_seed(0)
    speaker = Speaker(SpeakerSizes(47, 4, 4, 6, 5)).eval()
    targets = torch.randn(2, 5)
    messages = ["a red ball", "the ball is tiny in the middle"]
    total = 0.0
    count = 0
    for features, text in zip(targets, messages):
        ids = torch.tensor(speaker.vocabulary.encode(text))
        with torch.no_grad():
            logits = speaker(features.expand(1, 2, -1), ids[None, :-1])[0].log_softmax(
                -1
            )
        total += logits[range(len(ids) - 1), ids[1:]].sum().item()
        count += len(ids) - 1
    assert semantic_drift(messages, speaker, targets) == pytest.approx(
        total / count, abs=1e-5
    )
