"""Cache keys of trained models."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness_models.shared.training.model_key import model_key
from harness_models.shared.training.recipe import Trainer
from harness_tasks.a3ds import render


@dataclass(frozen=True, kw_only=True)
class ToyRecipe:
    captions: str = ""
    epochs: int = 2
    model: dict[str, Any] = field(default_factory=dict)


def toy_train(recipe: ToyRecipe, folder: Path, **options: object) -> Path:
    return folder


def key(name: str = "toy", version: int = 1, **values: Any) -> str:
    return model_key(name, Trainer(ToyRecipe, toy_train, version), ToyRecipe(**values))


def test_a_key_has_24_hexadecimal_digits():
    assert len(key()) == 24
    int(key(), 16)


def test_the_name_the_version_and_the_recipe_are_part_of_the_key():
    keys = [key(), key("other"), key(version=2), key(epochs=3), key(model={"width": 4})]
    assert len(set(keys)) == len(keys)
    assert key(epochs=2) == key()


@pytest.mark.parametrize("nested", [False, True])
def test_the_contents_of_files_are_part_of_the_key(tmp_path: Path, nested: bool):
    path = tmp_path / "captions.json"
    values: dict[str, Any] = (
        {"model": {"sources": [{"file": str(path)}]}}
        if nested
        else {"captions": str(path)}
    )
    path.write_text("{}")
    first = key(**values)
    path.write_text("{ }")
    assert key(**values) != first
    path.write_text("{}")
    assert key(**values) == first


def test_the_version_of_the_renderer_is_part_of_the_key(
    monkeypatch: pytest.MonkeyPatch,
):
    first = key()
    monkeypatch.setattr(render, "VERSION", "another")
    assert key() != first


def test_source_code_is_not_part_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    source = '''"""Training."""
from dataclasses import dataclass
FORMAT_VERSION = 1
@dataclass(frozen=True)
class Recipe:
    epochs: int = 1
def train(recipe, folder, *, resume=False, report=None):
    """Train."""
    return folder
'''
    module_path = tmp_path / "acme_training.py"
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def key_of(text: str) -> str:
        module_path.write_text(text)
        importlib.invalidate_caches()
        sys.modules.pop("acme_training", None)
        module = importlib.import_module("acme_training")
        trainer = Trainer(module.Recipe, module.train, module.FORMAT_VERSION)
        return model_key("acme", trainer, module.Recipe())

    first = key_of(source)
    assert key_of(source.replace("Train.", "Train the model.")) == first
    assert (
        key_of(
            source.replace(
                "return folder", "folder.mkdir()  # create it\n    return folder"
            )
        )
        == first
    )

    assert key_of(source.replace("FORMAT_VERSION = 1", "FORMAT_VERSION = 2")) != first
    monkeypatch.delitem(sys.modules, "acme_training")
