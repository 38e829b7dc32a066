"""Models whose weights are local files: they are loaded offline, and pickled without
their weights.
"""

from __future__ import annotations

import pickle
import sys
import types

import pytest

from harness.errors import MissingExtra
from harness_metrics.embeddings.local_model import (
    LoadsModel,
    LocalModelEmbedding,
    load_transformer,
)


class Holder(LoadsModel):
    def __init__(self):
        self.path = "folder"
        self._loaded_model = lambda: "cannot be pickled"


def test_a_loaded_model_is_not_pickled():
    holder = Holder()
    copy = pickle.loads(pickle.dumps(holder))
    assert vars(copy) == {"path": "folder"}
    assert callable(holder._loaded_model)


def test_fixed_weights_are_not_fitted():
    embedding = LocalModelEmbedding()
    embedding.fit([["a dog"], ["a cat"]])
    assert vars(embedding) == {}


class Loader:
    """A class of transformers that records how it is loaded."""

    def __init__(self):
        self.calls = []

    def from_pretrained(self, path, **options):
        self.calls.append((path, options))
        return self

    def eval(self):
        return ("in evaluation mode", self)


@pytest.fixture
def transformers(monkeypatch):
    """A module ``transformers`` without models."""
    module = types.ModuleType("transformers")
    module.AutoTokenizer = Loader()
    module.AutoModel = Loader()
    monkeypatch.setitem(sys.modules, "transformers", module)
    return module


def test_nothing_is_downloaded_and_the_model_does_not_train(transformers, tmp_path):
    tokenizer, model = load_transformer(
        tmp_path, "AutoModel", "judge", "the metric", dtype="auto"
    )
    assert tokenizer is transformers.AutoTokenizer
    assert model == ("in evaluation mode", transformers.AutoModel)
    offline = {"local_files_only": True}
    assert tokenizer.calls == [(str(tmp_path), offline)]
    assert transformers.AutoModel.calls == [
        (str(tmp_path), {**offline, "dtype": "auto"})
    ]


def test_a_missing_library_says_who_needs_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match="the metric needs .*transformers"):
        load_transformer(tmp_path, "AutoModel", "judge", "the metric")


@pytest.mark.slow
def test_a_folder_of_transformers_is_loaded(tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.support import tiny_models

    tiny_models.gpt2(tmp_path / "gpt2")
    tokenizer, model = load_transformer(
        tmp_path / "gpt2", "AutoModelForCausalLM", "judge", "m", dtype=torch.float64
    )
    assert not model.training and model.dtype == torch.float64
    assert tokenizer("a dog")["input_ids"]
