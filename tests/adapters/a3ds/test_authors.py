"""Checkpoint files of the agents."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from harness.errors import InputError
from harness_models.a3ds.authors import (
    joined_listener_state,
    read_state,
    save_state,
    stored_vocabulary,
)
from harness_models.a3ds.model import Listener, Speaker, SpeakerSizes
from harness_models.a3ds.vocabulary import WORDS, Vocabulary


@pytest.fixture(scope="module")
def golden(golden):
    return golden / "a3ds_lstm"


@pytest.fixture
def speaker():
    torch.manual_seed(0)
    return Speaker(SpeakerSizes(47, 8, 6, 10, 12)).eval()


def test_authors_files_load_without_unpickling(golden, tmp_path):
    state = {
        k: torch.from_numpy(v)
        for k, v in np.load(golden / "speaker_state_dict.npz").items()
    }
    torch.save(state, tmp_path / "pretrained_decoder_3dshapes.pkl")
    assert (
        Speaker.load(tmp_path / "pretrained_decoder_3dshapes.pkl").sizes.features
        == 2048
    )
    state = {
        k: torch.from_numpy(v)
        for k, v in np.load(golden / "listener_state_dict.npz").items()
    }
    for part in ("rnn", "encoder"):
        torch.save(
            {k[len(part) + 1 :]: v for k, v in state.items() if k.startswith(part)},
            tmp_path / f"{part}.pkl",
        )
    assert (
        Listener.load(tmp_path / "rnn.pkl", tmp_path / "encoder.pkl").sizes.words == 47
    )


def test_invalid_checkpoints_are_refused_in_one_line(speaker, tmp_path):
    def check(state, match, load=Speaker.load):
        torch.save(state, tmp_path / "x.pt")
        with pytest.raises(InputError, match=match) as raised:
            load(tmp_path / "x.pt")
        assert "\n" not in str(raised.value)

    state = speaker.state_dict()
    check(
        {k: v for k, v in state.items() if k != "embed.weight"},
        "no speaker: the key 'embed.weight'",
    )
    check(
        {**state, "lstm.bias_hh_l0": torch.zeros(3)},
        "of another shape: lstm.bias_hh_l0 \\(3\\), expected \\(40\\)",
    )
    check({**state, "more": torch.zeros(3)}, "1 unexpected: more")

    other = Speaker(
        SpeakerSizes(49, 8, 6, 10, 12), Vocabulary((*WORDS, "there", "x"))
    ).state_dict()
    check(other, "checkpoint of 49 words, but the published vocabulary has 47")
    check(state, "no listener", Listener.load)

    check([1, 2], "expected a state dict; found list")
    (tmp_path / "y.pt").write_text("no")
    with pytest.raises(InputError, match="not a checkpoint, or truncated"):
        Speaker.load(tmp_path / "y.pt")
    with pytest.raises(InputError, match="no such checkpoint"):
        Speaker.load(tmp_path / "none.pt")


def test_tensors_and_metadata_are_read_again(tmp_path):
    save_state(
        tmp_path / "a.safetensors", {"x": torch.tensor([0.5, 2.0])}, {"stage": "rp"}
    )
    state, meta = read_state(tmp_path / "a.safetensors")
    assert state["x"].tolist() == [0.5, 2.0]
    assert state["x"].dtype == torch.float32
    assert meta == {"stage": "rp"}
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]


def test_the_two_files_of_a_listener_are_joined_without_the_resnet():
    one = torch.ones(1)
    two = torch.zeros(1)
    assert joined_listener_state(
        {"embed.weight": one}, {"embed.weight": two, "resnet.conv": two}
    ) == {
        "rnn.embed.weight": one,
        "encoder.embed.weight": two,
    }


def test_words_come_from_the_file_the_metadata_or_the_published_list(tmp_path):
    path = tmp_path / "vocab.json"
    words = ["START", "END", "UNK", "PAD", "ball"]
    path.write_text(json.dumps({word: number for number, word in enumerate(words)}))
    assert stored_vocabulary("c.pt", 5, path, {}).words == tuple(words)
    assert stored_vocabulary("c.pt", 5, None, {"words": words}).words == tuple(words)
    assert stored_vocabulary("c.pt", 47, None, {}).words == WORDS
    path.write_text("no")
    with pytest.raises(InputError, match="no JSON vocabulary of word -> id"):
        stored_vocabulary("c.pt", 5, path, {})
