"""``harness train SYSTEM recipe.yaml``: arguments, printed lines, invalid recipes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.adapters.shared.training.recipe import Trainer
from harness.adapters.shared.training.recipe_cli import add_arguments, run
from harness.errors import InputError


@dataclass(frozen=True)
class ToyRecipe:
    epochs: int = 2


def train(recipe: ToyRecipe, folder: str, *, resume: bool, report: Callable[[dict[str, Any]], None]) -> Path:
    for epoch in range(1, recipe.epochs + 1):
        report({"epoch": epoch, "loss": 1 / epoch})
    return Path(folder) / ("resumed" if resume else "model")


def command(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(arguments), Trainer(ToyRecipe, train, 1))


def test_epochs_and_the_path_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "r.yaml").write_text("epochs: 3\n")
    assert command(str(tmp_path / "r.yaml"), "--output", "out") == 0
    assert capsys.readouterr().out.splitlines() == [
        "epoch   1   loss 1.0000",
        "epoch   2   loss 0.5000",
        "epoch   3   loss 0.3333",
        "out/model",
    ]
    command(str(tmp_path / "r.yaml"), "--output", "out", "--resume")
    assert capsys.readouterr().out.splitlines()[-1] == "out/resumed"


def test_an_invalid_recipe_is_refused_before_the_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "r.yaml").write_text("epoch: 3\n")
    with pytest.raises(InputError, match="r.yaml: unknown key 'epoch'; did you mean 'epochs'"):
        command(str(tmp_path / "r.yaml"), "--output", "out")
    assert capsys.readouterr().out == ""
