"""One training loop for the models that are trained here: deterministic on a CPU, resumable after any epoch, logged.

A run directory holds ``curve.jsonl`` (one line per epoch) and ``state.pt`` (weights, optimiser, finished epochs: all that ``resume``
needs). Every epoch has random numbers of its own, so that a resumed run gives the same weights as an uninterrupted one.
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
Loss = Callable[[Sequence[int]], tuple[torch.Tensor, int]]
"""Indices of a batch -> mean loss and how many tokens it is the mean of."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How a model is trained."""

    epochs: int
    batch: int
    learning_rate: float
    weight_decay: float
    decay: float
    """The learning rate is multiplied by this after each epoch."""
    clip: float
    """Largest norm of the gradient."""
    seed: int


class Loop:
    """Adam over ``count`` items. ``recipe`` (JSON) names the run: a folder is resumed by the same recipe only."""

    def __init__(
        self, model: torch.nn.Module, loss: Loss, count: int, pace: Pace, folder: Path, recipe: str, *, resume: bool
    ) -> None:
        self.model, self.loss, self.count, self.pace, self.folder, self.recipe = (
            model,
            loss,
            count,
            pace,
            folder,
            recipe,
        )
        self.optimiser = torch.optim.Adam(
            [weight for weight in model.parameters() if weight.requires_grad],
            lr=pace.learning_rate,
            weight_decay=pace.weight_decay,
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
            raise HarnessError(f"{self.folder} holds a run already; choose another folder or say --resume")
        state = load_state(path)
        if state["recipe"] != self.recipe:
            raise HarnessError(f"{self.folder} holds a run of another recipe; choose another folder")
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.epoch = int(state["epoch"])
        curve.write_text("".join(line + "\n" for line in curve.read_text().splitlines()[: self.epoch]))

    def run(self, report: Report | None = None) -> None:
        """Train until all epochs are done, and put the model into evaluation mode."""
        while self.epoch < self.pace.epochs:
            row = self._run_epoch()
            if report:
                report(row)
        self.model.eval()

    def _run_epoch(self) -> dict[str, Any]:
        pace = self.pace
        seed = derive(pace.seed, "epoch", self.epoch)
        torch.manual_seed(seed)
        rate = pace.learning_rate * pace.decay**self.epoch
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        order = np.random.default_rng(seed).permutation(self.count).tolist()
        self.model.train()
        total, tokens = 0.0, 0
        for start in range(0, len(order), pace.batch):
            loss, count = self.loss(order[start : start + pace.batch])
            if not bool(torch.isfinite(loss)):
                raise HarnessError(f"the loss is {float(loss)} in epoch {self.epoch + 1}; lower learning_rate")
            self.optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), pace.clip)
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
    """Whether ``folder`` holds a run with at least one epoch done."""
    return (folder / "state.pt").exists()


def load_state(path: Path) -> dict[str, Any]:
    """A run's state, read safely; raises :class:`HarnessError` when it is cut short."""
    try:
        return torch.load(path, weights_only=True)
    except Exception as error:
        load_checkpoint(path)  # says in one line what is wrong with a file that is no checkpoint
        raise HarnessError(f"{path} cannot be resumed from: {error}") from error
