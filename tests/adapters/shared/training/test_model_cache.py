"""The cache of trained models: complete folders, failures, interrupted trainings."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.files.checksums import find_damage
from harness_models.shared.training.model_cache import cache_folder, get_or_train
from harness_models.shared.training.model_key import model_key
from harness_models.shared.training.recipe import Trainer
from harness_tasks.a3ds import render


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    return tmp_path / "toy"


def test_the_environment_sets_the_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    assert cache_folder("toy") == tmp_path / "toy"
    monkeypatch.delenv("HARNESS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder("toy") == Path("/xdg/harness/toy")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder("toy") == Path.home() / ".cache" / "harness" / "toy"


def test_a_model_is_trained_once(cache: Path):
    folders: list[Path] = []

    def train(folder: Path, advance: Callable[[int], object]) -> None:
        folders.append(folder)
        assert not (cache / "key").exists()
        (folder / "model").write_text("weights")
        advance(1)

    first = get_or_train("toy", "key", "a toy", 1, train)
    assert first == get_or_train("toy", "key", "a toy", 1, train) == cache / "key"
    assert folders == [cache / "key.partial"]
    assert [path.name for path in cache.iterdir()] == ["key"]
    assert (first / "model").read_text() == "weights"


@pytest.mark.parametrize("damage", ["zeros", "flipped", "missing"])
def test_a_damaged_model_is_trained_again_with_one_note(
    cache: Path, caplog: pytest.LogCaptureFixture, damage: str
):
    trainings: list[Path] = []

    def train(folder: Path, advance: Callable[[int], object]) -> None:
        trainings.append(folder)
        (folder / "stage").mkdir()
        (folder / "stage" / "weights").write_bytes(bytes(range(200)))

    weights = get_or_train("toy", "key", "a toy", 1, train) / "stage" / "weights"
    whole = weights.read_bytes()
    caplog.clear()
    if damage == "missing":
        weights.unlink()
    else:
        weights.write_bytes(
            {"zeros": whole[:100] + bytes(100), "flipped": whole[:-1] + b"x"}[damage]
        )
    assert get_or_train("toy", "key", "a toy", 1, train) == cache / "key"
    assert weights.read_bytes() == whole
    assert len(trainings) == 2
    notes = [
        text
        for record in caplog.records
        if (text := record.getMessage()).startswith("note")
    ]
    assert notes == [f"note: {weights} is damaged; training a toy again"]
    get_or_train("toy", "key", "a toy", 1, train)
    assert len(trainings) == 2


def test_a_damaged_model_in_a_folder_that_cannot_be_written_is_an_error(
    cache: Path, monkeypatch: pytest.MonkeyPatch
):
    def train(folder: Path, advance: Callable[[int], object]) -> None:
        (folder / "weights").write_text("weights")

    folder = get_or_train("toy", "key", "a toy", 1, train)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert get_or_train("toy", "key", "a toy", 1, train) == folder
    (folder / "weights").write_text("weightz")
    with pytest.raises(
        HarnessError,
        match="weights: is damaged, in a folder that cannot be written: "
        "set HARNESS_CACHE",
    ):
        get_or_train("toy", "key", "a toy", 1, train)
    assert (folder / "weights").read_text() == "weightz"


def test_a_model_without_checksums_gets_them(cache: Path):
    (cache / "key").mkdir(parents=True)
    (cache / "key" / "weights").write_text("weights")
    folder = get_or_train(
        "toy", "key", "a toy", 1, lambda folder, advance: pytest.fail("trained again")
    )
    assert find_damage(folder) is None


def test_a_failed_training_leaves_no_files(cache: Path):
    def fail(folder: Path, advance: object) -> None:
        (folder / "model").touch()
        raise ValueError("no data")

    with pytest.raises(ValueError, match="no data"):
        get_or_train("toy", "key", "a toy", 1, fail, resumable=True)
    assert [path.name for path in cache.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("resumable", [True, False])
def test_an_interrupted_training_can_be_resumed(cache: Path, resumable: bool):
    def interrupt(folder: Path, advance: object) -> None:
        (folder / "state").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get_or_train("toy", "key", "a toy", 1, interrupt, resumable=resumable)
    names: list[list[str]] = []

    def resume(folder: Path, advance: object) -> None:
        names.append([path.name for path in folder.iterdir()])

    get_or_train("toy", "key", "a toy", 1, resume, resumable=resumable)
    assert names == [["state"] if resumable else []]


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
