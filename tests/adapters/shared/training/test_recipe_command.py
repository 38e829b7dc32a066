"""Commands whose options are a recipe."""

from __future__ import annotations

import argparse
import importlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.registry import current
from harness_models.shared.training.recipe_command import recipe_command


@dataclass(frozen=True)
class Recipe:
    epochs: int = 1


def test_the_command_reads_the_recipe_and_prints_epochs_and_path(tmp_path, capsys):
    def train(recipe, folder, *, resume, report):
        assert resume
        for epoch in range(recipe.epochs):
            report({"epoch": epoch + 1, "loss": 0.5})
        return Path(folder) / "model.safetensors"

    trainer, add_arguments, run = recipe_command(Recipe, train, 1)
    assert trainer().recipe is Recipe
    assert trainer().train is train

    (tmp_path / "r.yaml").write_text("epochs: 2\n")
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert (
        run(
            parser.parse_args([str(tmp_path / "r.yaml"), "--output", "out", "--resume"])
        )
        == 0
    )

    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 3
    assert printed[2] == "out/model.safetensors"

    (tmp_path / "r.yaml").write_text("epoch: 2\n")
    with pytest.raises(InputError, match="no parameter 'epoch'; did you mean 'epochs'"):
        run(parser.parse_args([str(tmp_path / "r.yaml"), "--output", "out"]))


@pytest.mark.parametrize(
    "entry", current().entries("trainers"), ids=lambda entry: entry.name
)
def test_every_registered_module_has_the_entry_points(entry):
    module = importlib.import_module(entry.target.partition(":")[0])
    assert module.__doc__
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    assert "--output" in parser.format_help()
    assert callable(module.run)
