"""The ``trained`` adapter: a system that is trained by its recipe on first use."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from harness.contracts import Decoding, PathParam, find_refusal
from harness.errors import HarnessError, did_you_mean
from harness.files.yaml_source import Located
from harness.registry import current, parameters
from harness_models.shared.training.model_cache import get_or_train
from harness_models.shared.training.model_key import model_key
from harness_models.shared.training.recipe import (
    Trainer,
    load_trainer,
    read_recipe,
    recipe_from,
)
from harness_models.wrappers.wrapper import Wrapper


class Trained(Wrapper):
    """The adapter ``model`` with weights that are trained by ``recipe``.

    The recipe is checked by the constructor. The training (seconds to minutes) starts
    when the weights are first needed. The weights are stored in the user's cache; the
    key (:func:`~harness_models.shared.training.model_key.model_key`) is made from the
    format version of the trainer, the recipe, the contents of the files that it names,
    and the version of the A3DS renderer.

    Parameters
    ----------
    model
        Name of an adapter that has a parameter ``checkpoint``.
    recipe
        A YAML file as for ``harness train``, or the same as a mapping.
    params
        Other parameters of the adapter.
    trainer
        Name of the system under ``harness train`` if it differs from ``model``.
    reward
        Settings of a training by rewards that follows
        (:class:`~harness_models.shared.training.reward_training.RewardRecipe`). With
        its ``checkpoint`` there is no recipe; without, it starts from the weights of
        the recipe.
    """

    kind = "trained"

    def __init__(
        self,
        *,
        model: str,
        recipe: PathParam | Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        trainer: str | None = None,
        reward: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = model
        self.params = dict(params or {})
        self.system = trainer or model
        self._check()

        if (recipe is None) == (reward is None or "checkpoint" not in reward):
            raise HarnessError(
                "trained: give a recipe, or a reward with a checkpoint from which it "
                "starts"
            )

        self.recipe: Any = None
        if recipe is not None:
            self._trainer = load_trainer(self.system)
            kind = self._trainer.recipe
            if isinstance(recipe, str):
                self.recipe = read_recipe(recipe, kind)
            else:
                self.recipe = self._recipe(recipe, kind, "recipe")

        self.reward: Any = None
        if reward is not None:
            # imports torch
            from harness_models.shared.training.reward_training import RewardRecipe

            self.reward = self._recipe(
                {"checkpoint": "", **reward}, RewardRecipe, "reward"
            )
        self._model: Any = None

    def _recipe(self, values: Mapping[str, Any], kind: type, noun: str) -> Any:
        return recipe_from(
            Located(values, {(): (f"trained: {noun} of {self.system}", 0)}), kind
        )

    def _check(self) -> None:
        names = parameters(current().load("adapters", self.name))
        if "checkpoint" not in names:
            raise HarnessError(
                f"trained: the adapter '{self.name}' has no parameter 'checkpoint'"
            )

        for name in self.params:
            if name == "checkpoint":
                raise HarnessError(
                    f"trained: params cannot hold 'checkpoint' for '{self.name}'; "
                    "it is what is trained"
                )
            if name not in names:
                hint = did_you_mean(name, names)
                raise HarnessError(
                    f"trained: params cannot hold '{name}' for '{self.name}'{hint}"
                )

    def refuse_decoding(self, decoding: Decoding) -> str:
        """Return why no model of this kind decodes so, without training one."""
        return find_refusal(current().load("adapters", self.name), decoding)

    @property
    def folder(self) -> Path:
        """Folder of the weights; the model is trained if the folder does not exist."""
        key = ""
        folder = ""
        if self.recipe is not None:
            key = model_key(self.system, self._trainer, self.recipe)
            folder = str(
                self._get(
                    f"trained-{self.system}", key, self._trainer.train, self.recipe
                )
            )
        if self.reward is None:
            return Path(folder)
        from harness_models.shared.training.reward_training import (
            FORMAT_VERSION,
            train_by_reward,
        )

        # The key holds that of the start, not its folder, so that it does not depend on
        # the place of the cache.
        trainer = Trainer(
            type(self.reward), partial(train_by_reward, self.name), FORMAT_VERSION
        )
        key = model_key(f"{self.name} {key}", trainer, self.reward)
        start = replace(self.reward, checkpoint=folder or self.reward.checkpoint)
        return self._get(f"rewarded-{self.name}", key, trainer.train, start)

    def _get(
        self, kind: str, key: str, train: Callable[..., Path], recipe: Any
    ) -> Path:
        epochs = int(getattr(recipe, "epochs", 1))
        return get_or_train(
            kind,
            key,
            self.system,
            epochs,
            partial(self._train, train, recipe),
            resumable=True,
        )

    def _train(
        self,
        train: Callable[..., Path],
        recipe: Any,
        folder: Path,
        advance: Callable[[int], object],
    ) -> None:
        import torch

        from harness_models.shared.training.loop import STATE, has_run  # imports torch

        if any(folder.iterdir()) and not has_run(folder):
            shutil.rmtree(folder)  # killed before the first state was saved
            folder.mkdir()

        epoch = 0

        def report(row: Mapping[str, Any]) -> None:
            nonlocal epoch
            advance(row.get("epoch", epoch) - epoch)
            epoch = row.get("epoch", epoch)

        # The weights may be requested under inference_mode, and the global random state
        # must not change.
        with (
            torch.random.fork_rng(devices=[]),
            torch.inference_mode(False),
            torch.enable_grad(),
        ):
            train(recipe, folder, resume=True, report=report)
        (folder / STATE).unlink(missing_ok=True)  # a complete training is not resumed

    @property
    def model(self) -> Any:
        """The adapter ``model`` with the trained weights."""
        if self._model is None:
            self._model = current().create(
                "adapters", self.name, {**self.params, "checkpoint": str(self.folder)}
            )
        return self._model

    def fingerprint(self) -> str:
        """Return the fingerprint of the model.

        It depends on the weights, not on their location.
        """
        return self.model.fingerprint()
