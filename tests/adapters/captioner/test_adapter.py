"""The captioner: four architectures, forced passes against single steps, training that can be taken up again, stages."""

import argparse
import json
import math

import numpy as np
import pytest
import torch

from harness.adapters.captioner import train_cli
from harness.adapters.captioner.adapter import TrainedCaptioner
from harness.adapters.captioner.image_features import image_features
from harness.adapters.captioner.model import ARCHITECTURES, END, Captioner, load
from harness.adapters.captioner.training_data import Recipe, material
from harness.adapters.captioner.training import stage_folder, train
from harness.contracts import Decoding, Example, Scorer, TaskView
from harness.errors import HarnessError, InputError
from harness.tasks.a3ds.scene import captions

SMALL = {"images": 40, "captions": 2, "kind": "short", "epochs": 4, "width": 12, "batch": 16, "save_at": [3, 8]}
SCENES = (5, 123_456, 479_999)
EXAMPLES = [Example(str(s), tuple(captions(s, "short")[:4]), meta={"target_id": s}) for s in SCENES]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def fresh(architecture, features=57, width=12, words=("a", "block", "pill", "red")):
    torch.manual_seed(1)
    return Captioner(words, architecture, features, width)


# --------------------------------------------------------------------------- the model
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_forced_pass_equals_single_steps(architecture):
    model = fresh(architecture)
    features = torch.from_numpy(image_features().features(SCENES))
    tokens = torch.tensor([[2, 3, 0], [4, 5, 1], [1, 2, 3]])
    forced = model(features, tokens)
    assert forced.shape == (3, 3, 6)
    state, last = model.first_state(features), torch.full((3,), model.start)
    for t in range(3):
        logits, state = model.step(last, state)
        assert torch.allclose(logits, forced[:, t], atol=1e-6)
        last = tokens[:, t]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_image_reaches_every_word(architecture):
    model = fresh(architecture)
    features = torch.from_numpy(image_features().features(SCENES[:1])).requires_grad_()
    logits = model(features, torch.tensor([[2, 3, 4]]))
    for t in range(3):
        (gradient,) = torch.autograd.grad(logits[0, t].square().sum(), features, retain_graph=True)
        assert gradient.abs().sum() > 0


def test_the_architectures_differ_in_where_the_image_enters():
    image = torch.from_numpy(image_features().features(SCENES))
    states = {name: fresh(name).first_state(image) for name in ARCHITECTURES}
    assert torch.equal(states["init"]["h"], states["init"]["image"])
    assert states["init"]["c"].abs().sum() == 0
    assert states["pre"]["c"].abs().sum() > 0
    for name in ("par", "merge"):
        assert states[name]["h"].abs().sum() == 0
    sizes = {name: sum(p.numel() for p in fresh(name).parameters()) for name in ARCHITECTURES}
    assert sizes["init"] == sizes["pre"]
    assert sizes["par"] == sizes["init"] + 4 * 12 * 12  # the LSTM's input is twice as wide
    assert sizes["merge"] == sizes["init"] + 12 * 6  # the softmax's input is


def test_merge_keeps_the_image_out_of_the_lstm():
    model = fresh("merge")
    features = torch.from_numpy(image_features().features(SCENES))
    _, after = model.step(torch.full((3,), model.start), model.first_state(features))
    assert torch.equal(after["h"][0], after["h"][1])


# --------------------------------------------------------------------------- image features and material
def test_factor_features():
    one_hot = image_features("factors").features(SCENES)
    assert one_hot.shape == (3, 57) and (one_hot.sum(1) == 6).all()
    assert len({row.tobytes() for row in one_hot}) == 3
    assert image_features("values").features([0, 479_999]).tolist() == [[0.0] * 6, [1.0] * 6]
    with pytest.raises(HarnessError, match="unknown image features 'efficientnet'"):
        image_features("efficientnet")


