"""The O2NA network: object predictor and checkpoints."""

from __future__ import annotations

import pytest
import torch

from harness.errors import InputError
from harness_models.o2na.layers import VideoSizes
from harness_models.o2na.model import O2na, ObjectPredictor
from harness_models.shared.weights.checkpoints import load_checkpoint, looks_like
from harness_models.shared.weights.saving import save_checkpoint

SIZES = VideoSizes(
    features={"m": 6, "i": 5},
    width=32,
    layers=1,
    heads=4,
    inner=64,
    vocabulary=17,
    max_len=7,
)


@pytest.fixture(scope="module")
def predictor():
    torch.manual_seed(0)
    return ObjectPredictor(SIZES, 3).eval()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("o2na")
    save_checkpoint(
        O2na(SIZES, 3).state_dict(),
        {"num_attention_heads": 4, "modality": "mi"},
        folder,
        force=True,
    )
    return folder


def test_requested_objects_change_lengths_by_bayes_rule(predictor):
    mean = torch.randn(2, 32)
    log_probs = torch.randn(2, 7).log_softmax(1)
    objects = torch.tensor([[True, False, True], [False, False, False]])
    with torch.no_grad():
        result = predictor.length_log_probs(log_probs, mean, objects)
        for row in range(2):
            joint = []
            for length in range(7):
                probabilities = predictor.object_logits(
                    mean[row : row + 1], torch.tensor([length])
                ).sigmoid()[0]
                joint.append(
                    log_probs[row, length].exp() * probabilities[objects[row]].prod()
                )
            torch.testing.assert_close(
                result[row].exp(), torch.stack(joint) / torch.stack(joint).sum()
            )


def test_positions_beyond_the_length_are_impossible(predictor):
    with torch.no_grad():
        logits = predictor.position_logits(
            torch.randn(2, 32), torch.tensor([2, 5]), torch.ones(2, 3, dtype=torch.bool)
        )
    assert logits.shape == (2, 3, 5)
    assert bool(torch.isinf(logits[0, :, 2:]).all())
    assert bool(torch.isfinite(logits[1]).all())
    assert bool(torch.isfinite(logits[0, :, :2]).all())


def test_other_checkpoints_are_refused_with_a_list_of_differences(trained, tmp_path):
    loaded = load_checkpoint(trained)
    assert looks_like(loaded.tensors) == "it looks like O2NA (of this harness)"

    foreign = {
        key: value
        for key, value in loaded.tensors.items()
        if not key.startswith("object_predictor.")
    }
    foreign["decoder.embedding.position_embeddings.weight"] = torch.ones(7, 5)
    foreign["concept.net.0.weight"] = torch.ones(3, 24)
    save_checkpoint(foreign, loaded.settings, tmp_path / "foreign")

    with pytest.raises(InputError) as raised:
        O2na.from_checkpoint(tmp_path / "foreign")
    text = str(raised.value)
    assert "does not fit O2NA" in text and "\n" not in text
    assert (
        "12 missing: object_predictor.words (1), object_predictor.detect.0.weight "
        "(32, 32)" in text
    )
    assert "1 unexpected: concept.net.0.weight (3, 24)" in text
    assert (
        "1 of another shape: decoder.embedding.position_embeddings.weight (7, 5), "
        "expected (7, 32)" in text
    )

    save_checkpoint(
        {"tgt_word_prj.weight": torch.ones(2, 2), "decoder.bert.x": torch.ones(2)},
        {},
        tmp_path / "nacf",
    )
    with pytest.raises(InputError, match="it looks like NACF"):
        O2na.from_checkpoint(tmp_path / "nacf")
