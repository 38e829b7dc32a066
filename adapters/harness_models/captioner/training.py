"""Training of the captioner.

The same recipe gives the same weights on the same machine, interrupted or not.

A run folder holds ``stage-001/``, ``stage-002/``, ... (``model.safetensors`` and
``config.json`` of each stage), ``curve.jsonl`` (a line per 20 steps, and one per stage
with the held-out perplexity) and ``state.pt`` (weights, Adam's moments and the step,
written after every stage: all that ``resume`` needs). The random numbers of an epoch
depend on the seed and the epoch only.

The shared loop (:mod:`harness_models.shared.training.loop`) is not used: stages end
within epochs, and batches hold captions of similar length, so the order of the batches,
and with it the trained weights, would change.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.errors import HarnessError, InputError
from harness_models.captioner.model import END, Captioner
from harness_models.captioner.recipe import CaptionerRecipe
from harness_models.captioner.training_data import TrainingData, training_data
from harness_models.shared.training.caption_tokens import IGNORED, pad_rows, token_loss
from harness_models.shared.training.loop import (
    STATE,
    Report,
    mean_perplexity,
    one_thread,
    plain_settings,
    resume_state,
    save_state,
    take_step,
)

LOGGED = 20
"""Number of steps between two lines of the curve."""


def stage_folder(folder: Path, stage: int) -> Path:
    """Return the folder of a stage, counted from 1, of the run in ``folder``."""
    return folder / f"stage-{stage:03d}"


def train(
    recipe: CaptionerRecipe,
    output: str | Path,
    *,
    resume: bool = False,
    report: Report = lambda row: None,
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
        raise HarnessError(
            f"{folder} holds a trained captioner already; "
            "choose another folder or resume it"
        )
    folder.mkdir(parents=True, exist_ok=True)
    # training can start within scoring
    with one_thread(), torch.inference_mode(False), torch.enable_grad():
        return _CaptionerTraining(recipe, training_data(recipe), folder, report).run(
            resume
        )


class _CaptionerTraining:
    """Model, optimiser and files of one training."""

    def __init__(
        self, recipe: CaptionerRecipe, data: TrainingData, folder: Path, report: Report
    ) -> None:
        self.recipe = recipe
        self.data = data
        self.folder = folder
        self.report = report
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(recipe.seed)
            self.model = Captioner(
                data.words, recipe.architecture, data.features.shape[1], recipe.width
            )

        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=recipe.learning_rate
        )
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
                    loss = round(float(np.mean(self.recent)), 5)
                    self._log({"step": self.step, "epoch": epoch + 1, "loss": loss})
                    self.recent.clear()

                if self.step in stages:
                    self._save(stages.index(self.step) + 1, epoch + 1)
        return stage_folder(self.folder, len(stages))

    def _batches(self, epoch: int) -> list[list[tuple[int, tuple[int, ...]]]]:
        """Return all captions in batches of similar length, in an order that depends on
        the seed and the epoch only.
        """
        rng = np.random.default_rng([self.recipe.seed, 1, epoch])
        captions = self.data.captions
        size = self.recipe.batch
        # Random fractions shuffle captions of equal length, and nothing else: batches
        # hold similar lengths, so little is padded.
        lengths = np.array([len(ids) for _, ids in captions])
        order = np.argsort(lengths + rng.random(len(captions)), kind="stable")

        starts = rng.permutation(np.arange(0, len(order), size))
        return [
            [captions[i] for i in order[start : start + size].tolist()]
            for start in starts.tolist()
        ]

    def _update(self, batch: Sequence[tuple[int, tuple[int, ...]]]) -> None:
        """Take one optimiser step; raise :class:`HarnessError` if the loss is not
        finite.
        """
        loss, _ = caption_loss(self.model, self.data.features, batch)
        self.step += 1
        message = (
            f"captioner: the loss is %s at step {self.step}; lower the learning rate"
        )
        take_step(self.optimizer, loss, 5.0, message)
        self.recent.append(loss.item())

    def _log(self, row: dict[str, Any]) -> None:
        with (self.folder / "curve.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self.report(row)

    def _save(self, stage: int, epoch: int) -> None:
        """Save a stage, the state of the training, and a line of the curve."""
        row = {
            "stage": stage,
            "step": self.step,
            "epoch": epoch,
            "perplexity": self._perplexity(),
        }

        settings = {
            **asdict(self.recipe),
            "model": "captioner",
            "source": self.data.source,
            **row,
        }
        self.model.save(stage_folder(self.folder, stage), settings, force=True)
        self._save_state()
        self._log(row)

    def _perplexity(self) -> float | None:
        """Return exp of the mean negative log-probability of a held-out token, END
        counted; None without held-out captions.
        """
        value = mean_perplexity(
            lambda batch: caption_loss(self.model, self.data.features, batch),
            self.data.held_out,
        )
        return None if value is None else round(value, 5)

    def _save_state(self) -> None:
        state = {
            "model": self.model.state_dict(),
            "optimiser": self.optimizer.state_dict(),
            "step": self.step,
            "recent": self.recent,
            "settings": plain_settings(asdict(self.recipe)),
        }
        save_state(self.folder / STATE, state)

    def _resume(self) -> None:
        """Load the saved state, if there is one."""
        path = self.folder / STATE
        if not path.is_file():
            return

        state = resume_state(path, asdict(self.recipe))
        if state["step"] not in self.recipe.stages:
            raise InputError(
                f"the run stopped at step {state['step']}, "
                f"which is not a stage of {self.recipe.epochs} epochs",
                str(path),
            )

        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimiser"])
        self.step = state["step"]
        self.recent = list(state["recent"])
        self._cut_curve()

    def _cut_curve(self) -> None:
        """Remove the lines of the curve after the saved step."""
        path = self.folder / "curve.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        lines = [line for line in lines if json.loads(line)["step"] <= self.step]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def caption_loss(
    model: Captioner,
    features: torch.Tensor,
    batch: Sequence[tuple[int, tuple[int, ...]]],
) -> tuple[torch.Tensor, int]:
    """Return the mean negative log-probability of the tokens of captions,
    END counted, and their number.

    Parameters
    ----------
    model
        Captioner.
    features
        Image features (scenes, F).
    batch
        (row of ``features``, word ids with END) of each caption.
    """
    tokens = [ids for _, ids in batch]
    logits = model(features[[row for row, _ in batch]], pad_rows(tokens, END))
    return token_loss(logits, pad_rows(tokens, IGNORED))