def test_material_holds_scenes_out_and_counts_words():
    recipe = Recipe(**{**SMALL, "held_out": 0.25})
    data = material(recipe)
    assert len(data.held) == 20 and len(data.captions) == 60
    assert {row for row, _ in data.held} == set(range(10))
    assert all(ids[-1] == END and END not in ids[:-1] for _, ids in data.captions)
    rare = material(Recipe(**{**SMALL, "min_count": 10}))
    assert 0 < len(rare.words) < len(data.words)
    assert any(1 in ids for _, ids in rare.captions)


def test_stages_of_a_recipe():
    base = {"images": 40, "captions": 2, "batch": 16, "held_out": 0.0, "epochs": 4}  # 5 steps an epoch
    assert Recipe(**base).stages == (5, 10, 15, 20)
    assert Recipe(**base, save_every=8).stages == (8, 16, 20)
    assert Recipe(**base, save_at=(1, 4, 99)).stages == (1, 4, 20)


# --------------------------------------------------------------------------- training
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_training_learns_and_repeats_itself(architecture, tmp_path):
    recipe = Recipe(**{**SMALL, "architecture": architecture, "learning_rate": 0.02, "held_out": 0.1})
    for name in ("a", "b"):
        train(recipe, tmp_path / name)
    rows = [json.loads(line) for line in (tmp_path / "a" / "curve.jsonl").read_text().splitlines()]
    stages = [row for row in rows if "stage" in row]
    assert [row["step"] for row in stages] == list(recipe.stages)
    assert stages[-1]["perplexity"] < 0.5 * stages[0]["perplexity"]
    for stage in range(1, len(recipe.stages) + 1):
        one, two = (stage_folder(tmp_path / name, stage) / "model.safetensors" for name in ("a", "b"))
        assert one.read_bytes() == two.read_bytes()


def test_an_interrupted_training_ends_with_the_same_weights_and_curve(tmp_path):
    recipe = Recipe(**SMALL)
    last = train(recipe, tmp_path / "whole")

    def interrupt(row):
        if row.get("stage") == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(recipe, tmp_path / "cut", report=interrupt)
    with pytest.raises(HarnessError, match="say --resume"):
        train(recipe, tmp_path / "cut")
    again = train(recipe, tmp_path / "cut", resume=True)
    assert again.name == last.name
    for name in ("model.safetensors", "config.json"):
        assert (again / name).read_bytes() == (last / name).read_bytes()
    assert (tmp_path / "cut" / "curve.jsonl").read_text() == (tmp_path / "whole" / "curve.jsonl").read_text()
    with pytest.raises(InputError, match="has width = 12, not 13"):
        train(Recipe(**{**SMALL, "width": 13}), tmp_path / "cut", resume=True)


