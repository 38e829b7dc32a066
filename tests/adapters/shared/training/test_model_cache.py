"""The cache of trained models: complete folders, failures, interrupted trainings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.files.checksums import find_damage
from harness.files.user_path import cache_folder
from harness_models.shared.training.model_cache import get_or_train


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
