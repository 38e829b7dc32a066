"""Training of ARB, NAB and NACF on artificial videos,
and their adapter on the results.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import yaml

from harness.contracts import Decoding, TaskView
from harness.errors import HarnessError, InputError
from harness_models.nacf import training
from harness_models.nacf.adapter import NacfAdapter
from harness_models.nacf.model import Nacf
from harness_models.nacf.training import NacfRecipe, NacfTraining, train
from harness_models.shared.weights.checkpoints import load_checkpoint
from tests.support.toy_videos import SMALL, toy_recipe, toy_videos

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    return folder, toy_videos(folder)


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    folder, _ = data
    generated = {}
    for method in ("ARB", "NAB", "NACF"):
        generated[method] = tmp_path_factory.mktemp(method)
        train(NacfRecipe(method=method, **toy_recipe(folder)), generated[method])
    return generated


def right(adapter, examples, decoding):
    generated = [
        g.candidates for g in adapter.generate(examples, decoding, range(len(examples)))
    ]
    return np.mean(
        [
            text in example.references
            for texts, example in zip(generated, examples)
            for text in texts
        ]
    )


@pytest.mark.parametrize(
    "method, decoding",
    [
        ("ARB", Decoding("beam", beams=3)),
        ("NAB", Decoding("refine", options={"iterations": 3})),
        ("NACF", Decoding("refine", options={"templates": True, "iterations": 3})),
        ("NAB", Decoding("sample", temperature=0.3, candidates=3)),
    ],
)
def test_captions_depend_on_both_modalities(data, trained, method, decoding):
    adapter = NacfAdapter(checkpoint=str(trained[method]))
    assert right(adapter, data[1], decoding) > 0.9


def test_the_saved_model_has_the_published_layout(trained):
    for method, folder in trained.items():
        loaded = load_checkpoint(folder)
        assert Nacf.from_checkpoint(folder).sizes.method == method
        assert loaded.settings["words"][:6] == [
            "<pad>",
            "<unk>",
            "<bos>",
            "<eos>",
            "<mask>",
            "<vis>",
        ]
        assert loaded.shape("encoder.Encoder_M.0.weight", method) == (32, 6)
        assert loaded.settings["shortest"] == 3
    assert (
        "decoder.bert.layer.0.attention.self.query.weight"
        in load_checkpoint(trained["NACF"]).tensors
    )


def test_saved_weights_take_unstandardised_features(data, tmp_path):
    session = NacfTraining(
        NacfRecipe(method="NAB", **toy_recipe(data[0], epochs=1)), tmp_path, False
    )
    session.loop.run()
    session.finish()
    adapter = NacfAdapter(checkpoint=str(tmp_path))
    with torch.inference_mode():
        expected = session.model.encode([x[:9] for x in session.features]).memory
        memory = adapter.encode_videos(
            adapter.model, adapter.inputs(data[1][:9]), data[1][:9]
        ).memory
    torch.testing.assert_close(memory, expected, atol=1e-4, rtol=1e-4)


def test_likelihoods_are_learned(data, trained):
    exact = NacfAdapter(checkpoint=str(trained["ARB"])).score_references(data[1])
    assert np.mean([s.log_probs.sum() for scores in exact for s in scores]) > -math.log(
        4
    )
    pseudo = [
        s
        for scores in NacfAdapter(checkpoint=str(trained["NAB"])).score_references(
            data[1]
        )
        for s in scores
    ]
    assert {s.likelihood for s in pseudo} == {"pseudo"}
    # two lengths, each of one caption of two
    lengths = [s.log_probs[-1] for s in pseudo]
    assert np.mean(lengths) == pytest.approx(-math.log(2), abs=0.1)


def test_templates_hold_the_visual_words(data, tmp_path):
    session = NacfTraining(NacfRecipe(**toy_recipe(data[0], epochs=1)), tmp_path, False)
    visual = [
        word
        for word, is_so in zip(session.words.words, session.visual.tolist())
        if is_so
    ]
    assert sorted(visual) == sorted(
        ["red", "green", "blue", "pink", "ball", "block", "pill"]
    )
    listed = NacfTraining(
        NacfRecipe(visual=["ball", "here"], **toy_recipe(data[0], epochs=1)),
        tmp_path / "b",
        False,
    )
    assert [listed.words.words[i] for i in listed.visual.nonzero()[:, 0]] == [
        "here",
        "ball",
    ]


def test_a_trained_teacher_rescores(data, trained):
    taught = NacfAdapter(checkpoint=str(trained["NAB"]), teacher=str(trained["ARB"]))
    assert right(taught, data[1], Decoding("refine")) > 0.9
    other = json.loads((trained["ARB"] / "config.json").read_text())
    other["words"][6:8] = reversed(other["words"][6:8])
    folder = trained["ARB"].parent / "other"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(other))
    (folder / "model.safetensors").write_bytes(
        (trained["ARB"] / "model.safetensors").read_bytes()
    )
    with pytest.raises(HarnessError, match="different vocabularies"):
        NacfAdapter(checkpoint=str(trained["NAB"]), teacher=str(folder))


@pytest.mark.parametrize("method", ["ARB", "NAB", "NACF"])
def test_captions_end_where_the_model_has_no_more_slots(data, trained, method):
    adapter = NacfAdapter(checkpoint=str(trained[method]))
    for limit, longest in ((3, 3), (40, 6)):
        generated = adapter.generate(
            data[1][:9],
            Decoding("sample", 50.0, candidates=5, max_length=limit),
            range(9),
        )
        assert max(length for g in generated for length in g.lengths) <= longest


@pytest.mark.parametrize("method", ["ARB", "NACF"])
def test_a_resumed_run_equals_an_uninterrupted_one(data, tmp_path, method):
    recipe = NacfRecipe(method=method, **toy_recipe(data[0], epochs=3))
    train(recipe, tmp_path / "once")
    train(replace(recipe, epochs=1), tmp_path / "twice")
    train(recipe, tmp_path / "twice", resume=True)
    one, two = (load_checkpoint(tmp_path / name).tensors for name in ("once", "twice"))
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert len((tmp_path / "twice" / "curve.jsonl").read_text().splitlines()) == 3
    with pytest.raises(HarnessError, match="holds a run already"):
        train(recipe, tmp_path / "once")
    with pytest.raises(HarnessError, match="another recipe"):
        train(replace(recipe, batch=7), tmp_path / "once", resume=True)


def test_long_captions_are_cut_and_rare_words_unknown(data, tmp_path):
    recipe = toy_recipe(data[0], epochs=1, model={**SMALL, "max_len": 5})
    session = NacfTraining(
        NacfRecipe(method="NAB", least_count=45, **recipe), tmp_path, False
    )
    assert max(map(len, session.captions)) == 3
    assert {"red", "ball"}.isdisjoint(session.words.words)


def test_the_command_trains_from_yaml(data, tmp_path, capsys):
    spec = {"method": "ARB", **toy_recipe(data[0], epochs=1)}
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(spec))
    parser = argparse.ArgumentParser()
    training.add_arguments(parser)
    assert (
        training.run(
            parser.parse_args(
                [str(tmp_path / "r.yaml"), "--output", str(tmp_path / "out")]
            )
        )
        == 0
    )
    assert "epoch   1   loss" in capsys.readouterr().out
    (tmp_path / "r.yaml").write_text(yaml.safe_dump({**spec, "methods": "NAB"}))
    with pytest.raises(
        InputError, match="no parameter 'methods'; did you mean 'method'"
    ):
        training.run(
            parser.parse_args(
                [str(tmp_path / "r.yaml"), "--output", str(tmp_path / "out2")]
            )
        )


def test_invalid_input_is_refused(data, trained, tmp_path):
    folder, examples = data
    with pytest.raises(
        HarnessError, match="method is 'NABC'; expected ARB, NAB or NACF"
    ):
        NacfRecipe(method="NABC", **toy_recipe(folder))
    with pytest.raises(HarnessError, match="either captions"):
        NacfRecipe(scenes=3, **toy_recipe(folder))
    with pytest.raises(HarnessError, match="unknown sizes hidden"):
        NacfRecipe(**toy_recipe(folder, model={"hidden": 3}))
    with pytest.raises(HarnessError, match="heads must divide the width 32; found 5"):
        train(
            NacfRecipe(**toy_recipe(folder, model={**SMALL, "heads": 5})),
            tmp_path / "a",
        )
    with pytest.raises(
        HarnessError, match="a modality is one of m, i, o, a; found 'motion'"
    ):
        train(
            NacfRecipe(
                **toy_recipe(folder, features={"motion": str(folder / "m.npz")})
            ),
            tmp_path / "b",
        )
    with pytest.raises(
        HarnessError, match="no caption has the word 'bal'; did you mean 'ball'"
    ):
        train(NacfRecipe(visual=["bal"], **toy_recipe(folder)), tmp_path / "c")
    (tmp_path / "captions.json").write_text(
        json.dumps({"v0": ["a ball"], "v99": ["!"]})
    )
    with pytest.raises(
        InputError, match=r"a caption of example 'v99' has no words: '!'"
    ):
        train(
            NacfRecipe(**toy_recipe(folder, captions=str(tmp_path / "captions.json"))),
            tmp_path / "d",
        )
    (tmp_path / "captions.json").write_text(
        json.dumps({"v0": ["a ball"], "v99": ["a pill"]})
    )
    with pytest.raises(InputError, match="no features for 1 of 2 examples: v99"):
        train(
            NacfRecipe(**toy_recipe(folder, captions=str(tmp_path / "captions.json"))),
            tmp_path / "e",
        )
    adapter = NacfAdapter(checkpoint=str(trained["NAB"]))
    with pytest.raises(
        HarnessError,
        match="options.length_temperature must be a number above 0, found 0",
    ):
        adapter.prepare(
            TaskView(examples, Decoding("sample", options={"length_temperature": 0}))
        )
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "model.safetensors").write_bytes(
        (trained["NAB"] / "model.safetensors").read_bytes()
    )
    with pytest.raises(
        HarnessError, match="the checkpoint does not hold its words: give words"
    ):
        NacfAdapter(checkpoint=str(bare), config={"num_attention_heads": 4})
