"""Base class of the trainings of captioners: the order of the steps is here,
a system defines each of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

import torch

from harness.contracts import Example
from harness.contracts.parameters import Count, Index, check_fields
from harness.errors import HarnessError, did_you_mean
from harness.stats.seeds import derive
from harness_models.shared.inputs.captions import read_captions
from harness_models.shared.inputs.scenes import scene_pairs
from harness_models.shared.training.loop import Loop, Loss, Report, Schedule
from harness_models.shared.weights.saving import save_checkpoint


@dataclass(frozen=True, kw_only=True)
class TrainingSet:
    """Captions of a file or of rendered scenes, and the optimisation on them.

    Raises :class:`HarnessError` for a value that does not fit.
    """

    system: ClassVar[str]
    """Name of the system under ``harness train``, for messages."""

    captions: str | None = None
    """JSON file of example id -> captions; None for scenes."""
    scenes: Index = 0
    """Number of rendered scenes to train on, in place of ``captions``."""
    captions_each: Count = 5
    """Number of captions of each scene."""
    kind: str = "short"
    """Kind of the captions of scenes: short or exhaustive."""
    epochs: Count = 10
    batch: Count = 64
    """Captions per update."""
    learning_rate: float = 3e-4
    """Learning rate of Adam."""
    weight_decay: float = 0.0
    decay: float = 1.0
    """Factor of the learning rate after each epoch."""
    clip: float = 1.0
    """Maximum norm of the gradient."""
    seed: int = 1

    def __post_init__(self) -> None:
        check_fields(self.system, self)
        if (self.captions is None) == (self.scenes == 0):
            raise HarnessError(
                f"{self.system}: give either captions (a JSON file) "
                "or scenes (a number)"
            )

    def pairs(self) -> list[tuple[str, str]]:
        """Return the (example id, caption) pairs of the training set."""
        if self.captions is not None:
            return read_captions(self.captions)
        return scene_pairs(
            self.scenes, self.captions_each, kind=self.kind, seed=self.seed
        )

    def loop(
        self,
        model: torch.nn.Module,
        loss: Loss,
        count: int,
        folder: Path,
        *,
        resume: bool,
    ) -> Loop:
        """Return a training loop.

        Parameters
        ----------
        model
            Model to train.
        loss
            Loss of a batch of items.
        count
            Number of items.
        folder
            Folder of the run.
        resume
            If true, continue the run in the folder. Its recipe must be the same, except
            for the number of epochs.
        """
        values = {item.name: getattr(self, item.name) for item in fields(Schedule)}
        schedule = Schedule(**values)
        identity = {
            name: value for name, value in asdict(self).items() if name != "epochs"
        }

        return Loop(
            model,
            loss,
            count,
            schedule,
            folder,
            json.dumps(identity, sort_keys=True),
            resume=resume,
        )


@dataclass(frozen=True, kw_only=True)
class CaptionRecipe(TrainingSet):
    """Recipe that trains a model on the captions of a file or of rendered scenes.

    Raises :class:`HarnessError` for a value that does not fit.
    """

    sizes: ClassVar[Mapping[str, Any]] = {}
    """Names and defaults of the sizes of the model;
    empty if the subclass checks them itself.
    """

    features: Any = None
    """Inputs by example id, as the adapter of the system takes them; for scenes
    ``{scenes: {...}}``, the default if ``scenes`` is set.
    """
    model: Mapping[str, Any] = field(default_factory=dict)
    """Sizes of the model."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.captions is not None and self.features is None:
            raise HarnessError(
                f"{self.system}: features are missing (the inputs by example id)"
            )
        for name in self.model:
            if self.sizes and name not in self.sizes:
                raise HarnessError(
                    f"{self.system}: unknown sizes "
                    f"{name}{did_you_mean(name, self.sizes)}"
                )

    @property
    def source(self) -> Any:
        """``features``, or ``{scenes: {}}`` if the captions are those of scenes."""
        return {"scenes": {}} if self.features is None else self.features

    def checkpoint_config(self, epochs: int) -> dict[str, Any]:
        """Return the entries about the training in the configuration of a checkpoint
        after ``epochs`` epochs.
        """
        return {"features": self.source, "recipe": asdict(self), "epochs": epochs}


class CaptionTraining:
    """Data, model and loss of one training.

    A subclass defines :meth:`read_data`, :meth:`build`, :meth:`batch_loss` and
    :meth:`settings`, and may define the others. The module of a system ends with
    ``train = MyTraining.train``.

    Parameters
    ----------
    recipe
        Data, sizes and optimisation.
    folder
        Folder of the run.
    resume
        If true, continue the run in the folder.
    """

    seed_word: ClassVar[str]
    """Word from which, with the seed of the recipe,
    the seed of the initial weights is derived.
    """
    recipe: CaptionRecipe
    model: torch.nn.Module
    write_vocabulary: Callable[[], object] = staticmethod(lambda: None)
    """Function that writes the files of a vocabulary into the folder, for systems that
    keep it beside the weights.
    """

    def __init__(self, recipe: CaptionRecipe, folder: Path, resume: bool) -> None:
        self.recipe = recipe
        self.folder = folder
        self.pairs = recipe.pairs()
        self.examples = [
            Example(name, ("-",))
            for name in dict.fromkeys(name for name, _ in self.pairs)
        ]
        """One example per id of the training set, in the order of the captions."""

        self.read_data()
        # The initial weights depend on the recipe alone, and a caller's random state is
        # the same after the training as before.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(recipe.seed, self.seed_word))
            self.model = self.build()
        self.loop: Loop = recipe.loop(
            self.model, self.batch_loss, len(self.pairs), folder, resume=resume
        )
        # After the loop has accepted the folder: a training that is refused leaves no
        # files.
        self.write_vocabulary()

    @classmethod
    def train(
        cls,
        recipe: Any,
        output: str | Path,
        *,
        resume: bool = False,
        report: Report | None = None,
    ) -> Path:
        """Train a model, save it and return the path of its weights.

        Parameters
        ----------
        recipe
            Data, sizes and optimisation.
        output
            Folder of the run.
        resume
            If true, continue after the last epoch of the run in ``output``.
        report
            Function that gets a mapping with ``epoch`` and ``loss`` after every epoch.

        Raises
        ------
        HarnessError
            If the folder holds another run, a value of the recipe is out of range, or
            the captions do not fit the sizes.
        InputError
            If captions or features are missing or malformed.
        """
        training = cls(recipe, Path(output), resume)
        training.loop.run(report)
        return training.finish()

    def read_data(self) -> None:
        """Read vocabulary, tokens and features of the training set."""
        raise NotImplementedError

    def build(self) -> torch.nn.Module:
        """Return the model with initial weights,
        drawn from torch's global generator.
        """
        raise NotImplementedError

    def batch_loss(self, batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        """Return the mean loss of the captions with the indices ``batch``, and the
        number of tokens that the mean is over.
        """
        raise NotImplementedError

    def settings(self) -> dict[str, Any]:
        """Return the entries of ``config.json`` that the adapter reads,
        without those about the training.
        """
        raise NotImplementedError

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the weights to save, for features that are not standardised."""
        return self.model.state_dict()

    def finish(self) -> Path:
        """Save the model with its configuration and return the path of the weights."""
        settings = {**self.settings(), **self.recipe.checkpoint_config(self.loop.epoch)}
        return save_checkpoint(self.tensors(), settings, self.folder, force=True)
