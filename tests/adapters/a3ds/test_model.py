"""Speaker and listener against golden values."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from harness.contracts import Decoding
from harness_models.a3ds.model import Listener, ListenerSizes, Speaker, SpeakerSizes
from harness_models.a3ds.vocabulary import END, START
from harness_models.shared.decoding.decode import decode
from harness_models.shared.decoding.types import DecodingBatch


@pytest.fixture(scope="module")
def golden(golden):
    return golden / "a3ds_lstm"


@pytest.fixture
def speaker():
    torch.manual_seed(0)
    return Speaker(SpeakerSizes(47, 8, 6, 10, 12)).eval()


def test_golden_speaker_logits_and_state(golden):
    speaker = Speaker.load(golden / "speaker_state_dict.npz")
    expected = np.load(golden / "speaker_forward.npz")
    with torch.no_grad():
        inputs = torch.from_numpy(expected["captions"][:, :-1]).long()
        features = torch.from_numpy(expected["features"])
        logits = speaker(features, inputs)
        step = speaker.step()
        rows = []
        state = step.start(features)
        for t in range(inputs.shape[1]):
            row, state = step(inputs[:, t], state)
            rows.append(row)

    # float32 sums in another order
    assert np.abs(logits.numpy() - expected["logits"]).max() < 1e-5
    assert np.abs(torch.stack(rows, 1).numpy() - expected["logits"]).max() < 1e-5
    assert (
        np.abs(state.hidden.numpy() - expected["h_n"].reshape(state.hidden.shape)).max()
        < 1e-5
    )
    assert (
        np.abs(state.cell.numpy() - expected["c_n"].reshape(state.cell.shape)).max()
        < 1e-5
    )

    following = torch.from_numpy(expected["captions"][:, 1:]).long()
    log_probs = logits.log_softmax(-1).gather(-1, following[..., None])[..., 0]
    assert np.abs(log_probs.numpy() - expected["token_logprobs"]).max() < 1e-5


def test_golden_greedy_runs_through_the_shared_decoder(golden):
    speaker = Speaker.load(golden / "speaker_state_dict.npz")
    features = torch.from_numpy(np.load(golden / "speaker_forward.npz")["features"])
    step = speaker.step()
    batch = DecodingBatch(
        state=step.start(features),
        seeds=[0] * len(features),
        stop=(),  # the original runs on to the maximum length
        max_length=12,
        start=torch.full((len(features),), START),
    )

    decoded = decode(step, Decoding("greedy"), batch)
    for (result,), row in zip(
        decoded, json.loads((golden / "speaker_greedy.json").read_text())
    ):
        tokens = row["tokens"]
        assert result.tokens.tolist() == tokens
        ended = tokens.index(END) + 1 if END in tokens else len(tokens)
        assert (
            np.abs(
                result.log_probs[:ended] - row["logp_masked_after_END"][:ended]
            ).max()
            < 1e-5
        )


def test_golden_listener(golden):
    listener = Listener.load(golden / "listener_state_dict.npz")
    expected = np.load(golden / "listener_forward.npz")
    features = torch.from_numpy(np.load(golden / "speaker_forward.npz")["features"])
    messages = torch.from_numpy(expected["messages"]).long()
    with torch.no_grad():
        assert (
            np.abs(
                listener.message(messages).numpy() - expected["message_embedding"]
            ).max()
            < 1e-5
        )
        scores = listener(features, messages).numpy()
    assert np.abs(scores - expected["scores"]).max() < 1e-4
    assert (scores.argmax(1) == expected["choice"]).all()


def test_step_equals_forward(speaker):
    torch.manual_seed(1)
    features = torch.randn(5, 2, 12)
    tokens = torch.randint(0, 47, (5, 7))
    with torch.no_grad():
        whole = speaker(features, tokens)
        step = speaker.step()
        state = step.start(features)
        for t in range(7):
            logits, state = step(tokens[:, t], state)
            assert torch.allclose(logits, whole[:, t], atol=1e-5)
        assert torch.equal(
            speaker(features[:, :1], tokens), speaker(features[:, [0, 0]], tokens)
        )


def test_saved_agents_are_loaded_again(speaker, tmp_path):
    speaker.save(tmp_path / "s.safetensors", stage="baseline")
    again = Speaker.load(tmp_path / "s.safetensors")
    assert again.meta["stage"] == "baseline"
    assert torch.equal(again.linear.weight, speaker.linear.weight.half().float())
    listener = Listener(ListenerSizes(47, 4, 6, 12))
    listener.save(tmp_path / "l.safetensors")
    assert Listener.load(tmp_path / "l.safetensors").sizes == listener.sizes


def test_training_mode_gives_the_logits_and_gradients_of_evaluation_mode():
    torch.manual_seed(0)
    agents = (
        Speaker(SpeakerSizes(47, 8, 8, 16, 5)),
        Listener(ListenerSizes(47, 8, 16, 5)),
    )
    features = torch.randn(3, 2, 5)
    tokens = torch.randint(0, 47, (3, 6))
    for agent in agents:
        ends = []
        for training in (True, False):
            agent.train(training).zero_grad()
            out = agent(features, tokens)
            (
                out * torch.linspace(-1, 1, out.numel()).reshape(out.shape)
            ).sum().backward()
            ends.append([out, *(p.grad.clone() for p in agent.parameters())])
        for fast, plain in zip(*ends):
            torch.testing.assert_close(fast, plain, atol=1e-6, rtol=1e-5)


def test_logits_under_autocast_are_near_those_of_float32():
    torch.manual_seed(0)
    speaker = Speaker(SpeakerSizes(47, 8, 8, 16, 5))
    listener = Listener(ListenerSizes(47, 8, 16, 5))
    features = torch.randn(3, 2, 5)
    tokens = torch.randint(0, 47, (3, 6))
    with torch.no_grad():
        logits = speaker(features, tokens)
        scores = listener(features, tokens)
        with torch.autocast("cpu", torch.bfloat16):
            assert torch.allclose(speaker(features, tokens), logits, atol=0.02)
            assert torch.allclose(listener(features, tokens).float(), scores, atol=0.02)
