"""The searches of CLIPCap's authors."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.clipcap.authors_search import STRATEGIES
from harness_models.clipcap.model import ClipCap, ClipCapStep
from harness_models.shared.decoding.decode import decode
from harness_models.shared.decoding.types import DecodingBatch

KINDS = ("mlp", "transformer")


@pytest.fixture(params=KINDS)
def golden(request, golden):
    from safetensors.torch import load_file

    folder = golden / "clipcap" / request.param
    model = ClipCap.from_checkpoint(
        folder / "state_dict.safetensors", folder / "config.json"
    )
    return model, load_file(folder / "forward.safetensors"), folder


def start(model, prefix, config, decode_limit):
    with torch.inference_mode():
        state = {"prefix": model.prefix_embeddings(prefix)}
    return DecodingBatch(
        state=state,
        seeds=range(len(prefix)),
        stop=(config["stop_token_id"],),
        max_length=decode_limit,
    )


def test_decoding_equals_the_authors(golden):
    model, values, folder = golden
    config = json.loads((folder / "config.json").read_text())
    runs = json.loads((folder / "decode.json").read_text())["runs"]
    assert len(runs) > 10

    for run in runs:
        prefix = values["prefix"][run["item"]][None]
        batch = start(model, prefix, config, run["entry_length"])
        if run["algo"] == "generate2":
            decoding = Decoding(
                "authors-greedy", temperature=run["temperature"], top_p=run["top_p"]
            )
            (hypotheses,) = decode(ClipCapStep(model), decoding, batch, STRATEGIES)
            assert hypotheses[0].tokens.tolist() == run["tokens"]
            continue

        size = run["beam_size"]
        decoding = Decoding(
            "authors-beam", temperature=run["temperature"], beams=size, candidates=size
        )
        (hypotheses,) = decode(ClipCapStep(model), decoding, batch, STRATEGIES)
        assert [h.tokens.tolist() for h in hypotheses] == run["candidates_tokens"]
        np.testing.assert_allclose(
            [h.score for h in hypotheses], run["candidates_mean_logprob"], atol=1e-5
        )
        assert [len(h.tokens) for h in hypotheses] == run["candidates_lengths"]


def test_authors_beam_in_one_batch_equals_one_by_one(golden):
    model, values, folder = golden
    config = json.loads((folder / "config.json").read_text())
    decoding = Decoding("authors-beam", beams=5, candidates=5)
    together = decode(
        ClipCapStep(model),
        decoding,
        start(model, values["prefix"], config, 12),
        STRATEGIES,
    )

    for e in range(3):
        (alone,) = decode(
            ClipCapStep(model),
            decoding,
            start(model, values["prefix"][e : e + 1], config, 12),
            STRATEGIES,
        )
        assert [h.tokens.tolist() for h in together[e]] == [
            h.tokens.tolist() for h in alone
        ]

        for h in alone:
            with torch.inference_mode():
                forced = model.caption_logits(
                    torch.from_numpy(h.tokens)[None], values["prefix"][e : e + 1]
                ).log_softmax(-1)
            np.testing.assert_allclose(
                h.log_probs, forced[0, range(len(h.tokens)), h.tokens], atol=1e-5
            )


@pytest.mark.parametrize(
    "params, message",
    [
        (
            {"beams": 2, "candidates": 3},
            "2 beams give at most 2 candidates; requested 3",
        ),
        ({"beams": 100}, "100 beams for a vocabulary of"),
    ],
)
def test_numbers_of_beams_that_do_not_fit_are_refused(golden, params, message):
    model, values, folder = golden
    config = json.loads((folder / "config.json").read_text())
    with pytest.raises(HarnessError, match=message):
        decode(
            ClipCapStep(model),
            Decoding("authors-beam", **params),
            start(model, values["prefix"], config, 4),
            STRATEGIES,
        )


def test_the_beam_search_requires_one_end_token(golden):
    model, values, _ = golden
    batch = start(model, values["prefix"], {"stop_token_id": 3}, 4)
    two = DecodingBatch(state=batch.state, seeds=batch.seeds, stop=(3, 4), max_length=4)
    with pytest.raises(
        HarnessError, match="authors-beam requires exactly one end token; found 2"
    ):
        decode(ClipCapStep(model), Decoding("authors-beam"), two, STRATEGIES)
