"""Training of the captioner: the same recipe gives the same weights on the same machine, interrupted or not.

A run directory holds ``stage-001/``, ``stage-002/``, ... (``model.safetensors`` and ``config.json`` of each stage),
``curve.jsonl`` (a line per 20 steps, and one per stage with the held-out perplexity) and ``state.safetensors`` (weights, Adam's moments and
the step, written after every stage: all that ``resume`` needs). Every epoch has random numbers of its own.
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
from harness.adapters.captioner.training_data import Material, Recipe, material
from harness.errors import HarnessError, InputError, require

IGNORED = -100
LOGGED = 20
"""Steps between two lines of the curve."""
Report = Callable[[dict[str, Any]], None]


def stage_folder(folder: Path, stage: int) -> Path:
    """Where stage ``stage`` (counted from 1) of a run lies."""
    return folder / f"stage-{stage:03d}"


def train(recipe: Recipe, output: str | Path, *, resume: bool = False, report: Report = lambda row: None) -> Path:
    """Train into the folder ``output`` and return the last stage's folder; ``report`` gets each line of the curve.

    Raises :class:`HarnessError` when the folder holds a run already (unless ``resume``) or the loss is not finite, and
    :class:`InputError` when ``resume`` finds another recipe's state.
    """
    folder = Path(output)
    if not resume and stage_folder(folder, 1).exists():
        raise HarnessError(f"{folder} holds a trained captioner already; choose another folder or say --resume")
    folder.mkdir(parents=True, exist_ok=True)
    with _one_thread(), torch.inference_mode(False), torch.enable_grad():  # even when asked for in the midst of scoring
        return _Training(recipe, material(recipe), folder, report).run(resume)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums in one order whatever the number of cores; at this size more threads are no faster."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Training:
    def __init__(self, recipe: Recipe, data: Material, folder: Path, report: Report) -> None:
        self.recipe, self.data, self.folder, self.report = recipe, data, folder, report
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(recipe.seed)
            self.model = Captioner(data.words, recipe.architecture, data.features.shape[1], recipe.width)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=recipe.learning_rate)
        self.step = 0
        self.recent: list[float] = []

    def run(self, resume: bool) -> Path:
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
        """Every caption once, in batches of like length, in an order that depends on the seed and the epoch alone."""
        rng = np.random.default_rng([self.recipe.seed, 1, epoch])
        captions, size = self.data.captions, self.recipe.batch
        order = np.argsort(np.array([len(ids) for _, ids in captions]) + rng.random(len(captions)), kind="stable")
        starts = rng.permutation(np.arange(0, len(order), size))
        return [[captions[i] for i in order[start : start + size].tolist()] for start in starts.tolist()]

    def _update(self, batch: Sequence[tuple[int, tuple[int, ...]]]) -> None:
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
        row = {"stage": stage, "step": self.step, "epoch": epoch, "perplexity": self._perplexity()}
        settings = {**asdict(self.recipe), "model": "captioner", "source": self.data.source, **row}
        self.model.save(stage_folder(self.folder, stage), settings, force=True)
        self._keep()
        self._log(row)

    def _perplexity(self) -> float | None:
        """exp of the mean negative log-probability of a held-out token (END counted)."""
        if not self.data.held:
            return None
        total = tokens = 0.0
        with torch.inference_mode():
            for start in range(0, len(self.data.held), 256):
                loss, count = caption_loss(self.model, self.data.features, self.data.held[start : start + 256])
                total, tokens = total + loss.item() * count, tokens + count
        return round(math.exp(total / tokens), 5)

    def _keep(self) -> None:
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
        """Take up the kept state; without one the training begins anew."""
        path = self.folder / "state.safetensors"
        if not path.is_file():
            return
        from safetensors import safe_open

        with safe_open(str(path), "pt") as file:
            meta = json.loads((file.metadata() or {}).get("captioner", "{}"))
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (no mapping)
        if "recipe" not in meta:
            raise InputError("is no state of a captioner's training", str(path))
        ours = json.loads(json.dumps(asdict(self.recipe)))
        other = next((key for key in ours if key != "epochs" and ours[key] != meta["recipe"].get(key)), None)
        if other is not None:
            raise InputError(
                f"the run here has {other} = {meta['recipe'].get(other)!r}, not {ours[other]!r}: resume with its settings",
                str(path),
            )
        if meta["step"] not in self.recipe.stages:
            raise InputError(f"stopped at step {meta['step']}, which is no stage of {ours['epochs']} epochs", str(path))
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
        """Leave out the lines after the kept step; the line of the stage itself is there or comes with the state."""
        path = self.folder / "curve.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        kept = [line for line in lines if json.loads(line)["step"] <= self.step]
        path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def caption_loss(
    model: Captioner, features: torch.Tensor, batch: Sequence[tuple[int, tuple[int, ...]]]
) -> tuple[torch.Tensor, int]:
    """Mean negative log-probability of the tokens of (row of ``features``, ids) pairs, END counted, and their number."""
    width = max(len(ids) for _, ids in batch)
    inputs = torch.full((len(batch), width), END)
    targets = torch.full((len(batch), width), IGNORED)
    for row, (_, ids) in enumerate(batch):
        inputs[row, : len(ids)] = targets[row, : len(ids)] = torch.tensor(ids)
    logits = model(features[[row for row, _ in batch]], inputs)
    loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
    return loss, sum(len(ids) for _, ids in batch)
