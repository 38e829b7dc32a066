"""The recurrent language model network."""

from __future__ import annotations

import pytest
import torch

from harness.errors import InputError
from harness_models.rnnlm.model import START, STOP, RnnLm, load


@pytest.fixture
def model():
    torch.manual_seed(0)
    return RnnLm(["a", "dog", "runs"], 6)


def test_single_steps_equal_a_forward_pass(model):
    tokens = torch.tensor([[START, 2, 3], [START, 4, 2]])
    with torch.no_grad():
        whole = model(tokens)
        state = model.first_state(2)
        for t in range(3):
            logits, state = model.step(tokens[:, t], state)
            torch.testing.assert_close(logits[:, 1:], whole[:, t, 1:])
            assert bool(torch.isinf(logits[:, START]).all())


def test_text_leaves_start_and_stop_out(model):
    assert model.text([START, 2, 3, 4, STOP]) == "a dog runs"


def test_models_are_loaded_again(model, tmp_path):
    model.save(tmp_path / "lm", {"epochs": 1})
    again = load(tmp_path / "lm")
    assert again.words == model.words
    assert torch.equal(again.output.weight, model.output.weight)
    (tmp_path / "lm" / "config.json").write_text('{"words": ["a"]}')
    with pytest.raises(
        InputError, match="1 words beside an embedding of 5 rows; expected 3"
    ):
        load(tmp_path / "lm")
