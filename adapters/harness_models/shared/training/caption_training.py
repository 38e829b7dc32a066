"""Base class of the trainings of captioners: the order of the steps is here, a system defines each of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch

from harness.contracts import Example
from harness.stats.seeds import derive
from harness_models.shared.training.caption_recipe import CaptionRecipe
from harness_models.shared.training.loop import Loop, Report
from harness_models.shared.weights.checkpoints import save_checkpoint


class CaptionTraining:
    """Data, model and loss of one training.

    A subclass defines :meth:`read_data`, :meth:`build`, :meth:`batch_loss` and :meth:`settings`, and may define the others. The module
    of a system ends with ``train = MyTraining.train``.

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
    """Word from which, with the seed of the recipe, the seed of the initial weights is derived."""
    recipe: CaptionRecipe
    model: torch.nn.Module

    def __init__(self, recipe: CaptionRecipe, folder: Path, resume: bool) -> None:
        self.recipe, self.folder = recipe, folder
        self.pairs = recipe.pairs()
        self.examples = [Example(name, ("-",)) for name in dict.fromkeys(name for name, _ in self.pairs)]
        """One example per id of the training set, in the order of the captions."""
        self.read_data()
        # The initial weights depend on the recipe alone, and a caller's random state is the same after the training as before.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(recipe.seed, self.seed_word))
            self.model = self.build()
        self.loop: Loop = recipe.loop(self.model, self.batch_loss, len(self.pairs), folder, resume=resume)
        # After the loop has accepted the folder: a training that is refused leaves no files.
        self.write_vocabulary()

    @classmethod
    def train(cls, recipe: Any, output: str | Path, *, resume: bool = False, report: Report | None = None) -> Path:
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
            If the folder holds another run, a value of the recipe is out of range, or the captions do not fit the sizes.
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
        """Return the model with initial weights, drawn from torch's global generator."""
        raise NotImplementedError

    def batch_loss(self, batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        """Return the mean loss of the captions with the indices ``batch``, and the number of tokens that the mean is over."""
        raise NotImplementedError

    def settings(self) -> dict[str, Any]:
        """Return the entries of ``config.json`` that the adapter reads, without those about the training."""
        raise NotImplementedError

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the weights to save, for features that are not standardised."""
        return self.model.state_dict()

    def write_vocabulary(self) -> None:
        """Write the files of a vocabulary into the folder, for systems that keep it beside the weights."""

    def finish(self) -> Path:
        """Save the model with its configuration and return the path of the weights."""
        settings = {**self.settings(), **self.recipe.checkpoint_config(self.loop.epoch)}
        return save_checkpoint(self.tensors(), settings, self.folder, force=True)
