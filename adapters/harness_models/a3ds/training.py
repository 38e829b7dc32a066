"""Training of the A3DS agents: pre-training (``baseline``), then the reference game
with random (``rp``) or similar pairs (``sp``).

A run folder holds ``curve.jsonl`` (one line per 20 batches and per epoch), ``state.pt``
(float32 weights, Adam's moments, number of epochs: all that ``resume`` needs),
``epochs/`` (the agents after each epoch), and at the end ``speaker.safetensors`` and
``listener.safetensors``. The random numbers of an epoch depend on the seed and the
epoch only, so a resumed run gives the same weights as an uninterrupted one.

Image features are standardised in training. Mean and standard deviation are folded into
the projections of the saved agents, which take unstandardised features.

The shared loop (:mod:`harness_models.shared.training.loop`) is not used: the game
trains two agents with two optimisers, draws its random numbers from a generator per
epoch, and saves the agents after every epoch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from harness.errors import HarnessError, InputError
from harness_models.a3ds.games import Games, batches, draw_games
from harness_models.a3ds.losses import play, sample_messages, structural_loss
from harness_models.a3ds.model import Listener, ListenerSizes, Speaker, SpeakerSizes
from harness_models.a3ds.vocabulary import WORDS
from harness_models.shared.training.loop import (
    STATE,
    Report,
    plain_settings,
    resume_state,
    save_state,
    take_step,
)
from harness_tasks.a3ds import pixels

Stage = Literal["baseline", "rp", "sp"]
SHIPPED = Path(__file__).parent / "checkpoints"
"""Folder of the shipped checkpoints."""
PAPER_SIZE = {
    "images": 30_000,
    "captions": 5,
    "hidden": 512,
    "visual": 512,
    "embed": 512,
}
"""Values of ``--paper-size``."""


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """Stage, data, sizes and optimisation of a training; the defaults are the reduced
    size of the shipped checkpoints.
    """

    stage: Stage
    """Stage of the training: baseline, rp or sp."""
    output: str
    """Folder of the run."""
    images: int = 12_000
    """Number of random training images (the paper: 30,000)."""
    captions: int = 5
    """Number of captions of each image; each caption is a game."""
    kind: Literal["exhaustive", "short"] = "exhaustive"
    """Kind of captions: exhaustive ones name all six features (the paper),
    short ones two or three.
    """
    epochs: int = 10
    """Number of epochs (the paper: 10 for the baseline, 5 for the game)."""
    seed: int = 1
    batch: int = 64
    learning_rate: float = 1e-3
    hidden: int = 256
    """Width of both LSTMs (the paper: 512)."""
    visual: int = 128
    """Width of a projected image in the speaker (the paper: 512)."""
    embed: int = 64
    """Width of a word (the paper: 512)."""
    structural: float = 0.75
    """Weight of the structural loss in the game;
    the weight of the functional loss is the rest to 1.
    """
    entropy: float = 0.1
    """Weight of the entropy in the game."""
    forcing_decay: float = 1.0
    """Pre-training reads the reference with probability decay^(epoch - 1), else a
    sample (the paper: 0.5; 1: always the reference).
    """
    speaker: str | None = None
    """Checkpoint of a baseline from which the game starts (None: the shipped one)."""
    listener: str | None = None
    """Checkpoint of a listener from which the game starts (None: random weights)."""
    bfloat16: bool = False
    """Compute matrix products in bfloat16; weights, moments and losses remain float32.
    """
    features: Any = "efficientnet-lite0"
    """Image features as :func:`harness_tasks.a3ds.pixels.features` takes them."""
    pictures: str | None = None
    """Path of 3dshapes.h5 (None: the renderer)."""


def train(
    plan: TrainingPlan, *, resume: bool = False, report: Report | None = None
) -> Path:
    """Train a stage and return the path of its speaker.

    Parameters
    ----------
    plan
        Stage, data, sizes and optimisation.
    resume
        If true, continue after the last epoch of the run in ``plan.output``.
    report
        Function that gets each line of the learning curve.

    Raises
    ------
    HarnessError
        If a value of the plan is out of range, or the folder holds the state of another
        plan.
    InputError
        If a checkpoint does not exist or does not fit the image features.
    """
    _check(plan)
    source = pixels.features(plan.features, plan.pictures)
    games = draw_games(
        images=plan.images,
        captions=plan.captions,
        pairing="similar" if plan.stage == "sp" else "random",
        source=source,
        seed=plan.seed,
        kind=plan.kind,
    )
    return _A3dsTraining(plan, games, source.name, report).run(resume)


def _check(plan: TrainingPlan) -> None:
    if plan.stage not in ("baseline", "rp", "sp"):
        raise HarnessError(f"unknown stage '{plan.stage}': expected baseline, rp or sp")
    for name in ("epochs", "batch", "hidden", "visual", "embed"):
        if getattr(plan, name) < 1:
            raise HarnessError(
                f"training: {name} must be at least 1, found {getattr(plan, name)}"
            )
    if not 0 <= plan.structural <= 1:
        raise HarnessError(
            f"training: structural must lie in [0, 1], found {plan.structural}"
        )


class _A3dsTraining:
    """Agents, optimisers and files of one training."""

    def __init__(
        self, plan: TrainingPlan, games: Games, source: str, report: Report | None
    ) -> None:
        self.plan = plan
        self.games = games
        self.source = source
        self.report = report
        self.output = Path(plan.output)

        table = games.table.float()
        self.mean = table.mean(0)
        self.deviation = table.std(0).clamp_min(1e-2 * table.std().item())

        torch.manual_seed(plan.seed)
        width = table.shape[1]
        self.listener = Listener(
            ListenerSizes(len(WORDS), plan.embed, plan.hidden, width)
        )
        if plan.stage == "baseline":
            self.speaker = Speaker(
                SpeakerSizes(len(WORDS), plan.embed, plan.visual, plan.hidden, width)
            )
        else:
            self.speaker = self._start(
                Speaker.load(plan.speaker or SHIPPED / "baseline.speaker.safetensors"),
                width,
            )
            if plan.listener is not None:
                self.listener = Listener.load(plan.listener)
                self._unfold(self.listener.encoder.embed)
        # word vectors stay random, as in the authors' code
        self.listener.rnn.embed.weight.requires_grad_(False)

        self.optimisers = {
            "speaker": torch.optim.Adam(self.speaker.parameters(), plan.learning_rate),
            "listener": torch.optim.Adam(
                [p for p in self.listener.parameters() if p.requires_grad],
                plan.learning_rate,
            ),
        }
        self.step = 0

    def _start(self, speaker: Speaker, width: int) -> Speaker:
        """Return the speaker with standardised inputs; raise :class:`InputError` if it
        does not fit the image features.
        """
        if speaker.sizes.features != width:
            raise InputError(
                f"the speaker takes {speaker.sizes.features} features an image, "
                f"'{self.source}' gives {width}",
                str(self.plan.speaker or "the shipped baseline"),
            )

        trained_on = speaker.meta.get("features")
        if trained_on not in (None, self.source):
            raise InputError(
                f"the speaker was trained on '{trained_on}', not on '{self.source}'",
                str(self.plan.speaker),
            )
        self._unfold(speaker.project)
        return speaker

    @torch.no_grad()
    def _unfold(self, layer: torch.nn.Linear) -> None:
        """Change a layer that takes unstandardised features into one that takes
        standardised features.
        """
        layer.bias.add_(layer.weight @ self.mean)
        layer.weight.mul_(self.deviation)

    @contextmanager
    def _fold_features(self) -> Iterator[None]:
        """Make the agents take unstandardised features within the context."""
        layers = (self.speaker.project, self.listener.encoder.embed)
        weights = [
            (layer.weight.detach().clone(), layer.bias.detach().clone())
            for layer in layers
        ]
        with torch.no_grad():
            for layer in layers:
                layer.weight.div_(self.deviation)
                layer.bias.sub_(layer.weight @ self.mean)
        yield

        # The training goes on with the same weights, to the last bit.
        with torch.no_grad():
            for layer, (weight, bias) in zip(layers, weights):
                layer.weight.copy_(weight)
                layer.bias.copy_(bias)

    def run(self, resume: bool) -> Path:
        """Train all epochs and return the path of the speaker."""
        self.output.mkdir(parents=True, exist_ok=True)
        completed = self._resume() if resume else 0
        if not completed:
            (self.output / "curve.jsonl").write_text("")

        self.speaker.train()
        self.listener.train()
        for epoch in range(completed + 1, self.plan.epochs + 1):
            self._epoch(epoch)
            with self._fold_features():
                self._save(self.output / "epochs", f"{epoch:03d}.", epoch)
            self._save_state(epoch)

        with self._fold_features():
            return self._save(self.output, "", self.plan.epochs)

    def _epoch(self, epoch: int) -> None:
        random = np.random.default_rng([self.plan.seed, epoch])
        generator = torch.Generator().manual_seed(int(random.integers(2**62)))
        totals: list[dict[str, float]] = []
        for features, captions in batches(self.games, self.plan.batch, random):
            features = (features - self.mean) / self.deviation
            with torch.autocast("cpu", torch.bfloat16, enabled=self.plan.bfloat16):
                if self.plan.stage == "baseline":
                    row = self._supervise(features, captions, epoch, generator)
                else:
                    row = self._game(features, captions, epoch, generator)
            totals.append(row)

            self.step += 1
            if self.step % 20 == 0:
                recent = totals[-20:]
                self._log({"epoch": epoch, "step": self.step, **_mean(recent)})

        self._log(
            {"epoch": epoch, "step": self.step, "whole_epoch": True, **_mean(totals)}
        )

    def _supervise(
        self,
        features: torch.Tensor,
        captions: torch.Tensor,
        epoch: int,
        generator: torch.Generator,
    ) -> dict[str, float]:
        share = self.plan.forcing_decay ** (epoch - 1)
        sample = None
        if torch.rand((), generator=generator).item() >= share:
            length = captions.shape[1] - 1
            sample = sample_messages(self.speaker, features, length, generator)

        loss = structural_loss(self.speaker, features, captions, sample)
        self._update("speaker", loss)
        return {"structural": loss.item()}

    def _game(
        self,
        features: torch.Tensor,
        captions: torch.Tensor,
        epoch: int,
        generator: torch.Generator,
    ) -> dict[str, float]:
        played = play(
            self.speaker,
            self.listener,
            features,
            captions,
            generator,
            structural_weight=self.plan.structural,
            entropy_weight=self.plan.entropy,
        )

        self._update("speaker", played.speaker)
        self._update("listener", played.listener)

        row = {
            name: getattr(played, name)
            for name in ("structural", "functional", "entropy", "accuracy", "length")
        }
        return {**row, "listener": played.listener.item()}

    def _update(self, name: str, loss: torch.Tensor) -> None:
        """Take one optimiser step for an agent;
        raise :class:`HarnessError` if the loss is not finite.
        """
        message = (
            f"training: the {name}'s loss is %s at step {self.step + 1}; "
            "lower the learning rate"
        )
        take_step(self.optimisers[name], loss, 5.0, message)

    def _log(self, row: dict[str, Any]) -> None:
        with (self.output / "curve.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")
        if self.report is not None:
            self.report(row)

    def _save(self, folder: Path, prefix: str, epoch: int) -> Path:
        """Save the agents and return the path of the speaker."""
        meta = {
            "stage": self.plan.stage,
            "epoch": epoch,
            "features": self.source,
            "plan": _settings(self.plan),
        }
        self.speaker.save(folder / f"{prefix}speaker.safetensors", **meta)
        if self.plan.stage != "baseline":
            self.listener.save(folder / f"{prefix}listener.safetensors", **meta)
        return folder / f"{prefix}speaker.safetensors"

    def _save_state(self, epoch: int) -> None:
        agents = {
            "speaker": self.speaker.state_dict(),
            "listener": self.listener.state_dict(),
        }
        optimisers = {
            name: optimiser.state_dict() for name, optimiser in self.optimisers.items()
        }
        state = {"epoch": epoch, "step": self.step, "settings": _settings(self.plan)}
        save_state(
            self.output / STATE, {**state, "agents": agents, "optimisers": optimisers}
        )

    def _resume(self) -> int:
        """Load the saved state and return its number of epochs, 0 without a state."""
        path = self.output / STATE
        if not path.is_file():
            return 0
        state = resume_state(path, _settings(self.plan))
        for name, agent in (("speaker", self.speaker), ("listener", self.listener)):
            agent.load_state_dict(state["agents"][name])
            self.optimisers[name].load_state_dict(state["optimisers"][name])
        self.step = state["step"]
        return state["epoch"]


def _settings(plan: TrainingPlan) -> dict[str, Any]:
    """Return the values of the plan, without the folder,
    which does not change the weights.
    """
    return plain_settings(asdict(plan) | {"output": None})


def _mean(rows: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each number over the rows, rounded to 5 decimals."""
    return {
        key: round(float(np.mean([row[key] for row in rows])), 5) for key in rows[0]
    }
