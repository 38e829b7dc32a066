"""Checkpoint layout and beam search of the NACF family's authors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.contracts import Decoding
from harness.errors import InputError
from harness_models.nacf.authors_search import STRATEGIES
from harness_models.nacf.checkpoint_layout import method_of, settings_of
from harness_models.nacf.model import ArbStep, Nacf
from harness_models.o2na.layers import BOS, EOS
from harness_models.shared.decoding.decode import decode
from harness_models.shared.decoding.types import DecodingBatch
from harness_models.shared.weights.checkpoints import load_checkpoint


def encoded(model, values):
    with torch.inference_mode():
        return model.encode([values["feats_m"], values["feats_i"]], values["category"])


def test_arb_beam_equals_the_authors(authors):
    models, values, runs = authors
    model = models["ARB"]
    for run in (run for run in runs if run["method"] == "ARB"):
        step = ArbStep(model)
        with torch.inference_mode():
            state = step.start(encoded(model, values))
        count = run.get("topk", 1)
        batch = DecodingBatch(
            state=state,
            start=torch.full((3,), BOS),
            seeds=range(3),
            stop=(EOS,),
            max_length=11,
        )
        decoding = Decoding(
            "authors-beam",
            beams=run["beam_size"],
            length_penalty=run["beam_alpha"],
            candidates=count,
        )
        for hypotheses, hyps, scores in zip(
            decode(step, decoding, batch, STRATEGIES), run["hyps"], run["scores"]
        ):
            assert [h.tokens.tolist() for h in hypotheses][: len(hyps)] == hyps
            np.testing.assert_allclose(
                [h.score for h in hypotheses][: len(scores)], scores, atol=1e-5
            )


@pytest.mark.parametrize("method", ["ARB", "NAB", "NACF"])
def test_the_keys_determine_the_method(golden, method):
    assert (
        method_of(load_checkpoint(golden / f"{method}.state_dict.safetensors"))
        == method
    )


def test_settings_are_read_directly_nested_and_by_method():
    assert settings_of({"max_len": 30}, "NAB") == {"max_len": 30}
    assert settings_of({"settings": {"max_len": 30}}, "NAB") == {"max_len": 30}
    assert settings_of({"NAB": {"max_len": 12}, "ARB": {"max_len": 30}}, "NAB") == {
        "max_len": 12
    }


def test_checkpoints_with_settings_in_the_file(authors, tmp_path):
    models, *_ = authors
    state = models["NACF"].state_dict()
    settings = {
        "num_attention_heads": 4,
        "modality": "mi",
        "max_len": 12,
        "enhance_input": 2,
    }
    data = {
        "epoch": 4,
        "state_dict": state,
        "validate_result": {"CIDEr": np.float64(0.5)},
        "settings": settings,
    }
    torch.save(data, tmp_path / "best.pth.tar")
    assert Nacf.from_checkpoint(tmp_path / "best.pth.tar").sizes == models["NACF"].sizes
    data["settings"] = {**settings, "pos_attention": True}
    torch.save(data, tmp_path / "other.pth.tar")
    with pytest.raises(InputError, match="pos_attention = True is not supported"):
        Nacf.from_checkpoint(tmp_path / "other.pth.tar")
    objects = {**state, "object_predictor.net.0.weight": torch.ones(3, 24)}
    torch.save(
        {**data, "state_dict": objects, "settings": settings}, tmp_path / "o2na.pth.tar"
    )
    with pytest.raises(
        InputError, match=r"1 unexpected: object_predictor\.net\.0\.weight \(3, 24\)"
    ):
        Nacf.from_checkpoint(tmp_path / "o2na.pth.tar")
