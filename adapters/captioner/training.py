"""Training of the captioner. The same recipe gives the same weights on the same machine, interrupted or not.

A run folder holds ``stage-001/``, ``stage-002/``, ... (``model.safetensors`` and ``config.json`` of each stage), ``curve.jsonl`` (a line
per 20 steps, and one per stage with the held-out perplexity) and ``state.safetensors`` (weights, Adam's moments and the step, written after
every stage: all that ``resume`` needs). The random numbers of an epoch depend on the seed and the epoch only.

The shared loop (:mod:`harness.adapters.shared.training.loop`) is not used: stages end within epochs, and batches hold captions of similar
length, so the order of the batches, and with it the trained weights, would change.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from harness.adapters.captioner.model import END, Captioner
from harness.adapters.captioner.recipe import CaptionerRecipe
from harness.adapters.captioner.training_data import TrainingData, training_data
from harness.errors import HarnessError, InputError, require

IGNORED = -100
"""Target value of padding in the loss."""
LOGGED = 20
"""Number of steps between two lines of the curve."""
Report = Callable[[dict[str, Any]], None]
"""Function that gets each line of the curve."""


def stage_folder(folder: Path, stage: int) -> Path:
    """Return the folder of a stage, counted from 1, of the run in ``folder``."""
    return folder / f"stage-{stage:03d}"


def train(
    recipe: CaptionerRecipe, output: str | Path, *, resume: bool = False, report: Report = lambda row: None
) -> Path:
    """Train a captioner and return the folder of the last stage.

    Parameters
    ----------
    recipe
        Data, sizes, optimisation and stages.
    output
        Folder of the run.
    resume
        If true, continue after the last stage of the run in ``output``.
    report
        Function that gets each line of the curve.

    Raises
    ------
    HarnessError
        If the folder holds a run and ``resume`` is false, or the loss is not finite.
    InputError
        If the folder holds the state of another recipe.
    """
    folder = Path(output)
    if not resume and stage_folder(folder, 1).exists():
        raise HarnessError(f"{folder} holds a trained captioner already; choose another folder or say --resume")
    folder.mkdir(parents=True, exist_ok=True)
    with _one_thread(), torch.inference_mode(False), torch.enable_grad():  # training can start within scoring
        return _CaptionerTraining(recipe, training_data(recipe), folder, report).run(resume)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Use one thread within the context: sums then have the same order on every machine, and small models are not slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _CaptionerTraining:
    """Model, optimiser and files of one training."""

    def __init__(self, recipe: CaptionerRecipe, data: TrainingData, folder: Path, report: Report) -> None:
        self.recipe, self.data, self.folder, self.report = recipe, data, folder, report
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(recipe.seed)
            self.model = Captioner(data.words, recipe.architecture, data.features.shape[1], recipe.width)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=recipe.learning_rate)
        self.step = 0
        self.recent: list[float] = []

    def run(self, resume: bool) -> Path:
        """Train all stages and return the folder of the last one."""
        if resume:
            self._resume()
        if not self.step:
            (self.folder / "curve.jsonl").write_text("", encoding="utf-8")
        stages = self.recipe.stages
        per_epoch = self.recipe.steps_per_epoch
        while self.step < stages[-1]:
            epoch = self.step // per_epoch
            for batch in self._batches(epoch)[self.step % per_epoch :]:
                self._update(batch)
                if self.step % LOGGED == 0:
                    self._log({"step": self.step, "epoch": epoch + 1, "loss": round(float(np.mean(self.recent)), 5)})
                    self.recent.clear()
                if self.step in stages:
                    self._save(stages.index(self.step) + 1, epoch + 1)
        return stage_folder(self.folder, len(stages))

    def _batches(self, epoch: int) -> list[list[tuple[int, tuple[int, ...]]]]:
        """Return all captions in batches of similar length, in an order that depends on the seed and the epoch only."""
        rng = np.random.default_rng([self.recipe.seed, 1, epoch])
        captions, size = self.data.captions, self.recipe.batch
        order = np.argsort(np.array([len(ids) for _, ids in captions]) + rng.random(len(captions)), kind="stable")
        starts = rng.permutation(np.arange(0, len(order), size))
        return [[captions[i] for i in order[start : start + size].tolist()] for start in starts.tolist()]

    def _update(self, batch: Sequence[tuple[int, tuple[int, ...]]]) -> None:
        """Take one optimiser step; raise :class:`HarnessError` if the loss is not finite."""
        loss, _ = caption_loss(self.model, self.data.features, batch)
        self.step += 1
        if not bool(torch.isfinite(loss)):
            raise HarnessError(f"captioner: the loss is {loss.item()} at step {self.step}; lower the learning rate")
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimizer.step()
        self.recent.append(loss.item())

    # ------------------------------------------------------------------ files
    def _log(self, row: dict[str, Any]) -> None:
        with (self.folder / "curve.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self.report(row)

    def _save(self, stage: int, epoch: int) -> None:
        """Save a stage, the state of the training, and a line of the curve."""
        row = {"stage": stage, "step": self.step, "epoch": epoch, "perplexity": self._perplexity()}
        settings = {**asdict(self.recipe), "model": "captioner", "source": self.data.source, **row}
        self.model.save(stage_folder(self.folder, stage), settings, force=True)
        self._save_state()
        self._log(row)

    def _perplexity(self) -> float | None:
        """Return exp of the mean negative log-probability of a held-out token, END counted; None without held-out captions."""
        if not self.data.held_out:
            return None
        total = tokens = 0.0
        with torch.inference_mode():
            for start in range(0, len(self.data.held_out), 256):
                loss, count = caption_loss(self.model, self.data.features, self.data.held_out[start : start + 256])
                total, tokens = total + loss.item() * count, tokens + count
        return round(math.exp(total / tokens), 5)

    def _save_state(self) -> None:
        safetensors = require("safetensors.torch", extra="models", needed_by="training a captioner")
        tensors = {f"model.{key}": value for key, value in self.model.state_dict().items()}
        for number, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{number}.{key}": value for key, value in state.items()}
        meta = {"step": self.step, "recent": self.recent, "recipe": asdict(self.recipe)}
        partial = self.folder / "state.partial"
        safetensors.save_file(
            {k: v.detach().contiguous() for k, v in tensors.items()}, str(partial), {"captioner": json.dumps(meta)}
        )
        partial.replace(self.folder / "state.safetensors")

    def _resume(self) -> None:
        """Load the saved state, if there is one."""
        path = self.folder / "state.safetensors"
        if not path.is_file():
            return
        from safetensors import safe_open

        with safe_open(str(path), "pt") as file:
            meta = json.loads((file.metadata() or {}).get("captioner", "{}"))
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (no mapping)
        if "recipe" not in meta:
            raise InputError("not the state of a captioner's training", str(path))
        settings = json.loads(json.dumps(asdict(self.recipe)))
        other = next((key for key in settings if key != "epochs" and settings[key] != meta["recipe"].get(key)), None)
        if other is not None:
            raise InputError(
                f"the run has {other} = {meta['recipe'].get(other)!r}, not {settings[other]!r}: resume with the same settings",
                str(path),
            )
        if meta["step"] not in self.recipe.stages:
            raise InputError(
                f"the run stopped at step {meta['step']}, which is not a stage of {settings['epochs']} epochs",
                str(path),
            )
        self.model.load_state_dict({k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")})
        state: dict[int, dict[str, torch.Tensor]] = {}
        for key, value in tensors.items():
            if key.startswith("adam."):
                _, number, part = key.split(".")
                state.setdefault(int(number), {})[part] = value
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})
        self.step, self.recent = meta["step"], list(meta["recent"])
        self._cut_curve()

    def _cut_curve(self) -> None:
        """Remove the lines of the curve after the saved step."""
        path = self.folder / "curve.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        lines = [line for line in lines if json.loads(line)["step"] <= self.step]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def caption_loss(
    model: Captioner, features: torch.Tensor, batch: Sequence[tuple[int, tuple[int, ...]]]
) -> tuple[torch.Tensor, int]:
    """Return the mean negative log-probability of the tokens of captions, END counted, and their number.

    Parameters
    ----------
    model
        Captioner.
    features
        Image features (scenes, F).
    batch
        (row of ``features``, word ids with END) of each caption.
    """
    width = max(len(ids) for _, ids in batch)
    inputs = torch.full((len(batch), width), END)
    targets = torch.full((len(batch), width), IGNORED)
    for row, (_, ids) in enumerate(batch):
        inputs[row, : len(ids)] = targets[row, : len(ids)] = torch.tensor(ids)
    logits = model(features[[row for row, _ in batch]], inputs)
    loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
    return loss, sum(len(ids) for _, ids in batch)
