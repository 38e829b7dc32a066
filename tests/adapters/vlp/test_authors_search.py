"""The searches of VLP's authors."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from harness.contracts import Decoding, Example
from harness.errors import HarnessError
from harness_models.shared.decoding.decode import decode
from harness_models.shared.decoding.types import DecodingBatch
from harness_models.vlp.authors_search import STRATEGIES, search
from harness_models.vlp.model import Vlp, VlpStep
from harness_models.vlp.regions import RegionFiles


@pytest.fixture(scope="module")
def golden(golden):
    folder = golden / "vlp"
    config = json.loads((folder / "config.json").read_text())
    model = Vlp.from_checkpoint(folder / "state_dict.npz", folder / "config.json")
    files = RegionFiles(path=folder / "region_features.npz")
    images = [files.read(Example(name, ("a",))) for name in config["image_ids"]]
    regions = torch.from_numpy(np.stack([image.features for image in images]))
    where = torch.from_numpy(np.stack([image.geometry for image in images]))
    return model, regions, where, folder, config


def batch(model, regions, where, limit, stop):
    with torch.inference_mode():
        state = model.context(regions, where)
    return DecodingBatch(
        state=state, seeds=range(len(regions)), stop=stop, max_length=limit
    )


def test_greedy_equals_the_authors(golden):
    model, regions, where, folder, config = golden
    expected = json.loads((folder / "decode.json").read_text())["greedy"]
    result = decode(
        VlpStep(model),
        Decoding("greedy"),
        batch(model, regions, where, config["max_tgt_length"], ()),
    )
    assert [h[0].tokens.tolist() for h in result] == expected["tokens"]


@pytest.mark.slow
def test_beam_equals_the_authors_step_by_step(golden):
    model, regions, where, folder, config = golden
    runs = json.loads((folder / "decode.json").read_text())["beam"]
    limit = config["max_tgt_length"]
    for run in runs:
        options = {
            "min_length": run.get("min_len", 0),
            "ngram": run.get("ngram_size", 0),
        }
        decoding = Decoding(
            "authors-beam",
            beams=run["beam_size"],
            length_penalty=run["length_penalty"],
            max_length=limit,
            options=options,
        )
        settings = batch(model, regions, where, limit, (config["eos_id"],))
        with torch.inference_mode():
            trace = search(VlpStep(model), decoding, settings)
        assert np.array_equal(trace.tokens, np.array(run["step_ids"])[:, :limit])
        assert np.array_equal(trace.parents, np.array(run["back_ptrs"])[:, :limit])
        np.testing.assert_allclose(
            trace.scores, np.array(run["step_scores"])[:, :limit], atol=1e-4
        )
        result = decode(VlpStep(model), decoding, settings, STRATEGIES)
        for hypotheses, expected in zip(result, run["pred_seq"]):
            tokens = hypotheses[0].tokens.tolist()
            assert tokens + [0] * (len(expected) - len(tokens)) == expected


@pytest.mark.parametrize(
    "params, message",
    [
        ({"beams": 2, "candidates": 3}, "2 beams for 3 candidates; raise beams"),
        ({"beams": 1000}, "1000 beams for a vocabulary of 53"),
    ],
)
def test_numbers_of_beams_that_do_not_fit_are_refused(golden, params, message):
    model, regions, where, _, config = golden
    with pytest.raises(HarnessError, match=message):
        search(
            VlpStep(model),
            Decoding("authors-beam", **params),
            batch(model, regions, where, 4, (config["eos_id"],)),
        )
