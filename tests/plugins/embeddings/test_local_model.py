"""Models in local folders: loading and pickling."""

from __future__ import annotations

import pickle
import sys
from functools import cached_property

import pytest

from harness.errors import MissingExtra
from harness.registry.torchvision_guard import guard_torchvision
from harness_metrics.embeddings.local_model import (
    LoadsModel,
    LocalModelEmbedding,
    load_transformer,
)


class Loading(LoadsModel):
    """Counts how often it loads."""

    loads = 0

    def __init__(self):
        self.path = "a"

    @cached_property
    def _loaded_model(self):
        type(self).loads += 1
        return lambda: None  # cannot be pickled, as a model on an accelerator


def test_a_pickled_object_loads_its_model_itself():
    first = Loading()
    assert first._loaded_model is first._loaded_model and Loading.loads == 1
    second = pickle.loads(pickle.dumps(first))
    assert vars(second) == {"path": "a"}
    assert callable(second._loaded_model) and Loading.loads == 2


def test_fixed_weights_learn_nothing_from_references():
    embedding = LocalModelEmbedding()
    embedding.fit([["a"]])
    assert vars(embedding) == {}


def test_tokenizer_and_model_of_a_folder_are_ready_to_use(tmp_path):
    pytest.importorskip("torch")
    guard_torchvision()
    pytest.importorskip("transformers")
    from tests.support import tiny_towers

    folder = tiny_towers.write(tmp_path / "clip")
    tokenizer, model = load_transformer(folder, "AutoModel", "model", "the test")
    assert tokenizer("a dog")["input_ids"] == [8, 2, 3, 9]
    assert not model.training


def test_a_missing_library_says_who_needs_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match="the metric needs .*transformers"):
        load_transformer(tmp_path, "AutoModel", "judge", "the metric")


@pytest.mark.slow
def test_a_folder_is_loaded_in_another_precision(tmp_path):
    torch = pytest.importorskip("torch")
    guard_torchvision()
    pytest.importorskip("transformers")
    from tests.support import tiny_models

    tiny_models.gpt2(tmp_path / "gpt2")
    tokenizer, model = load_transformer(
        tmp_path / "gpt2", "AutoModelForCausalLM", "judge", "m", dtype=torch.float64
    )
    assert not model.training and model.dtype == torch.float64
    assert tokenizer("a dog")["input_ids"]