def test_more_epochs_go_on_from_the_last_stage(tmp_path):
    recipe = {key: value for key, value in SMALL.items() if key != "save_at"}
    train(Recipe(**{**recipe, "epochs": 2}), tmp_path / "a")
    on = train(Recipe(**recipe), tmp_path / "a", resume=True)
    whole = train(Recipe(**recipe), tmp_path / "b")
    assert (on / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


# --------------------------------------------------------------------------- the adapter
def test_trained_on_first_use_one_training_for_all_stages():
    first, second = (TrainedCaptioner(train=SMALL, stage=stage) for stage in (1, 2))
    assert isinstance(first, Scorer)
    assert first.fingerprint() != second.fingerprint()
    a, b = (next(iter(adapter.score_references(EXAMPLES))) for adapter in (first, second))
    assert sum(s.log_probs.sum() for s in b) > sum(s.log_probs.sum() for s in a)  # two steps against eight
    assert TrainedCaptioner(train=SMALL).stage == 3


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_scores_of_a_caption_are_those_that_decoding_gave_it(architecture):
    adapter = TrainedCaptioner(train={**SMALL, "architecture": architecture, "epochs": 8})
    decoding = Decoding("sample", temperature=0.7, candidates=3, max_length=12)
    for example, made in zip(EXAMPLES, adapter.generate(EXAMPLES, decoding, [1, 2, 3])):
        again = Example(example.id, made.candidates, meta=example.meta)
        (scores,) = adapter.score_references([again])
        for number, score in enumerate(scores):
            if made.stop_reasons[number] == "stop":
                assert score.log_probs.sum() == pytest.approx(made.log_probs[number], abs=1e-5)
                assert len(score.log_probs) == made.lengths[number] and score.tokens[-1] == "END"
    (greedy,) = adapter.generate(EXAMPLES[:1], Decoding("greedy"), [0])
    if greedy.stop_reasons[0] == "stop":
        again = Example("x", greedy.candidates, meta=EXAMPLES[0].meta)
        assert (next(iter(adapter.score_references([again])))[0].ranks == 0).all()


def test_scores_do_not_depend_on_the_batch():
    whole = list(TrainedCaptioner(train=SMALL).score_references(EXAMPLES))
    single = list(TrainedCaptioner(train=SMALL, batch_size=1).score_references(EXAMPLES))
    for a, b in zip(whole, single):
        for x, y in zip(a, b):
            assert np.allclose(x.log_probs, y.log_probs, atol=1e-6) and np.array_equal(x.ranks, y.ranks)


def test_unknown_words_are_scored_as_unk():
    adapter = TrainedCaptioner(train=SMALL)
    (scores,) = adapter.score_references([Example("x", ("a purple zeppelin",), meta={"target_id": 0})])
    assert scores[0].tokens[-2:] == ("UNK", "END") and math.isfinite(scores[0].log_probs.sum())


def test_checkpoints_by_run_and_by_stage(tmp_path):
    train(Recipe(**SMALL), tmp_path / "run")
    last = TrainedCaptioner(checkpoint=str(tmp_path / "run"))
    assert last.stage == 3
    own = TrainedCaptioner(checkpoint=str(tmp_path / "run" / "stage-003"))
    assert own.fingerprint() == last.fingerprint()
    assert TrainedCaptioner(checkpoint=str(tmp_path / "run"), stage=1).fingerprint() != last.fingerprint()
    (tmp_path / "run" / "stage-003" / "config.json").write_text("{}")
    with pytest.raises(InputError, match="hold no list of words"):
        load(tmp_path / "run" / "stage-003")


def test_command_line_and_spec(tmp_path, capsys):
    parser = argparse.ArgumentParser()
    train_cli.add_arguments(parser)
    spec = tmp_path / "small.yaml"
    spec.write_text(json.dumps({**SMALL, "output": str(tmp_path / "from-spec")}))
    assert train_cli.run(parser.parse_args([str(spec), "--architecture", "par"])) == 0
    assert "held-out perplexity" in capsys.readouterr().out
    model, settings = load(tmp_path / "from-spec" / "stage-003")
    assert model.architecture == "par" and settings["images"] == 40
    spec.write_text("imags: 40\n")
    with pytest.raises(HarnessError, match="did you mean 'images'"):
        train_cli.run(parser.parse_args([str(spec), "--output", str(tmp_path / "x")]))
    with pytest.raises(HarnessError, match="needs --output"):
        train_cli.run(parser.parse_args(["--images", "40"]))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "either checkpoint"),
        ({"checkpoint": "nowhere"}, "no such folder"),
        ({"train": {"architecture": "merg"}}, "did you mean 'merge'"),
        ({"train": {"epoch": 3}}, "did you mean 'epochs'"),
        ({"train": {"epochs": 0}}, "epochs is 0"),
        ({"train": {"save_at": [5, 3]}}, "rising numbers"),
        ({"train": {"save_at": [5], "save_every": 3}}, "not both"),
        ({"train": SMALL, "stage": 4}, "stage 4 of a training that has 3"),
        ({"train": SMALL, "stage": 0}, "counted from 1"),
    ],
)
def test_mistakes(params, message):
    with pytest.raises(HarnessError, match=message):
        TrainedCaptioner(**params)


def test_an_example_without_a_scene_is_told():
    adapter = TrainedCaptioner(train=SMALL)
    with pytest.raises(InputError, match="use the reader 'a3ds'"):
        adapter.prepare(TaskView([Example("x", ("a",))], Decoding()))
