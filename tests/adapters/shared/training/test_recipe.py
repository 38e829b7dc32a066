"""Recipes from YAML and mappings, and the trainers of the registry."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.errors import HarnessError, InputError
from harness.files.yaml_source import loads
from harness.registry import current
from harness_models.shared.training.recipe import (
    Trainer,
    load_trainer,
    read_recipe,
    recipe_from,
)

PLUGIN = """from dataclasses import dataclass
from harness_models.shared.training.recipe import Trainer
@dataclass(frozen=True)
class Recipe:
    epochs: int = 1
def train(recipe, folder, **options):
    return folder
def trainer():
    return {}
"""


@dataclass(frozen=True, kw_only=True)
class ToyRecipe:
    captions: str
    epochs: int = 2
    model: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise HarnessError(f"toy: epochs is {self.epochs}")


def toy_train(recipe: ToyRecipe, folder: Path, **options: object) -> Path:
    return folder


def test_a_recipe_from_a_mapping():
    source = loads("captions: c.json\nepochs: 3", "here")
    assert recipe_from(source, ToyRecipe) == ToyRecipe(captions="c.json", epochs=3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- captions", "here:1: expected a mapping; found list"),
        (
            "epochs: 1\ncaption: c",
            "here:2: the recipe has no parameter 'caption'; "
            "did you mean 'captions'?; parameters are:",
        ),
        ("epochs: 1", "here:1: the recipe needs the parameter 'captions'"),
        ("captions: c\nepochs: 0", "here:1: toy: epochs is 0"),
        (
            "captions: c\nepochs: two",
            "here:2: the recipe: epochs is 'two'; expected a whole number",
        ),
    ],
)
def test_a_recipe_that_does_not_fit_is_one_line(text: str, message: str):
    with pytest.raises(InputError) as caught:
        recipe_from(loads(text, "here"), ToyRecipe)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such YAML file"),
        (b"captions: [", "not valid YAML: expected the node content"),
        (b"\xff\xfe\x00", "not UTF-8 text (byte 0)"),
        (b"- captions", "expected a mapping; found list"),
    ],
)
def test_a_file_that_is_no_recipe_is_one_line_with_its_path(
    content: bytes | None, message: str, tmp_path: Path
):
    path = tmp_path / "recipe.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_recipe(path, ToyRecipe)
    assert str(caught.value).startswith(str(path)) and f": {message}" in str(
        caught.value
    )
    assert "\n" not in str(caught.value)


def test_a_recipe_from_a_file(tmp_path: Path):
    (tmp_path / "recipe.yaml").write_text("captions: c.json\nmodel: {width: 4}\n")
    assert read_recipe(tmp_path / "recipe.yaml", ToyRecipe) == ToyRecipe(
        captions="c.json", model={"width": 4}
    )


@pytest.mark.parametrize("version", [(), (0,), (True,), ("1",), (1.0,), (None,)])
def test_a_trainer_without_a_format_version_is_refused(version: tuple[Any, ...]):
    with pytest.raises(
        HarnessError,
        match=r"trainer of ToyRecipe: format_version is .*; expected a whole number",
    ):
        Trainer(ToyRecipe, toy_train, *version)


def recipe_trainers() -> list[str]:
    names = [entry.name for entry in current().entries("trainers")]
    # these two are trained by command-line options
    return [name for name in names if name not in ("rnnlm", "a3ds")]


@pytest.mark.parametrize("name", recipe_trainers())
def test_the_trainers_of_the_registry_declare_what_a_cache_key_needs(name: str):
    pytest.importorskip("torch")
    trainer = load_trainer(name)
    assert is_dataclass(trainer.recipe) and callable(trainer.train)
    declared = (
        sys.modules[trainer.recipe.__module__],
        sys.modules[trainer.train.__module__],
    )
    assert trainer.format_version in [
        module.__dict__.get("FORMAT_VERSION") for module in declared
    ]


def test_a_system_without_a_recipe_is_refused():
    with pytest.raises(
        HarnessError,
        match="'a3ds' is not trained by a recipe; see 'harness train a3ds --help'",
    ):
        load_trainer("a3ds")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "Trainer(Recipe, train)",
            "trainer of Recipe: format_version is 0; "
            "expected a whole number of at least 1",
        ),
        ("Recipe, train", "trainer() of 'acme' returns tuple; expected Trainer"),
        ("Trainer(Recipe, train, 3)", None),
    ],
)
def test_the_trainer_of_a_plugin(
    value: str, message: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "acme_cli.py").write_text(PLUGIN.format(value))
    (tmp_path / "registry.yaml").write_text(
        'trainers:\n  acme: {import: "acme_cli:run", summary: "toy"}\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "acme_cli", raising=False)
    if message is None:
        assert load_trainer("acme").format_version == 3
    else:
        with pytest.raises(HarnessError) as caught:
            load_trainer("acme")
        assert str(caught.value).startswith(message)
    monkeypatch.delitem(sys.modules, "acme_cli")


@dataclass(frozen=True)
class Recipe:
    epochs: int = 1
