"""The ``trained`` adapter: a system that is trained by its recipe on first use."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.adapters.shared.training.model_cache import cache_folder, get_or_train
from harness.adapters.shared.training.recipe import load_trainer, read_recipe, recipe_from
from harness.adapters.trained.cache_key import model_key
from harness.contracts import (
    Candidates,
    Decoding,
    Example,
    Failure,
    Generation,
    PathParam,
    Prepares,
    Scorer,
    TaskView,
    TokenScores,
    needs_whole_task,
)
from harness.errors import HarnessError, did_you_mean
from harness.registry import current, parameters
from harness.run.progress import bar

_log = logging.getLogger(__name__)
STATE_FILES = ("state.pt", "state.safetensors")
"""Files from which trainers resume; they are removed when the training is complete."""


class Trained:
    """The adapter ``model`` with weights that are trained by ``recipe``.

    The recipe is checked by the constructor. The training (seconds to minutes) starts when the weights are first needed. The weights
    are stored in the user's cache; the key (:func:`~harness.adapters.trained.cache_key.model_key`) is made from the format version of
    the trainer, the recipe, the contents of the files that it names, and the version of the A3DS renderer.

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

    def __init__(
        self,
        *,
        model: str,
        recipe: PathParam | Mapping[str, Any],
        params: Mapping[str, Any] | None = None,
        trainer: str | None = None,
    ) -> None:
        self.name, self.params = model, dict(params or {})
        self.system = trainer or model
        self._check()
        self._trainer = load_trainer(self.system)
        kind = self._trainer.recipe
        self.recipe: Any = (
            read_recipe(recipe, kind)
            if isinstance(recipe, str)
            else recipe_from(recipe, kind, f"trained: recipe of {self.system}")
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
        return get_or_train(f"trained-{self.system}", key, self._train, resumable=True)

    def _train(self, folder: Path) -> None:
        import torch

        if any(folder.iterdir()) and not any((folder / name).exists() for name in STATE_FILES):
            shutil.rmtree(folder)  # killed before the first state was saved
            folder.mkdir()
        epochs, epoch = int(getattr(self.recipe, "epochs", 1)), 0
        _log.warning(
            "training %s (%d epochs); the model is stored in %s",
            self.system,
            epochs,
            cache_folder(f"trained-{self.system}"),
        )
        with bar(f"training {self.system}", epochs) as advance:

            def report(row: Mapping[str, Any]) -> None:
                nonlocal epoch
                advance(row.get("epoch", epoch) - epoch)
                epoch = row.get("epoch", epoch)

            # The weights may be requested under inference_mode, and the global random state must not change.
            with torch.random.fork_rng(devices=[]), torch.inference_mode(False), torch.enable_grad():
                self._trainer.train(self.recipe, folder, resume=True, report=report)
        for name in STATE_FILES:
            (folder / name).unlink(missing_ok=True)

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

    @property
    def prepare_only_checks(self) -> bool:
        """True where captions depend on their example alone."""
        return not needs_whole_task(self.model)

    def prepare(self, task: TaskView) -> None:
        """Call ``prepare`` of the model if it has that method."""
        if isinstance(self.model, Prepares):
            self.model.prepare(task)

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterable[Candidates | Generation | Failure]:
        """Yield the results of the model, one per example in order."""
        return self.model.generate(examples, decoding, seeds)

    def score_references(self, examples: Sequence[Example]) -> Iterable[list[TokenScores]]:
        """Yield the reference scores of the model, one list per example.

        Raises :class:`HarnessError` if the model does not score references.
        """
        if not isinstance(self.model, Scorer):
            raise HarnessError(f"trained: the adapter '{self.name}' does not score references")
        return self.model.score_references(examples)
