"""The CLIPCap network against the values of the authors' code."""

from __future__ import annotations

import json

import pytest
import torch

from harness.errors import InputError
from harness_models.clipcap.model import ClipCap, ClipCapStep
from harness_models.shared.decoding.filters import filtered_probabilities

KINDS = ("mlp", "transformer")


@pytest.fixture(params=KINDS)
def golden(request, golden):
    from safetensors.torch import load_file

    folder = golden / "clipcap" / request.param
    model = ClipCap.from_checkpoint(
        folder / "state_dict.safetensors", folder / "config.json"
    )
    return model, load_file(folder / "forward.safetensors"), folder


def test_logits_equal_the_authors(golden):
    model, values, _ = golden
    with torch.inference_mode():
        logits = model(values["tokens"], values["prefix"], values["token_mask"])
        torch.testing.assert_close(logits, values["logits_full"], atol=1e-5, rtol=0)
        torch.testing.assert_close(
            model.prefix_embeddings(values["prefix"]),
            values["prefix_embeds"],
            atol=1e-5,
            rtol=1e-6,
        )
        captions = model.caption_logits(values["tokens"], values["prefix"]).log_softmax(
            -1
        )
    scores = (
        captions.gather(-1, values["tokens"][..., None])[..., 0] * values["token_mask"]
    )
    torch.testing.assert_close(scores, values["token_logprobs"], atol=1e-5, rtol=0)


def test_the_cache_gives_the_same_logits(golden):
    model, values, _ = golden
    step = ClipCapStep(model)
    with torch.inference_mode():
        whole = model.caption_logits(values["tokens"], values["prefix"])
        logits, state = step(
            None, {"prefix": model.prefix_embeddings(values["prefix"])}
        )
        for t in range(values["tokens"].shape[1]):
            torch.testing.assert_close(logits, whole[:, t], atol=1e-5, rtol=0)
            logits, state = step(values["tokens"][:, t], state)


def test_filters_equal_the_golden_ones(golden):
    model, values, folder = golden
    with torch.inference_mode():
        logits, _ = ClipCapStep(model)(
            None, {"prefix": model.prefix_embeddings(values["prefix"])}
        )

    checked = 0
    for case in json.loads((folder / "filters.json").read_text()):
        row = logits[case["item"]][None]
        if "kept_ids" in case:
            # CLIPCap keeps the first token that passes top_p, as the shared filter does
            mass, ids = filtered_probabilities(
                row, case["temperature"], None, case["top_p"]
            )
            assert ids[0][mass[0] > 0].tolist() == sorted(case["kept_ids"])
            checked += 1
            continue

        mass, ids = filtered_probabilities(
            row, case["temperature"], case["top_k"], case["top_p"]
        )
        probabilities = {
            str(i): p
            for i, p in zip(ids[0].tolist(), (mass / mass.sum())[0].tolist())
            if p > 0
        }
        assert probabilities == pytest.approx(case["probs"], abs=1e-6)

    assert checked > 5


def test_other_architectures_are_refused_and_named(root, tmp_path):
    with pytest.raises(InputError, match="no CLIPCap checkpoint; it looks like VLP"):
        ClipCap.from_checkpoint(root / "tests" / "golden" / "vlp" / "state_dict.npz")
    from safetensors.torch import load_file

    tensors = load_file(
        root / "tests" / "golden" / "clipcap" / "mlp" / "state_dict.safetensors"
    )
    del tensors["gpt.transformer.h.1.ln_2.bias"]
    torch.save({**tensors, "gpt.more": torch.ones(3)}, tmp_path / "less.pt")
    with pytest.raises(
        InputError,
        match=r"1 missing: gpt\.transformer\.h\.1\.ln_2\.bias \(32\); 1 unexpected: "
        r"gpt\.more",
    ):
        ClipCap.from_checkpoint(tmp_path / "less.pt", {"n_head": 4})
