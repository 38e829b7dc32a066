"""The ``trained`` adapter: training on first use, failures, and several processes."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from typing import Any

import numpy as np
import pytest
import torch
import yaml

import harness
from harness.contracts import Adapter, Decoding, Example, Prepares, Scorer
from harness.errors import HarnessError, InputError
from harness.files.user_path import cache_folder
from harness.registry import current
from harness_models.shared.training.model_cache import get_or_train
from harness_models.shared.training.model_key import model_key
from harness_models.shared.training.recipe import load_trainer
from harness_models.trained.adapter import Trained
from harness_models.tvt.adapter import TvtAdapter
from harness_models.tvt.training import train

SMALL = {
    "width": 16,
    "heads": 2,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "inner": 16,
    "dropout": 0.1,
}
SAMPLE = Decoding("sample", candidates=3)


def test_a_decoding_that_a_model_cannot_do_is_refused_before_any_training(tmp_path):
    spec = {
        "task": "t",
        "dataset": {"reader": "a3ds", "sets": "three", "pairs": 1},
        "models": [
            {"trained": {"label": "first", "model": "tvt", "recipe": {"scenes": 4}}},
            {"trained": {"label": "slots", "model": "o2na", "recipe": {"scenes": 4}}},
        ],
        "decoding": {"strategy": "greedy"},
        "metrics": ["bleu1"],
    }
    with pytest.raises(
        InputError,
        match="the model 'slots' cannot run: O2NA decodes by refine, sample, nucleus; "
        "found 'greedy'",
    ):
        harness.evaluate(spec)
    assert not list((tmp_path / "cache").rglob("trained-*"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "trained-tvt"


@pytest.fixture
def recipe(tmp_path):
    """Return a recipe for twelve videos with one view and captions of two words."""
    random = np.random.default_rng(0)
    views: Any = {
        f"v{i}": random.normal(size=(2, 4)).astype(np.float32) for i in range(12)
    }
    np.savez(tmp_path / "look.npz", **views)
    (tmp_path / "captions.json").write_text(
        json.dumps({f"v{i}": [f"a thing{i % 3}"] for i in range(12)})
    )
    return {
        "features": {"look": str(tmp_path / "look.npz")},
        "captions": str(tmp_path / "captions.json"),
        "model": SMALL,
        "epochs": 2,
        "batch": 6,
    }


def examples():
    return [Example(f"v{i}", (f"a thing{i % 3}",)) for i in range(12)]


def test_the_model_is_trained_once_and_equals_its_adapter(recipe, cache, tmp_path):
    model = Trained(model="tvt", recipe=recipe, params={"batch_size": 5})
    assert not cache.exists()  # the constructor does not train

    assert (
        isinstance(model, Adapter)
        and isinstance(model, Scorer)
        and isinstance(model, Prepares)
    )
    (folder,) = [model.folder]

    assert sorted(path.name for path in cache.iterdir()) == [folder.name]
    assert {path.name for path in folder.iterdir()} == {
        "checksums.crc32",
        "model.safetensors",
        "config.json",
        "curve.jsonl",
    }

    adapter = TvtAdapter(
        checkpoint=str(
            train(load_trainer("tvt").recipe(**recipe), tmp_path / "own").parent
        ),
        batch_size=5,
    )
    assert model.fingerprint() == adapter.fingerprint()

    ours, theirs = (
        list(m.generate(examples(), SAMPLE, range(12))) for m in (model, adapter)
    )
    assert ours == theirs
    ours, theirs = (
        next(iter(m.score_references(examples())))[0].log_probs
        for m in (model, adapter)
    )
    assert np.array_equal(ours, theirs)

    modified = folder.stat().st_mtime_ns
    again = Trained(model="tvt", recipe=dict(reversed(recipe.items())))
    assert again.folder == folder and folder.stat().st_mtime_ns == modified


def test_training_under_inference_mode_does_not_change_the_random_state(recipe):
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    with torch.inference_mode():
        assert Trained(model="tvt", recipe=recipe).folder.is_dir()
    assert torch.equal(torch.rand(1), expected)


def test_a_recipe_is_looked_up_beside_its_spec(recipe, tmp_path, monkeypatch):
    (tmp_path / "specs" / "recipes").mkdir(parents=True)
    (tmp_path / "specs" / "recipes" / "r.yaml").write_text(yaml.safe_dump(recipe))
    data = [{"id": e.id, "references": list(e.references)} for e in examples()]
    (tmp_path / "specs" / "data.json").write_text(json.dumps(data))
    spec = {
        "task": "here",
        "dataset": {"reader": "jsonl", "path": "data.json"},
        "metrics": ["bleu1"],
        "models": [
            {"trained": {"label": "mine", "model": "tvt", "recipe": "recipes/r.yaml"}}
        ],
    }
    (tmp_path / "specs" / "s.yaml").write_text(yaml.safe_dump(spec))
    monkeypatch.chdir(tmp_path)
    (record,) = harness.evaluate("specs/s.yaml").results
    assert (record["model"], record["n"]) == ("mine", 12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recipe": "none.yaml"}, r"none\.yaml: no such YAML file"),
        (
            {"recipe": {"epoch": 1}},
            r"recipe of tvt: .* no parameter 'epoch'; did you mean 'epochs'",
        ),
        (
            {"recipe": {"scenes": 5, "learning_rate": "1e-3"}},
            r"recipe of tvt: .* learning_rate is '1e-3'; expected a number",
        ),
        ({"recipe": ["scenes"]}, r"expected a mapping; found list"),
        ({"model": "tvtt"}, r"unknown adapter 'tvtt'; did you mean 'tvt'"),
        ({"model": "human"}, r"adapter 'human' has no parameter 'checkpoint'"),
        ({"trainer": "a3ds"}, r"'a3ds' is not trained by a recipe"),
        (
            {"params": {"batchsize": 1}},
            r"cannot hold 'batchsize' for 'tvt'; did you mean 'batch_size'",
        ),
        (
            {"params": {"checkpoint": "x"}},
            r"cannot hold 'checkpoint' for 'tvt'; it is what is trained",
        ),
    ],
)
def test_invalid_parameters_are_refused_before_the_training(changes, message, cache):
    with pytest.raises(HarnessError, match=message) as caught:
        current().create(
            "adapters", "trained", {"model": "tvt", "recipe": {"scenes": 5}, **changes}
        )
    assert "\n" not in str(caught.value)
    assert not cache.exists()


def test_a_failed_training_leaves_no_model(recipe, cache):
    model = Trained(
        model="tvt", recipe={**recipe, "captions": recipe["features"]["look"]}
    )
    with pytest.raises(InputError, match="not valid JSON|can't decode"):
        _ = model.folder
    assert [path.name for path in cache.iterdir() if path.suffix != ".lock"] == []


def _use(recipe, queue):
    model = Trained(model="tvt", recipe=recipe)
    queue.put((str(model.folder), model.fingerprint()))


@pytest.mark.slow
def test_one_of_two_processes_trains(recipe, cache):
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue()
    both = [
        spawn.Process(target=_use, args=({**recipe, "epochs": 20}, queue))
        for _ in range(2)
    ]
    for process in both:
        process.start()
    results = [queue.get(timeout=120) for _ in both]
    for process in both:
        process.join(60)
    assert results[0] == results[1]
    assert [path.name for path in cache.iterdir()] == [os.path.basename(results[0][0])]
    assert (
        len(
            (cache / os.path.basename(results[0][0]) / "curve.jsonl")
            .read_text()
            .splitlines()
        )
        == 20
    )


@pytest.mark.slow
def test_a_killed_training_is_resumed(recipe, cache, tmp_path):
    recipe = {**recipe, "epochs": 4000}
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue()
    process = spawn.Process(target=_use, args=(recipe, queue))
    process.start()
    assert process.pid is not None

    deadline = time.monotonic() + 120
    while not list(cache.glob("*.partial/state.pt")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.join(60)

    (partial,) = cache.glob("*.partial")
    assert [
        path.name
        for path in cache.iterdir()
        if path.suffix not in (".partial", ".lock")
    ] == []

    epochs = int(torch.load(partial / "state.pt", weights_only=True)["epoch"])
    assert 0 < epochs < 4000
    epochs_run: list[int] = []

    def resume(folder, advance):
        assert folder == partial
        # the number of epochs may differ
        short = load_trainer("tvt").recipe(**{**recipe, "epochs": epochs + 2})
        train(
            short,
            folder,
            resume=True,
            report=lambda row: epochs_run.append(row["epoch"]),
        )

    get_or_train(
        "trained-tvt",
        partial.name.removesuffix(".partial"),
        "tvt",
        1,
        resume,
        resumable=True,
    )
    assert epochs_run == [epochs + 1, epochs + 2]
    assert cache_folder("trained-tvt") == cache


def test_a_training_killed_before_its_first_epoch_starts_again(recipe, cache):
    model = Trained(model="tvt", recipe=recipe)
    key = model_key("tvt", load_trainer("tvt"), model.recipe)
    (cache / f"{key}.partial").mkdir(parents=True)
    (cache / f"{key}.partial" / "vocab.json").write_text('{"cut sh')
    assert sorted(path.name for path in model.folder.iterdir()) == [
        "checksums.crc32",
        "config.json",
        "curve.jsonl",
        "model.safetensors",
    ]
