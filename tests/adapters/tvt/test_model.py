"""TVT: caching, fusion, training that learns, resumes and repeats itself."""

from __future__ import annotations

import argparse
import json
import math

import numpy as np
import pytest
import torch

from harness.adapters.tvt import train_cli
from harness.adapters.tvt.adapter import TvtAdapter
from harness.adapters.tvt.views import SemSynAnViews, WordList
from harness.adapters.tvt.model import Tvt, TvtSizes, TvtStep
from harness.adapters.tvt.training import TvtRecipe, train
from harness.contracts import Adapter, Decoding, Example, Scorer, TaskView
from harness.errors import HarnessError, InputError

SMALL = {"width": 32, "heads": 4, "encoder_layers": 1, "decoder_layers": 1, "inner": 64, "dropout": 0.1}
COLOURS, SHAPES = ("red", "green", "blue", "pink"), ("ball", "block", "pill")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two views: one tells the colour, the other the shape."""
    folder = tmp_path_factory.mktemp("tvt")
    random = np.random.default_rng(0)
    look, move, captions = {}, {}, {}
    for i in range(60):
        c, s, frames = i % 4, (i // 4) % 3, 2 + i % 3
        look[f"v{i}"] = (np.eye(6)[c] + 0.1 * random.normal(size=(frames, 6))).astype(np.float32)
        move[f"v{i}"] = (np.eye(5)[s] + 0.1 * random.normal(size=(frames + 1, 5))).astype(np.float32)
        captions[f"v{i}"] = [f"a {COLOURS[c]} {SHAPES[s]}", f"the {SHAPES[s]} is {COLOURS[c]}"]
    np.savez(folder / "look.npz", **look)
    np.savez(folder / "move.npz", **move)
    (folder / "captions.json").write_text(json.dumps(captions))
    return folder, captions


def recipe(folder, **params):
    given = {
        "features": {"look": str(folder / "look.npz"), "move": str(folder / "move.npz")}, "model": SMALL, "epochs": 12,
        "captions": str(folder / "captions.json"), "learning_rate": 3e-3, "batch": 20,
    }  # fmt: skip
    return TvtRecipe(**{**given, **params})


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    folder, _ = data
    return train(recipe(folder), tmp_path_factory.mktemp("run")).parent


def test_it_learns_both_views(data, trained):
    _, captions = data
    examples = [Example(name, tuple(texts)) for name, texts in captions.items()]
    adapter = TvtAdapter(checkpoint=str(trained))
    assert isinstance(adapter, Adapter)
    assert isinstance(adapter, Scorer)
    made = [g.candidates[0] for g in adapter.generate(examples, Decoding("beam", beams=3), range(60))]
    assert np.mean([text in example.references for text, example in zip(made, examples)]) > 0.95
    scores = [float(s.log_probs.sum()) for per in adapter.score_references(examples) for s in per]
    assert np.mean(scores) > -math.log(4)


@pytest.mark.parametrize("fusion", ["add", "attentive"])
def test_one_word_at_a_time_equals_one_pass(fusion):
    torch.manual_seed(0)
    model = Tvt(TvtSizes(views={"a": 6, "b": 5}, vocabulary=11, fusion=fusion, **SMALL)).eval()
    views = {"a": torch.randn(3, 4, 6), "b": torch.randn(3, 2, 5)}
    masks = {"a": torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]]).bool(), "b": torch.ones(3, 2).bool()}
    tokens = torch.randint(4, 11, (3, 6))
    with torch.inference_mode():
        whole, state, step = model(tokens, views, masks), model.encode(views, masks), TvtStep(model)
        for t in range(6):
            logits, state = step(tokens[:, t], state)
            torch.testing.assert_close(logits, whole[:, t], atol=1e-5, rtol=0)
        views["a"][1, 2:] = 100.0  # frames beyond the mask change nothing
        torch.testing.assert_close(model(tokens, views, masks), whole, atol=1e-5, rtol=0)


def test_captions_do_not_depend_on_the_batch(data, trained):
    _, captions = data
    examples = [Example(name, tuple(texts)) for name, texts in list(captions.items())[:20]]
    decoding = Decoding("nucleus", temperature=1.5, top_p=0.95, candidates=3)
    whole = [g.candidates for g in TvtAdapter(checkpoint=str(trained)).generate(examples, decoding, range(20))]
    for size in (1, 7):
        parts = TvtAdapter(checkpoint=str(trained), batch_size=size).generate(examples, decoding, range(20))
        assert [g.candidates for g in parts] == whole


def test_a_resumed_run_equals_an_uninterrupted_one(data, tmp_path):
    folder, _ = data
    train(recipe(folder, epochs=3), tmp_path / "once")
    train(recipe(folder, epochs=1), tmp_path / "twice")
    train(recipe(folder, epochs=3), tmp_path / "twice", resume=True)
    one, two = (Tvt.from_checkpoint(tmp_path / name).state_dict() for name in ("once", "twice"))
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert len((tmp_path / "twice" / "curve.jsonl").read_text().splitlines()) == 3
    with pytest.raises(HarnessError, match="holds a run already"):
        train(recipe(folder), tmp_path / "once")
    with pytest.raises(HarnessError, match="another recipe"):
        train(recipe(folder, batch=7), tmp_path / "once", resume=True)


def test_the_command_trains_from_yaml(data, tmp_path, capsys):
    import yaml

    folder, _ = data
    files = {"look": str(folder / "look.npz")}
    spec = {"features": files, "captions": str(folder / "captions.json"), "epochs": 1, "model": SMALL}
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(spec))
    parser = argparse.ArgumentParser()
    train_cli.add_arguments(parser)
    assert train_cli.run(parser.parse_args([str(tmp_path / "r.yaml"), "--output", str(tmp_path / "out")])) == 0
    assert "epoch   1   loss" in capsys.readouterr().out
    assert TvtAdapter(checkpoint=str(tmp_path / "out")).model.sizes.views == {"look": 6}
    (tmp_path / "r.yaml").write_text(yaml.safe_dump({**spec, "epoch": 1}))
    with pytest.raises(InputError, match="unknown key 'epoch'; did you mean 'epochs'"):
        train_cli.run(parser.parse_args([str(tmp_path / "r.yaml"), "--output", str(tmp_path / "out2")]))


def test_the_published_feature_layout_is_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "f.h5", "w") as file:
        group = file.create_group("MSR-VTT")
        group["cnn_features"] = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
        group["c3d_features"] = np.ones((2, 4, 5), dtype=np.float32)
        group["count_features"] = np.array([4, 2])
    views = SemSynAnViews(tmp_path / "f.h5")
    assert views.widths == {"appearance": 3, "motion": 5}
    assert views.read(Example("video1", ("a",)))["appearance"].tolist() == [[12, 13, 14], [15, 16, 17]]
    with pytest.raises(InputError, match="no video number from 0 to 1"):
        views.read(Example("video7", ("a",)))


def test_mistakes_are_told(data, trained, tmp_path, shared):
    folder, _ = data
    with pytest.raises(HarnessError, match="fusion is one of add, attentive"):
        TvtSizes(views={"a": 1}, vocabulary=9, fusion="sum")
    with pytest.raises(HarnessError, match="either captions"):
        recipe(folder, scenes=3)
    with pytest.raises(InputError, match="the checkpoint takes the views"):
        TvtAdapter(checkpoint=str(trained), features={"look": str(folder / "look.npz")})
    with pytest.raises(InputError, match="it looks like NACF"):
        import shutil

        shutil.copy(shared / "golden" / "nacf" / "NACF.state_dict.safetensors", tmp_path)
        Tvt.from_checkpoint(tmp_path / "NACF.state_dict.safetensors")
    with pytest.raises(InputError, match="no features for 1 of 2 examples: v99"):
        TvtAdapter(checkpoint=str(trained)).prepare(
            TaskView([Example("v1", ("a",)), Example("v99", ("a",))], Decoding())
        )
    with pytest.raises(InputError, match="a word list begins with"):
        WordList(["a", "b"])


def test_scenes_are_read_as_in_training(tmp_path):
    """A folder trained on scenes is enough to describe one, named by its id or by the reader."""
    made = TvtRecipe(features={"scenes": {"frames": 2}}, scenes=3, captions_each=1, epochs=1, model=SMALL)
    adapter = TvtAdapter(checkpoint=str(train(made, tmp_path / "run").parent))
    examples = [Example("77", ("a ball",)), Example("one/shape/00000", ("a ball",), meta={"target_id": 77})]
    adapter.prepare(TaskView(examples, Decoding()))
    one, two = (g.candidates for g in adapter.generate(examples, Decoding("greedy"), [1, 2]))
    assert one == two
    with pytest.raises(InputError, match="example 'video7' is no scene"):
        adapter.prepare(TaskView([Example("video7", ("a",))], Decoding()))
    assert TvtRecipe(scenes=3).source == {"scenes": {}}
    with pytest.raises(HarnessError, match="unknown sizes layers"):
        TvtRecipe(scenes=3, model={"layers": 2})
