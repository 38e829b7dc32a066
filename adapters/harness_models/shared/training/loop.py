"""Training loop: deterministic on a CPU, resumable after every epoch.

The folder of a run holds ``curve.jsonl`` (one line per epoch) and ``state.pt``
(weights, state of the optimiser, number of complete epochs). Each epoch has its own
random seed, so a resumed run gives the same weights as an uninterrupted one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.errors import HarnessError, InputError
from harness.files.whole_folder import whole_file
from harness.stats.seeds import derive
from harness_models.shared.weights.checkpoints import load_checkpoint

STATE = "state.pt"
"""File of a run from which its training continues."""
Report = Callable[[dict[str, Any]], object]
"""Function that gets each line of the curve."""
Loss = Callable[[Sequence[int]], tuple[torch.Tensor, int]]
"""Function from the indices of a batch to its mean loss and the number of tokens that
the mean is over.
"""


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread within the context: sums then have the same order on every
    machine, and small models are not slower.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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
        If ``folder`` holds a run and ``resume`` is false, or the run has another
        recipe.
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
        self.model = model
        self.loss = loss
        self.count = count
        self.schedule = schedule
        self.folder = folder
        self.recipe = recipe

        self.optimiser = torch.optim.Adam(
            [weight for weight in model.parameters() if weight.requires_grad],
            lr=schedule.learning_rate,
            weight_decay=schedule.weight_decay,
        )
        self.extra: Callable[[], Mapping[str, float]] = dict
        """Function that returns further numbers of an epoch for its line of the curve.
        """
        self.epoch = 0
        self._open(resume)

    def _open(self, resume: bool) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / STATE
        curve = self.folder / "curve.jsonl"
        if not has_run(self.folder):
            curve.write_text("")
            return

        if not resume:
            raise HarnessError(
                f"{self.folder} holds a run already; choose another folder or resume it"
            )

        state = load_state(path)
        if state["recipe"] != self.recipe:
            raise HarnessError(
                f"{self.folder} holds a run of another recipe; choose another folder"
            )

        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.epoch = int(state["epoch"])
        # A process killed between the curve and the state has logged an epoch that the
        # state does not have.
        lines = curve.read_text().splitlines()[: self.epoch]
        curve.write_text("".join(line + "\n" for line in lines))

    def run(self, report: Report | None = None) -> None:
        """Train the remaining epochs and put the model into evaluation mode; ``report``
        gets the line of each epoch.

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
        # Order and dropout of an epoch depend on its own seed, so that a resumed run
        # repeats what an uninterrupted one does.
        order = np.random.default_rng(seed).permutation(self.count).tolist()
        self.model.train()
        total = 0.0
        tokens = 0

        for start in range(0, len(order), schedule.batch):
            loss, count = self.loss(order[start : start + schedule.batch])
            message = f"the loss is %s in epoch {self.epoch + 1}; lower learning_rate"
            take_step(self.optimiser, loss, schedule.clip, message)
            # Batches differ in their number of tokens: the curve is the mean over
            # tokens, not over batches.
            total = total + float(loss.detach()) * count
            tokens = tokens + count

        self.epoch += 1
        row = {
            "epoch": self.epoch,
            "loss": total / tokens,
            "learning_rate": rate,
            **self.extra(),
        }

        with (self.folder / "curve.jsonl").open("a") as log:
            log.write(json.dumps(row) + "\n")
        self._save()
        return row

    def _save(self) -> None:
        state = {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "epoch": self.epoch,
        }
        save_state(self.folder / STATE, {**state, "recipe": self.recipe})


def take_step(
    optimiser: torch.optim.Optimizer, loss: torch.Tensor, clip: float, message: str
) -> None:
    """Take one step of an optimiser, with the norm of the gradient of all its weights
    at most ``clip``.

    Raises :class:`HarnessError` with ``message``, whose ``%s`` is the loss, if the loss
    is not finite.
    """
    if not bool(torch.isfinite(loss)):
        raise HarnessError(message % loss.item())
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(
        [weight for group in optimiser.param_groups for weight in group["params"]], clip
    )
    optimiser.step()


def mean_perplexity(
    loss: Callable[[Any], tuple[torch.Tensor, int]], items: Sequence[Any]
) -> float | None:
    """Return exp of the mean ``loss`` of a token over items, 256 at a time;
    None without items.
    """
    if not items:
        return None
    total = tokens = 0.0
    with torch.inference_mode():
        for start in range(0, len(items), 256):
            mean, count = loss(items[start : start + 256])
            total = total + mean.item() * count
            tokens = tokens + count
    return math.exp(total / tokens)


def has_run(folder: Path) -> bool:
    """Return True if ``folder`` holds a run with at least one complete epoch."""
    return (folder / STATE).exists()


def save_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write the state of a run; a process that is killed leaves the former state,
    never half of the new one.
    """
    with whole_file(path) as file:
        torch.save(dict(state), file)


def load_state(path: Path) -> dict[str, Any]:
    """Return the state of a run, loaded safely; raise :class:`HarnessError` for a
    truncated file or another kind of file.
    """
    try:
        return torch.load(path, weights_only=True)
    except Exception as error:
        # raises a precise error for a file that is not a checkpoint
        load_checkpoint(path)
        raise HarnessError(f"{path} cannot be resumed from: {error}") from error


def resume_state(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a run that is continued;
    its entry ``settings`` holds the settings of the run.

    Raises :class:`InputError` for a state without settings, and for one whose settings
    other than ``epochs`` differ from ``settings``.
    """
    state = load_state(path)
    stored = state.get("settings")
    if not isinstance(stored, dict):
        raise InputError("not the state of a training with settings", str(path))
    for name, value in plain_settings(settings).items():
        # A setting that the run does not have yet is equal to one that is off.
        if name != "epochs" and (value or None) != (stored.get(name) or None):
            raise InputError(
                f"the run has {name} = {stored.get(name)!r}, not {value!r}: "
                "resume with the same settings",
                str(path),
            )
    return state


def plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings as JSON gives them back (tuples become lists),
    so that stored ones can be compared.
    """
    return json.loads(json.dumps(settings))
