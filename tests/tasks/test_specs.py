"""Every shipped spec makes a plan: its names, parameters and axes are right,
and its files are there.
"""

from pathlib import Path

import pytest

from harness.registry import current
from harness.registry.torchvision_guard import guard_torchvision
from harness.run.execute import execute as run
from harness.run.plan import make_plan
from harness.spec.loading import load_specs

TASKS = Path(__file__).resolve().parents[2] / "tasks" / "harness_tasks"
SPECS = sorted(
    path.relative_to(TASKS).as_posix()
    for path in TASKS.rglob("*.yaml")
    if path.parent.name not in ("parts", "recipes", "published")
    and path.name != "registry.yaml"
)
"""Parts, recipes and published values are no specs by themselves;
those that name them are here.
"""
OF_MODELS = [name for name in SPECS if not name.startswith("judgments/")]
"""Specs of models; tests/tasks/judgments tests those of human judgments."""


@pytest.mark.parametrize("name", OF_MODELS)
def test_the_spec_makes_a_plan(name, golden, monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_DATA", str(golden / "data"))
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    loaded = load_specs(TASKS / name)
    assert loaded
    for one in loaded:
        assert make_plan(one).decodings


@pytest.mark.parametrize("target", ["de", "fr"])
def test_translation_goes_into_both_languages(target, golden, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(golden / "data"))
    monkeypatch.setenv("TARGET", target)
    (loaded,) = load_specs(TASKS / "translation.yaml")
    assert loaded.spec.task == f"translation-{target}"
    first = next(iter(make_plan(loaded).reader))
    assert len(first.references) == 10 and first.source


def test_every_spec_is_in_the_catalogue():
    files = {entry.file.resolve() for entry in current().entries("tasks")}
    missing = [name for name in SPECS if (TASKS / name).resolve() not in files]
    assert missing == []


def test_a_model_of_transformers_is_one_line(golden, monkeypatch, tmp_path):
    """The line in the task's head, with a T5 that has never learnt anything."""
    torch = pytest.importorskip("torch")
    guard_torchvision()
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["<pad>", "</s>", "<unk>", "well", "yes", "no", "maybe"]
    base = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>")
    )
    base.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=base, **names
    ).save_pretrained(tmp_path)
    torch.manual_seed(0)
    ids = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    config = transformers.T5Config(
        vocab_size=len(words),
        d_model=16,
        d_kv=8,
        d_ff=16,
        num_layers=1,
        num_heads=2,
        **ids,
    )
    transformers.T5ForConditionalGeneration(config).save_pretrained(tmp_path)
    monkeypatch.setenv("HARNESS_DATA", str(golden / "data"))
    model = {
        "transformers": {
            "model": str(tmp_path),
            "prompt": "{source}",
            "max_length": 5,
            "label": "mine",
        }
    }
    overrides = [
        "decoding.strategy=sample",
        "decoding.options={min_length: 2}",
        "metrics=[bleu1]",
        "views=[]",
    ]
    (loaded,) = load_specs(TASKS / "dialogue.yaml", overrides, limit=3, models=[model])
    (record,) = run(make_plan(loaded)).results
    assert (record["model"], record["n"]) == ("mine", 3)
