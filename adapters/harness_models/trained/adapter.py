"""The ``trained`` adapter: a system that is trained by its recipe on first use."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.contracts import PathParam
from harness.errors import HarnessError, did_you_mean
from harness.files.yaml_source import Located
from harness.registry import current, parameters
from harness_models.shared.training.model_cache import get_or_train, model_key
from harness_models.shared.training.recipe import load_trainer, read_recipe, recipe_from
from harness_models.wrappers.adapter import Wrapper


class Trained(Wrapper):
    """The adapter ``model`` with weights that are trained by ``recipe``.

    The recipe is checked by the constructor. The training (seconds to minutes) starts when the weights are first needed. The weights
    are stored in the user's cache; the key (:func:`~harness_models.shared.training.model_cache.model_key`) is made from the format
    version of the trainer, the recipe, the contents of the files that it names, and the version of the A3DS renderer.

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
    """

    kind = "trained"

    def __init__(
        self, *, model: str, recipe: PathParam | Mapping[str, Any], params: Mapping[str, Any] | None = None, trainer: str | None = None
    ) -> None:
        self.name, self.params = model, dict(params or {})
        self.system = trainer or model
        self._check()
        self._trainer = load_trainer(self.system)
        kind = self._trainer.recipe
        self.recipe: Any = (
            read_recipe(recipe, kind)
            if isinstance(recipe, str)
            else recipe_from(Located(recipe, {(): (f"trained: recipe of {self.system}", 0)}), kind)
        )
        self._model: Any = None

    def _check(self) -> None:
        names = parameters(current().load("adapters", self.name))
        if "checkpoint" not in names:
            raise HarnessError(f"trained: the adapter '{self.name}' has no parameter 'checkpoint'")
        for name in self.params:
            if name == "checkpoint":
                raise HarnessError(f"trained: params cannot hold 'checkpoint' for '{self.name}'; it is what is trained")
            if name not in names:
                hint = did_you_mean(name, names)
                raise HarnessError(f"trained: params cannot hold '{name}' for '{self.name}'{hint}")

    @property
    def folder(self) -> Path:
        """Folder of the weights; the model is trained if the folder does not exist."""
        key = model_key(self.system, self._trainer, self.recipe)
        epochs = int(getattr(self.recipe, "epochs", 1))
        return get_or_train(f"trained-{self.system}", key, self.system, epochs, self._train, resumable=True)

    def _train(self, folder: Path, advance: Callable[[int], object]) -> None:
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

        # The weights may be requested under inference_mode, and the global random state must not change.
        with torch.random.fork_rng(devices=[]), torch.inference_mode(False), torch.enable_grad():
            self._trainer.train(self.recipe, folder, resume=True, report=report)
        (folder / STATE).unlink(missing_ok=True)  # a complete training is not resumed

    @property
    def model(self) -> Any:
        """The adapter ``model`` with the trained weights."""
        if self._model is None:
            self._model = current().create("adapters", self.name, {**self.params, "checkpoint": str(self.folder)})
        return self._model

    # ------------------------------------------------------------------ forwarded to the model
    def fingerprint(self) -> str:
        """Return the fingerprint of the model. It depends on the weights, not on their location."""
        return self.model.fingerprint()
