"""The agents against golden values, and their files."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from harness.adapters.a3ds.model import Listener, ListenerSizes, Speaker, SpeakerSizes
from harness.adapters.a3ds.vocabulary import END, START, WORDS, Vocabulary
from harness.adapters.shared.decoding.decode import DecodingBatch, decode
from harness.contracts import Decoding
from harness.errors import HarnessError, InputError


@pytest.fixture(scope="module")
def golden(shared):
    return shared / "golden/a3ds_lstm"


@pytest.fixture
def speaker():
    torch.manual_seed(0)
    return Speaker(SpeakerSizes(47, 8, 6, 10, 12)).eval()


def test_vocabulary_is_the_published_one(shared):
    table = json.loads((shared / "data/a3ds/vocab.json").read_text())
    assert {word: number for number, word in enumerate(WORDS)} == table


def test_golden_speaker_logits_and_state(golden):
    speaker = Speaker.load(golden / "speaker_state_dict.npz")
    expected = np.load(golden / "speaker_forward.npz")
    with torch.no_grad():
        inputs = torch.from_numpy(expected["captions"][:, :-1]).long()
        features = torch.from_numpy(expected["features"])
        logits = speaker(features, inputs)
        step, rows = speaker.step(), []
        state = step.start(features)
        for t in range(inputs.shape[1]):
            row, state = step(inputs[:, t], state)
            rows.append(row)
    # float32 sums in another order
    assert np.abs(logits.numpy() - expected["logits"]).max() < 1e-5
    assert np.abs(torch.stack(rows, 1).numpy() - expected["logits"]).max() < 1e-5
    assert np.abs(state.hidden.numpy() - expected["h_n"].reshape(state.hidden.shape)).max() < 1e-5
    assert np.abs(state.cell.numpy() - expected["c_n"].reshape(state.cell.shape)).max() < 1e-5
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
    for (found,), row in zip(decoded, json.loads((golden / "speaker_greedy.json").read_text())):
        tokens = row["tokens"]
        assert found.tokens.tolist() == tokens
        ended = tokens.index(END) + 1 if END in tokens else len(tokens)
        assert np.abs(found.log_probs[:ended] - row["logp_masked_after_END"][:ended]).max() < 1e-5


def test_golden_listener(golden):
    listener = Listener.load(golden / "listener_state_dict.npz")
    expected = np.load(golden / "listener_forward.npz")
    features = torch.from_numpy(np.load(golden / "speaker_forward.npz")["features"])
    messages = torch.from_numpy(expected["messages"]).long()
    with torch.no_grad():
        assert np.abs(listener.message(messages).numpy() - expected["message_embedding"]).max() < 1e-5
        scores = listener(features, messages).numpy()
    assert np.abs(scores - expected["scores"]).max() < 1e-4
    assert (scores.argmax(1) == expected["choice"]).all()


def test_authors_files_load_without_unpickling(golden, tmp_path):
    state = {k: torch.from_numpy(v) for k, v in np.load(golden / "speaker_state_dict.npz").items()}
    torch.save(state, tmp_path / "pretrained_decoder_3dshapes.pkl")
    assert Speaker.load(tmp_path / "pretrained_decoder_3dshapes.pkl").sizes.features == 2048
    state = {k: torch.from_numpy(v) for k, v in np.load(golden / "listener_state_dict.npz").items()}
    for part in ("rnn", "encoder"):
        torch.save({k[len(part) + 1 :]: v for k, v in state.items() if k.startswith(part)}, tmp_path / f"{part}.pkl")
    assert Listener.load(tmp_path / "rnn.pkl", tmp_path / "encoder.pkl").sizes.words == 47


def test_step_equals_forward(speaker):
    torch.manual_seed(1)
    features, tokens = torch.randn(5, 2, 12), torch.randint(0, 47, (5, 7))
    with torch.no_grad():
        whole, step = speaker(features, tokens), speaker.step()
        state = step.start(features)
        for t in range(7):
            logits, state = step(tokens[:, t], state)
            assert torch.allclose(logits, whole[:, t], atol=1e-5)
        assert torch.equal(speaker(features[:, :1], tokens), speaker(features[:, [0, 0]], tokens))


def test_saved_agents_come_back(speaker, tmp_path):
    speaker.save(tmp_path / "s.safetensors", stage="baseline")
    again = Speaker.load(tmp_path / "s.safetensors")
    assert again.meta["stage"] == "baseline"
    assert torch.equal(again.linear.weight, speaker.linear.weight.half().float())
    listener = Listener(ListenerSizes(47, 4, 6, 12))
    listener.save(tmp_path / "l.safetensors")
    assert Listener.load(tmp_path / "l.safetensors").sizes == listener.sizes


def test_wrong_checkpoints_are_told_in_a_line(speaker, tmp_path):
    def check(state, match, load=Speaker.load):
        torch.save(state, tmp_path / "x.pt")
        with pytest.raises(InputError, match=match) as raised:
            load(tmp_path / "x.pt")
        assert "\n" not in str(raised.value)

    state = speaker.state_dict()
    check({k: v for k, v in state.items() if k != "embed.weight"}, "no speaker: the key 'embed.weight'")
    check({**state, "lstm.bias_hh_l0": torch.zeros(3)}, "shape \\(3,\\), expected \\(40,\\)")
    check({**state, "more": torch.zeros(3)}, "unknown key 'more'")
    other = Speaker(SpeakerSizes(49, 8, 6, 10, 12), Vocabulary((*WORDS, "there", "x"))).state_dict()
    check(other, "checkpoint of 49 words, but the published vocabulary has 47")
    check(state, "no listener", Listener.load)
    check([1, 2], "no plain state dict")
    (tmp_path / "y.pt").write_text("no")
    with pytest.raises(InputError, match="not a readable state dict"):
        Speaker.load(tmp_path / "y.pt")
    with pytest.raises(InputError, match="no such checkpoint"):
        Speaker.load(tmp_path / "none.pt")
    with pytest.raises(HarnessError, match="vocabulary begins with"):
        Vocabulary(("a", "b"))


def test_text_and_tokens():
    words = Vocabulary()
    ids = words.encode("A medium-sized Zebra.")
    assert words.decode(ids) == "a medium sized unk unk"
    assert words.encode("a " * 50, 25)[-1] == END
    assert len(words.encode("a " * 50, 25)) == 25
