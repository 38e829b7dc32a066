"""CLIPCap against the values of its authors' code."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch

from harness.adapters.clipcap.authors import STRATEGIES
from harness.adapters.clipcap.model import ClipCap, ClipCapStep
from harness.adapters.shared.decoding.decode import DecodingBatch, decode
from harness.adapters.shared.decoding.filters import filtered_probabilities
from harness.contracts import Decoding
from harness.errors import InputError

KINDS = ("mlp", "transformer")


@pytest.fixture(params=KINDS)
def golden(request, golden):
    from safetensors.torch import load_file

    folder = golden / "clipcap" / request.param
    model = ClipCap.from_checkpoint(folder / "state_dict.safetensors", folder / "config.json")
    return model, load_file(folder / "forward.safetensors"), folder


def start(model, prefix, config, decode_limit):
    with torch.inference_mode():
        state = {"prefix": model.prefix_embeddings(prefix)}
    return DecodingBatch(
        state=state, seeds=range(len(prefix)), stop=(config["stop_token_id"],), max_length=decode_limit
    )


def test_logits_equal_the_authors(golden):
    model, values, _ = golden
    with torch.inference_mode():
        logits = model(values["tokens"], values["prefix"], values["token_mask"])
        torch.testing.assert_close(logits, values["logits_full"], atol=1e-5, rtol=0)
        torch.testing.assert_close(
            model.prefix_embeddings(values["prefix"]), values["prefix_embeds"], atol=1e-5, rtol=1e-6
        )
        captions = model.caption_logits(values["tokens"], values["prefix"]).log_softmax(-1)
    scores = captions.gather(-1, values["tokens"][..., None])[..., 0] * values["token_mask"]
    torch.testing.assert_close(scores, values["token_logprobs"], atol=1e-5, rtol=0)


def test_the_cache_gives_the_same_logits(golden):
    model, values, _ = golden
    step = ClipCapStep(model)
    with torch.inference_mode():
        whole = model.caption_logits(values["tokens"], values["prefix"])
        logits, state = step(None, {"prefix": model.prefix_embeddings(values["prefix"])})
        for t in range(values["tokens"].shape[1]):
            torch.testing.assert_close(logits, whole[:, t], atol=1e-5, rtol=0)
            logits, state = step(values["tokens"][:, t], state)


def test_decoding_equals_the_authors(golden):
    model, values, folder = golden
    config = json.loads((folder / "config.json").read_text())
    runs = json.loads((folder / "decode.json").read_text())["runs"]
    assert len(runs) > 10
    for run in runs:
        prefix = values["prefix"][run["item"]][None]
        batch = start(model, prefix, config, run["entry_length"])
        if run["algo"] == "generate2":
            decoding = Decoding("authors-greedy", temperature=run["temperature"], top_p=run["top_p"])
            (found,) = decode(ClipCapStep(model), decoding, batch, STRATEGIES)
            assert found[0].tokens.tolist() == run["tokens"]
            continue
        size = run["beam_size"]
        decoding = Decoding("authors-beam", temperature=run["temperature"], beams=size, candidates=size)
        (found,) = decode(ClipCapStep(model), decoding, batch, STRATEGIES)
        assert [h.tokens.tolist() for h in found] == run["candidates_tokens"]
        np.testing.assert_allclose([h.score for h in found], run["candidates_mean_logprob"], atol=1e-5)
        assert [len(h.tokens) for h in found] == run["candidates_lengths"]


def test_authors_beam_in_one_batch_equals_one_by_one(golden):
    model, values, folder = golden
    config = json.loads((folder / "config.json").read_text())
    decoding = Decoding("authors-beam", beams=5, candidates=5)
    together = decode(ClipCapStep(model), decoding, start(model, values["prefix"], config, 12), STRATEGIES)
    for e in range(3):
        (alone,) = decode(
            ClipCapStep(model), decoding, start(model, values["prefix"][e : e + 1], config, 12), STRATEGIES
        )
        assert [h.tokens.tolist() for h in together[e]] == [h.tokens.tolist() for h in alone]
        for h in alone:
            with torch.inference_mode():
                forced = model.caption_logits(
                    torch.from_numpy(h.tokens)[None], values["prefix"][e : e + 1]
                ).log_softmax(-1)
            np.testing.assert_allclose(h.log_probs, forced[0, range(len(h.tokens)), h.tokens], atol=1e-5)


def test_filters_equal_the_golden_ones(golden):
    model, values, folder = golden
    with torch.inference_mode():
        logits, _ = ClipCapStep(model)(None, {"prefix": model.prefix_embeddings(values["prefix"])})
    checked = 0
    for case in json.loads((folder / "filters.json").read_text()):
        row = logits[case["item"]][None]
        if "kept_ids" in case:
            # CLIPCap keeps the first token that passes top_p, as the shared filter does
            mass, ids = filtered_probabilities(row, case["temperature"], None, case["top_p"])
            assert ids[0][mass[0] > 0].tolist() == sorted(case["kept_ids"])
            checked += 1
            continue
        mass, ids = filtered_probabilities(row, case["temperature"], case["top_k"], case["top_p"])
        found = {str(i): p for i, p in zip(ids[0].tolist(), (mass / mass.sum())[0].tolist()) if p > 0}
        assert found == pytest.approx(case["probs"], abs=1e-6)
    assert checked > 5


def test_sizes_come_from_the_shapes(root, tmp_path):
    folder = root / "tests" / "golden" / "clipcap" / "transformer"
    model = ClipCap.from_checkpoint(folder / "state_dict.safetensors", {"n_head": 4})
    sizes = model.sizes
    assert (sizes.mapper, sizes.clip, sizes.clip_length, sizes.prefix_length, sizes.layers) == (
        "transformer",
        12,
        4,
        5,
        2,
    )
    assert sizes.normalise and sizes.gpt2.vocabulary == 67
    alone = shutil.copy(folder / "state_dict.safetensors", tmp_path)
    with pytest.raises(InputError, match="give it in the configuration as n_head"):
        ClipCap.from_checkpoint(alone)
    with pytest.raises(InputError, match="says prefix_length = 9, the checkpoint has 5"):
        ClipCap.from_checkpoint(folder / "state_dict.safetensors", {"n_head": 4, "prefix_length": 9})


def test_old_layouts_load(root, tmp_path):
    from safetensors.torch import load_file

    folder = root / "tests" / "golden" / "clipcap" / "mlp"
    tensors = load_file(folder / "state_dict.safetensors")
    old = {
        **tensors,
        "gpt.transformer.h.0.attn.bias": torch.ones(1, 1, 40, 40),
        "gpt.transformer.h.0.attn.masked_bias": torch.tensor(-1e4),
    }
    torch.save(old, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    assert ClipCap.from_checkpoint(tmp_path / "old.pt", {"n_head": 4}).sizes.mapper == "mlp"
    single = {k: v for k, v in tensors.items() if not k.startswith("clip_project")}
    single |= {"clip_project.weight": torch.randn(96, 16), "clip_project.bias": torch.zeros(96)}
    torch.save(single, tmp_path / "single.pt")
    model = ClipCap.from_checkpoint(tmp_path / "single.pt", {"n_head": 4})
    assert (model.sizes.mapper, model.sizes.prefix_length) == ("linear", 3)
    assert model(torch.zeros(2, 4, dtype=torch.long), torch.randn(2, 16)).shape == (2, 7, 61)


def test_another_architecture_is_named(root, tmp_path):
    with pytest.raises(InputError, match="no CLIPCap checkpoint; it looks like VLP"):
        ClipCap.from_checkpoint(root / "tests" / "golden" / "vlp" / "state_dict.npz")
    from safetensors.torch import load_file

    tensors = load_file(root / "tests" / "golden" / "clipcap" / "mlp" / "state_dict.safetensors")
    del tensors["gpt.transformer.h.1.ln_2.bias"]
    torch.save({**tensors, "gpt.more": torch.ones(3)}, tmp_path / "less.pt")
    with pytest.raises(
        InputError, match=r"1 missing: gpt\.transformer\.h\.1\.ln_2\.bias \(32\); 1 unexpected: gpt\.more"
    ):
        ClipCap.from_checkpoint(tmp_path / "less.pt", {"n_head": 4})
