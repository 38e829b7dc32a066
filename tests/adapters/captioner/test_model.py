"""The captioner network in its four architectures."""

from __future__ import annotations

import pytest
import torch

from harness.errors import HarnessError
from harness_models.captioner.image_features import image_features
from harness_models.captioner.model import ARCHITECTURES, Captioner, check_architecture

SCENES = (5, 123_456, 479_999)


def fresh(architecture, features=57, width=12, words=("a", "block", "pill", "red")):
    torch.manual_seed(1)
    return Captioner(words, architecture, features, width)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_forced_pass_equals_single_steps(architecture):
    model = fresh(architecture)
    features = torch.from_numpy(image_features().features(SCENES))
    tokens = torch.tensor([[2, 3, 0], [4, 5, 1], [1, 2, 3]])
    forced = model(features, tokens)
    assert forced.shape == (3, 3, 6)
    state = model.first_state(features)
    last = torch.full((3,), model.start)
    for t in range(3):
        logits, state = model.step(last, state)
        assert torch.allclose(logits, forced[:, t], atol=1e-6)
        last = tokens[:, t]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_image_reaches_every_word(architecture):
    model = fresh(architecture)
    features = torch.from_numpy(image_features().features(SCENES[:1])).requires_grad_()
    logits = model(features, torch.tensor([[2, 3, 4]]))
    for t in range(3):
        (gradient,) = torch.autograd.grad(
            logits[0, t].square().sum(), features, retain_graph=True
        )
        assert gradient.abs().sum() > 0


def test_the_architectures_differ_in_where_the_image_enters():
    image = torch.from_numpy(image_features().features(SCENES))
    states = {name: fresh(name).first_state(image) for name in ARCHITECTURES}
    assert torch.equal(states["init"]["h"], states["init"]["image"])
    assert states["init"]["c"].abs().sum() == 0
    assert states["pre"]["c"].abs().sum() > 0
    for name in ("par", "merge"):
        assert states[name]["h"].abs().sum() == 0
    sizes = {
        name: sum(p.numel() for p in fresh(name).parameters()) for name in ARCHITECTURES
    }
    assert sizes["init"] == sizes["pre"]
    # the LSTM's input is twice as wide
    assert sizes["par"] == sizes["init"] + 4 * 12 * 12
    assert sizes["merge"] == sizes["init"] + 12 * 6  # the softmax's input is


def test_merge_keeps_the_image_out_of_the_lstm():
    model = fresh("merge")
    features = torch.from_numpy(image_features().features(SCENES))
    _, after = model.step(torch.full((3,), model.start), model.first_state(features))
    assert torch.equal(after["h"][0], after["h"][1])


def test_unknown_words_have_one_id():
    model = fresh("init")
    ids = model.encode(["a", "zeppelin", "red"])
    assert ids == [2, 1, 5, 0]
    assert model.pieces(ids) == ("a", "UNK", "red", "END")
    assert model.text(ids) == "a unk red"


def test_unknown_architectures_are_refused():
    with pytest.raises(
        HarnessError, match="unknown architecture 'merg'; did you mean 'merge'"
    ):
        check_architecture("merg")
