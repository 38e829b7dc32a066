"""The ``trained`` adapter: a system that is trained by its recipe on first use, then that system's own adapter."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.adapters.shared.training import recipe as recipes
from harness.adapters.shared.training.model_cache import cache_folder, kept
from harness.adapters.trained.cache_key import model_key
from harness.contracts import (
    Candidates,
    Decoding,
    Example,
    Failure,
    Generation,
    PathParam,
    Prepares,
    TaskView,
    TokenScores,
)
from harness.errors import HarnessError, did_you_mean
from harness.registry import current, parameters
from harness.run.progress import bar

_log = logging.getLogger(__name__)
STATES = ("state.pt", "state.safetensors")
"""What trainers resume from; not kept with a finished model."""


class Trained:
    """``model`` with the weights that ``recipe`` gives.

    model: an adapter that takes ``checkpoint``; params: its other parameters.
    recipe: a YAML file as ``harness train`` takes it, or the same as a mapping.
    trainer: the system to train, where ``harness train`` calls it otherwise than the adapter.

    The recipe is checked at once; the training (seconds to minutes) waits until the weights are asked for. They are kept in the user's
    cache under a name made of the recipe, the contents of the files it names, the trainer's source and the renderer's version.
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
        self._trainer = recipes.trainer(self.system)
        kind = self._trainer.recipe
        self.recipe: Any = (
            recipes.read_recipe(recipe, kind)
            if isinstance(recipe, str)
            else recipes.recipe_from(recipe, kind, f"trained: recipe of {self.system}")
        )
        self._made: Any = None

    def _check(self) -> None:
        known = parameters(current().load("adapters", self.name))
        if "checkpoint" not in known:
            raise HarnessError(f"trained: '{self.name}' takes no checkpoint")
        for name in self.params:
            if name == "checkpoint" or name not in known:
                hint = "; the checkpoint is what is trained" if name == "checkpoint" else did_you_mean(name, known)
                raise HarnessError(f"trained: params cannot hold '{name}' for '{self.name}'{hint}")

    @property
    def folder(self) -> Path:
        """Where the weights are kept; trained now if they are not there."""
        key = model_key(self.system, self._trainer, self.recipe)
        return kept(f"trained-{self.system}", key, self._train, resumable=True)

    def _train(self, folder: Path) -> None:
        import torch

        if any(folder.iterdir()) and not any((folder / name).exists() for name in STATES):
            shutil.rmtree(folder)  # killed before there was anything to go on from
            folder.mkdir()
        epochs, done = int(getattr(self.recipe, "epochs", 1)), 0
        _log.warning(
            "training %s (%d epochs); it will be kept in %s",
            self.system,
            epochs,
            cache_folder(f"trained-{self.system}"),
        )
        with bar(f"training {self.system}", epochs) as advance:

            def report(row: Mapping[str, Any]) -> None:
                nonlocal done
                advance(row.get("epoch", done) - done)
                done = row.get("epoch", done)

            # even when asked for in the midst of scoring, and without touching anybody's random numbers
            with torch.random.fork_rng(devices=[]), torch.inference_mode(False), torch.enable_grad():
                self._trainer.train(self.recipe, folder, resume=True, report=report)
        for name in STATES:
            (folder / name).unlink(missing_ok=True)

    @property
    def model(self) -> Any:
        """The adapter with the trained weights."""
        if self._made is None:
            self._made = current().create("adapters", self.name, {**self.params, "checkpoint": str(self.folder)})
        return self._made

    # ------------------------------------------------------------------ the adapter's own
    def fingerprint(self) -> str:
        """The adapter's own: of the weights as they are, wherever they lie."""
        return self.model.fingerprint()

    def prepare(self, task: TaskView) -> None:
        """The model's own check, where it has one."""
        if not isinstance(self.model, Prepares):
            return
        self.model.prepare(task)

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterable[Candidates | Generation | Failure]:
        """What the model gives."""
        return self.model.generate(examples, decoding, seeds)

    def score_references(self, examples: Sequence[Example]) -> Iterable[list[TokenScores]]:
        """The model's own. Raises :class:`HarnessError` for a model that scores none."""
        if not hasattr(self.model, "score_references"):
            raise HarnessError(f"trained: {self.name} scores no references")
        return self.model.score_references(examples)
