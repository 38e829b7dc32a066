"""Checkpoint layout and searches of VLP's authors."""

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
from harness_models.vlp.checkpoint_layout import renamed_tensors, resized_positions
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


def test_old_names_of_layer_norms_are_replaced():
    tensors = {
        "a.LayerNorm.gamma": torch.ones(2),
        "a.LayerNorm.beta": torch.zeros(2),
        "b.weight": torch.ones(1),
    }
    assert set(renamed_tensors(tensors)) == {
        "a.LayerNorm.weight",
        "a.LayerNorm.bias",
        "b.weight",
    }


def test_a_segment_table_of_two_rows_is_extended():
    table = "bert.embeddings.token_type_embeddings.weight"
    result = renamed_tensors({table: torch.tensor([[1.0], [2.0]])})
    assert result[table].tolist() == [[1], [2], [1], [1], [1], [2]]


@pytest.mark.parametrize(
    "positions, expected",
    [(2, [0, 1]), (5, [0, 1, 2, 0, 1]), (None, [0, 1, 2]), (3, [0, 1, 2])],
)
def test_position_tables_are_cut_or_repeated(positions, expected):
    table = "bert.embeddings.position_embeddings.weight"
    result = resized_positions({table: torch.arange(3.0)[:, None]}, positions)
    assert result[table][:, 0].tolist() == expected
