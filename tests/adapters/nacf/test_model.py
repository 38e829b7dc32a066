"""NACF, NAB and ARB against the values of their authors' code."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from harness.adapters.nacf.authors import STRATEGIES
from harness.adapters.nacf.layers import BOS, EOS
from harness.adapters.nacf.model import ArbStep, Nacf
from harness.adapters.nacf.iterative_refinement import Refinement, Refiner, likeliest_lengths
from harness.adapters.shared.decoding.decode import DecodingBatch, decode
from harness.adapters.shared.decoding.types import select_rows
from harness.contracts import Decoding
from harness.errors import HarnessError, InputError


@pytest.fixture(scope="module")
def golden(shared):
    from safetensors.torch import load_file

    folder = shared / "golden" / "nacf"
    models = {m: Nacf.from_checkpoint(folder / f"{m}.state_dict.safetensors") for m in ("ARB", "NAB", "NACF")}
    return models, load_file(folder / "forward.safetensors"), json.loads((folder / "decode.json").read_text())


def encoded(model, values):
    with torch.inference_mode():
        return model.encode([values["feats_m"], values["feats_i"]], values["category"])


@pytest.mark.parametrize("method", ["ARB", "NAB", "NACF"])
def test_encoder_and_lengths_equal_the_authors(golden, method):
    models, values, _ = golden
    found = encoded(models[method], values)
    torch.testing.assert_close(found.memory, values[f"{method}.enc_output"], atol=1e-5, rtol=0)
    if method != "ARB":
        torch.testing.assert_close(found.lengths, values[f"{method}.pred_length_logprobs"], atol=1e-5, rtol=0)
    assert models[method].sizes.method == method


def close(logits, expected):
    # Logits reach 360, where one unit in the last place is 3e-5, and one such unit in the memory (another CPU) moves them by 2e-4:
    # so the tolerance is 1e-5 of the largest logit.
    torch.testing.assert_close(logits, expected, atol=1e-5 * float(expected.abs().max()), rtol=0)


def test_logits_equal_the_authors(golden):
    models, values, _ = golden
    features = [values["feats_m"], values["feats_i"]]
    with torch.inference_mode():
        for method in ("NAB", "NACF"):
            for kind in ("all_mask", "all_vis", "partial_mask"):
                logits = models[method](features, values[f"{method}.{kind}.tokens"], values["category"])
                close(logits, values[f"{method}.{kind}.logits"])
        tokens = values["ARB.input_tokens"]
        logits = models["ARB"](features, tokens, values["category"])
        close(logits, values["ARB.logits"])
        scores = logits.log_softmax(-1).gather(-1, tokens[:, 1:, None])[..., 0] * (tokens[:, 1:] != 0)
        close(scores, values["ARB.token_logprobs"])


def test_the_cache_gives_the_same_logits(golden):
    models, values, _ = golden
    model, tokens = models["ARB"], values["ARB.input_tokens"]
    step = ArbStep(model)
    with torch.inference_mode():
        state = step.start(encoded(model, values))
        for t in range(tokens.shape[1] - 1):
            logits, state = step(tokens[:, t], state)
            close(logits, values["ARB.logits"][:, t])


def test_arb_beam_equals_the_authors(golden):
    models, values, runs = golden
    model = models["ARB"]
    for run in (run for run in runs if run["method"] == "ARB"):
        step = ArbStep(model)
        with torch.inference_mode():
            state = step.start(encoded(model, values))
        wanted = run.get("topk", 1)
        batch = DecodingBatch(state=state, start=torch.full((3,), BOS), seeds=range(3), stop=(EOS,), max_length=11)
        decoding = Decoding("authors-beam", beams=run["beam_size"], length_penalty=run["beam_alpha"], candidates=wanted)
        for found, hyps, scores in zip(decode(step, decoding, batch, STRATEGIES), run["hyps"], run["scores"]):
            assert [h.tokens.tolist() for h in found][: len(hyps)] == hyps
            np.testing.assert_allclose([h.score for h in found][: len(scores)], scores, atol=1e-5)


def test_refinement_equals_the_authors(golden):
    models, values, runs = golden
    checked = 0
    for run in (run for run in runs if run["method"] != "ARB"):
        model = models[run["method"]]
        how = Refinement(
            order=run["paradigm"], lengths=run["length_beam_size"], iterations=run["iterations"], templates=run["use_ct"],
            alpha=run["beam_alpha"], at_once=run["q"], more=run["q_iterations"],
        )  # fmt: skip
        once = encoded(model, values)
        lengths = likeliest_lengths(once.lengths, how.lengths, model.sizes.max_len)
        rows = torch.arange(3).repeat_interleave(lengths.shape[1])
        teacher = (models["ARB"], select_rows(encoded(models["ARB"], values), rows)) if run["teacher"] else None
        with torch.inference_mode():
            refiner = Refiner(model, select_rows(once, rows), how, teacher=teacher)
            slots = refiner.fill(lengths.reshape(-1))
            best = refiner.scores(slots).reshape(3, -1).argmax(1)
        chosen = slots.tokens.reshape(3, lengths.shape[1], -1)[torch.arange(3), best]
        assert chosen.tolist() == run["best"], run
        assert [tokens[0].tolist() for tokens in slots.history] == run["all_iterations_tokens_first_item"], run
        checked += 1
    assert checked == 54


def test_settings_that_mean_nothing_are_refused():
    with pytest.raises(HarnessError, match="options.order is one of mp, l2r, ef; found 'rl'"):
        Refinement(order="rl")
    with pytest.raises(HarnessError, match="iterations must be at least 1"):
        Refinement(iterations=0)


def test_checkpoints_of_other_kinds(shared, golden, tmp_path):
    models, *_ = golden
    with pytest.raises(InputError, match="it looks like VLP"):
        Nacf.from_checkpoint(shared / "golden" / "vlp" / "state_dict.npz")
    state = models["NACF"].state_dict()
    settings = {"num_attention_heads": 4, "modality": "mi", "max_len": 12, "enhance_input": 2}
    data = {"epoch": 4, "state_dict": state, "validate_result": {"CIDEr": np.float64(0.5)}, "settings": settings}
    torch.save(data, tmp_path / "best.pth.tar")
    assert Nacf.from_checkpoint(tmp_path / "best.pth.tar").sizes == models["NACF"].sizes
    data["settings"] = {**settings, "pos_attention": True}
    torch.save(data, tmp_path / "other.pth.tar")
    with pytest.raises(InputError, match="pos_attention = True is not supported"):
        Nacf.from_checkpoint(tmp_path / "other.pth.tar")
    objects = {**state, "object_predictor.net.0.weight": torch.ones(3, 24)}
    torch.save({**data, "state_dict": objects, "settings": settings}, tmp_path / "o2na.pth.tar")
    with pytest.raises(InputError, match=r"1 unexpected: object_predictor\.net\.0\.weight \(3, 24\)"):
        Nacf.from_checkpoint(tmp_path / "o2na.pth.tar")
