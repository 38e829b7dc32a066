"""The cache of trained models: complete folders, failures, interrupted trainings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness_models.shared.training.model_cache import cache_folder, get_or_train


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    return tmp_path / "toy"


def test_the_environment_sets_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
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
