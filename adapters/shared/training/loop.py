"""Training loop: deterministic on a CPU, resumable after every epoch.

The folder of a run holds ``curve.jsonl`` (one line per epoch) and ``state.pt`` (weights, state of the optimiser, number of complete
epochs). Each epoch has its own random seed, so a resumed run gives the same weights as an uninterrupted one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.adapters.shared.weights.checkpoints import load_checkpoint
from harness.errors import HarnessError
from harness.stats.seeds import derive

Report = Callable[[dict[str, Any]], None]
"""Function that gets each line of the curve."""
Loss = Callable[[Sequence[int]], tuple[torch.Tensor, int]]
"""Function from the indices of a batch to its mean loss and the number of tokens that the mean is over."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Optimisation settings of a training run."""

    epochs: int
    batch: int
    """Items per update."""
    learning_rate: float
    weight_decay: float
    decay: float
    """Factor of the learning rate after each epoch."""
    clip: float
    """Maximum norm of the gradient."""
    seed: int


class Loop:
    """Training of a model with Adam.

    Parameters
    ----------
    model
        Model to train; weights that do not require a gradient stay unchanged.
    loss
        Loss of a batch of items.
    count
        Number of items; each epoch visits all of them in random order.
    schedule
        Optimisation settings.
    folder
        Folder of the run.
    recipe
        Text that identifies the run (JSON).
    resume
        If true, continue the run in ``folder``.

    Raises
    ------
    HarnessError
        If ``folder`` holds a run and ``resume`` is false, or the run has another recipe.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        loss: Loss,
        count: int,
        schedule: Schedule,
        folder: Path,
        recipe: str,
        *,
        resume: bool,
    ) -> None:
        self.model, self.loss, self.count = model, loss, count
        self.schedule, self.folder, self.recipe = schedule, folder, recipe
        self.optimiser = torch.optim.Adam(
            [weight for weight in model.parameters() if weight.requires_grad],
            lr=schedule.learning_rate,
            weight_decay=schedule.weight_decay,
        )
        self.epoch = 0
        self._open(resume)

    def _open(self, resume: bool) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path, curve = self.folder / "state.pt", self.folder / "curve.jsonl"
        if not has_run(self.folder):
            curve.write_text("")
            return
        if not resume:
            raise HarnessError(f"{self.folder} holds a run already; choose another folder or use --resume")
        state = load_state(path)
        if state["recipe"] != self.recipe:
            raise HarnessError(f"{self.folder} holds a run of another recipe; choose another folder")
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.epoch = int(state["epoch"])
        curve.write_text("".join(line + "\n" for line in curve.read_text().splitlines()[: self.epoch]))

    def run(self, report: Report | None = None) -> None:
        """Train the remaining epochs and put the model into evaluation mode; ``report`` gets the line of each epoch.

        Raises :class:`HarnessError` if the loss is not finite.
        """
        while self.epoch < self.schedule.epochs:
            row = self._run_epoch()
            if report:
                report(row)
        self.model.eval()

    def _run_epoch(self) -> dict[str, Any]:
        schedule = self.schedule
        seed = derive(schedule.seed, "epoch", self.epoch)
        torch.manual_seed(seed)
        rate = schedule.learning_rate * schedule.decay**self.epoch
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        order = np.random.default_rng(seed).permutation(self.count).tolist()
        self.model.train()
        total, tokens = 0.0, 0
        for start in range(0, len(order), schedule.batch):
            loss, count = self.loss(order[start : start + schedule.batch])
            if not bool(torch.isfinite(loss)):
                raise HarnessError(f"the loss is {float(loss)} in epoch {self.epoch + 1}; lower learning_rate")
            self.optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), schedule.clip)
            self.optimiser.step()
            total, tokens = total + float(loss.detach()) * count, tokens + count
        self.epoch += 1
        row = {"epoch": self.epoch, "loss": total / tokens, "learning_rate": rate}
        with (self.folder / "curve.jsonl").open("a") as log:
            log.write(json.dumps(row) + "\n")
        self._save()
        return row

    def _save(self) -> None:
        state = {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "epoch": self.epoch,
            "recipe": self.recipe,
        }
        torch.save(state, self.folder / "state.pt.part")
        os.replace(self.folder / "state.pt.part", self.folder / "state.pt")


def has_run(folder: Path) -> bool:
    """Return True if ``folder`` holds a run with at least one complete epoch."""
    return (folder / "state.pt").exists()


def load_state(path: Path) -> dict[str, Any]:
    """Return the state of a run, loaded safely; raise :class:`HarnessError` for a truncated file or another kind of file."""
    try:
        return torch.load(path, weights_only=True)
    except Exception as error:
        load_checkpoint(path)  # raises a precise error for a file that is not a checkpoint
        raise HarnessError(f"{path} cannot be resumed from: {error}") from error
