"""VLP against the values of its authors' code."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from harness.adapters.shared.decoding.decode import DecodingBatch, decode
from harness.adapters.vlp.authors import STRATEGIES, search
from harness.adapters.vlp.model import Vlp, VlpStep
from harness.adapters.vlp.regions import RegionFiles, geometry
from harness.contracts import Decoding, Example
from harness.errors import InputError


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
    return DecodingBatch(state=state, seeds=range(len(regions)), stop=stop, max_length=limit)


def test_geometry_equals_the_authors_loader(golden):
    _, _, where, folder, _ = golden
    with np.load(folder / "preprocessed.npz") as values:
        np.testing.assert_allclose(where.numpy(), values["vis_pe"], atol=2e-5)


def test_one_pass_equals_the_authors_loop(golden):
    model, regions, where, folder, _ = golden
    with np.load(folder / "forced.npz") as values, torch.inference_mode():
        tokens = torch.from_numpy(values["ref_tokens"])
        logits = model(tokens, regions, where)
        torch.testing.assert_close(logits, torch.from_numpy(values["logits"]), atol=1e-5, rtol=0)
        scores = logits.log_softmax(-1).gather(-1, tokens[..., None])[..., 0]
        torch.testing.assert_close(scores, torch.from_numpy(values["token_logprobs"]), atol=1e-5, rtol=0)
        torch.testing.assert_close(
            model.vis_embed(regions)[:, :3], torch.from_numpy(values["vis_embed_first3"]), atol=1e-5, rtol=0
        )


def test_step_by_step_equals_one_pass(golden):
    model, regions, where, folder, _ = golden
    step = VlpStep(model)
    with np.load(folder / "forced.npz") as values, torch.inference_mode():
        tokens = torch.from_numpy(values["ref_tokens"])
        state, last = model.context(regions, where), None
        for t in range(tokens.shape[1]):
            logits, state = step(last, state)
            torch.testing.assert_close(logits, torch.from_numpy(values["logits"][:, t]), atol=1e-5, rtol=0)
            last = tokens[:, t]


def test_greedy_equals_the_authors(golden):
    model, regions, where, folder, config = golden
    expected = json.loads((folder / "decode.json").read_text())["greedy"]
    found = decode(VlpStep(model), Decoding("greedy"), batch(model, regions, where, config["max_tgt_length"], ()))
    assert [h[0].tokens.tolist() for h in found] == expected["tokens"]


def test_beam_equals_the_authors_step_by_step(golden):
    model, regions, where, folder, config = golden
    runs = json.loads((folder / "decode.json").read_text())["beam"]
    limit = config["max_tgt_length"]
    for run in runs:
        options = {"min_length": run.get("min_len", 0), "ngram": run.get("ngram_size", 0)}
        decoding = Decoding(
            "authors-beam",
            beams=run["beam_size"],
            length_penalty=run["length_penalty"],
            max_length=limit,
            options=options,
        )
        given = batch(model, regions, where, limit, (config["eos_id"],))
        with torch.inference_mode():
            trace = search(VlpStep(model), decoding, given)
        assert np.array_equal(trace.tokens, np.array(run["step_ids"])[:, :limit])
        assert np.array_equal(trace.parents, np.array(run["back_ptrs"])[:, :limit])
        np.testing.assert_allclose(trace.scores, np.array(run["step_scores"])[:, :limit], atol=1e-4)
        found = decode(VlpStep(model), decoding, given, STRATEGIES)
        for hypotheses, expected in zip(found, run["pred_seq"]):
            tokens = hypotheses[0].tokens.tolist()
            assert tokens + [0] * (len(expected) - len(tokens)) == expected


def test_layouts_give_the_same_regions(golden, tmp_path):
    h5py = pytest.importorskip("h5py")
    _, regions, where, folder, config = golden
    with np.load(folder / "region_features.npz") as values, h5py.File(tmp_path / "boxes.h5", "w") as boxes:
        (tmp_path / "npy").mkdir()
        for name in config["image_ids"]:
            boxes[name] = values[f"{name}.bbox"]
            np.save(tmp_path / "npy" / f"{name}.npy", values[f"{name}.feat"])
            np.save(tmp_path / "npy" / f"{name}_cls_prob.npy", values[f"{name}.cls"])
            for kind, key in (("feat", "feat"), ("cls", "cls")):
                with h5py.File(tmp_path / f"coco_{kind}{name[-3:]}.h5", "a") as shard:
                    shard[name] = values[f"{name}.{key}"]
    for path in (tmp_path / "npy", tmp_path / "coco"):
        files = RegionFiles(path=path, boxes=tmp_path / "boxes.h5")
        for i, name in enumerate(config["image_ids"]):
            image = files.read(Example("x", ("a",), f"val/{name}.jpg"))
            np.testing.assert_array_equal(image.features, regions[i].numpy())
            np.testing.assert_array_equal(image.geometry, where[i].numpy())
        with pytest.raises(InputError, match=r"no region features 'COCO_val2014_000000300000' for example 'y'"):
            files.read(Example("y", ("a",), "COCO_val2014_000000300000.jpg"))


def test_features_that_are_no_numbers_are_named(tmp_path):
    feat = np.zeros((3, 4), dtype=np.float32)
    feat[1, 2] = np.nan
    np.savez(tmp_path / "f.npz", **{"a.feat": feat, "a.cls": np.ones((3, 5)), "a.bbox": np.ones((3, 6))})
    with pytest.raises(InputError, match="region features of example 'a' hold NaN"):
        RegionFiles(path=tmp_path / "f.npz").read(Example("a", ("r",)))
    np.savez(tmp_path / "g.npz", **{"a.feat": feat, "a.cls": np.ones((2, 5)), "a.bbox": np.ones((3, 6))})
    with pytest.raises(InputError, match="do not go together"):
        RegionFiles(path=tmp_path / "g.npz").read(Example("a", ("r",)))


def test_geometry_is_scale_free():
    generator = np.random.default_rng(0)
    boxes = generator.uniform(10, 400, size=(7, 6)).astype(np.float32)
    classes = generator.uniform(size=(7, 11)).astype(np.float32)
    wide = boxes.copy()
    wide[:, :4] *= 3
    np.testing.assert_allclose(geometry(boxes, classes), geometry(wide, classes), atol=1e-4)


def test_another_architecture_and_old_names(golden, root, tmp_path):
    model, *_ = golden
    with pytest.raises(InputError, match="no VLP checkpoint; it looks like CLIPCap"):
        Vlp.from_checkpoint(root / "tests" / "golden" / "clipcap" / "mlp" / "state_dict.safetensors")
    old = {
        k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v
        for k, v in model.state_dict().items()
    }
    old["bert.embeddings.token_type_embeddings.weight"] = old["bert.embeddings.token_type_embeddings.weight"][:2]
    torch.save(old, tmp_path / "model.28.bin", _use_new_zipfile_serialization=False)
    config = {"num_attention_heads": 3, "special_ids": {"[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}}
    loaded = Vlp.from_checkpoint(tmp_path / "model.28.bin", config)
    table = loaded.bert.embeddings.token_type_embeddings.weight
    assert torch.equal(table[2], table[0])
    assert torch.equal(table[5], table[1])
    with pytest.raises(InputError, match="special ids beyond the 53 words"):
        Vlp.from_checkpoint(tmp_path / "model.28.bin", {"num_attention_heads": 3})
