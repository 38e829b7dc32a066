"""Training of the A3DS agents: supervised pre-training (``baseline``), then the reference game with random (``rp``) or similar
pairs (``sp``).

A run directory holds ``curve.jsonl`` (one line per 20 batches and per epoch), ``state.safetensors`` + ``state.json`` (all that
``resume`` needs: float32 weights, Adam's moments, finished epochs), ``epochs/`` (the agents after each epoch) and at the end
``speaker.safetensors`` and ``listener.safetensors``. Every epoch has random numbers of its own, so a resumed run gives the
same weights as an uninterrupted one.

Image features are standardised while training; mean and deviation are folded into the agents' projections when saved, so that
stored agents take the features as they come.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from harness.adapters.a3ds.model import Listener, ListenerSizes, Speaker, SpeakerSizes
from harness.adapters.a3ds.games import Games, batches, draw_games
from harness.adapters.a3ds.losses import play, sample_messages, structural_loss
from harness.adapters.a3ds.vocabulary import WORDS
from harness.errors import HarnessError, InputError
from harness.tasks.a3ds import pixels

Stage = Literal["baseline", "rp", "sp"]
Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """What is trained and how; the defaults are the reduced size of the shipped checkpoints."""

    stage: Stage
    output: str
    images: int = 12_000
    """Random training images (the paper: 30,000)."""
    captions: int = 5
    """Captions of each image; every one is a game."""
    kind: Literal["exhaustive", "short"] = "exhaustive"
    """Captions that name all six features (the paper), or two to four of them."""
    epochs: int = 10
    """The paper: 10 for the baseline, 5 for the game."""
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
    """Weight of the structural loss in the game; the functional loss has the rest."""
    entropy: float = 0.1
    forcing_decay: float = 1.0
    """Pre-training reads the reference with probability decay^(epoch - 1), else own samples (the paper: 0.5; 1: always)."""
    speaker: str | None = None
    """Where the game starts: a baseline's checkpoint (None: the shipped one)."""
    listener: str | None = None
    """A listener to start from (None: a new one)."""
    features: Any = "efficientnet-lite0"
    pictures: str | None = None


SHIPPED = Path(__file__).parent / "checkpoints"
PAPER_SIZE = {"images": 30_000, "captions": 5, "hidden": 512, "visual": 512, "embed": 512}
"""What ``--paper-size`` sets."""


def train(plan: TrainingPlan, *, resume: bool = False, report: Report | None = None) -> Path:
    """Train a stage and return the path of its speaker; ``report`` gets each line of the learning curve.

    Raises :class:`HarnessError` for a plan that cannot work and when ``resume`` finds another plan's state.
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
    return _Trainer(plan, games, source.name, report).run(resume)


def _check(plan: TrainingPlan) -> None:
    if plan.stage not in ("baseline", "rp", "sp"):
        raise HarnessError(f"unknown stage '{plan.stage}': expected baseline, rp or sp")
    for name in ("epochs", "batch", "hidden", "visual", "embed"):
        if getattr(plan, name) < 1:
            raise HarnessError(f"training: {name} must be at least 1, found {getattr(plan, name)}")
    if not 0 <= plan.structural <= 1:
        raise HarnessError(f"training: structural must lie in [0, 1], found {plan.structural}")


class _Trainer:
    def __init__(self, plan: TrainingPlan, games: Games, source: str, report: Report | None) -> None:
        self.plan, self.games, self.source, self.report = plan, games, source, report
        self.output = Path(plan.output)
        table = games.table.float()
        self.mean, self.deviation = table.mean(0), table.std(0).clamp_min(1e-2 * table.std().item())
        torch.manual_seed(plan.seed)
        width = table.shape[1]
        self.listener = Listener(ListenerSizes(len(WORDS), plan.embed, plan.hidden, width))
        if plan.stage == "baseline":
            self.speaker = Speaker(SpeakerSizes(len(WORDS), plan.embed, plan.visual, plan.hidden, width))
        else:
            self.speaker = self._start(Speaker.load(plan.speaker or SHIPPED / "baseline.speaker.safetensors"), width)
            if plan.listener is not None:
                self.listener = Listener.load(plan.listener)
                self._unfold(self.listener.encoder.embed)
        self.listener.rnn.embed.weight.requires_grad_(False)  # as in the original: word vectors stay random
        self.optimisers = {
            "speaker": torch.optim.Adam(self.speaker.parameters(), plan.learning_rate),
            "listener": torch.optim.Adam(
                [p for p in self.listener.parameters() if p.requires_grad], plan.learning_rate
            ),
        }
        self.step = 0

    def _start(self, speaker: Speaker, width: int) -> Speaker:
        if speaker.sizes.features != width:
            raise InputError(
                f"the speaker takes {speaker.sizes.features} features an image, '{self.source}' gives {width}",
                str(self.plan.speaker or "the shipped baseline"),
            )
        trained_on = speaker.meta.get("features")
        if trained_on not in (None, self.source):
            raise InputError(
                f"the speaker was trained on '{trained_on}', not on '{self.source}'", str(self.plan.speaker)
            )
        self._unfold(speaker.project)
        return speaker

    # ------------------------------------------------------------------ standardised features
    @torch.no_grad()
    def _unfold(self, layer: torch.nn.Linear) -> None:
        layer.bias.add_(layer.weight @ self.mean)
        layer.weight.mul_(self.deviation)

    @contextmanager
    def _folded(self) -> Iterator[None]:
        """While inside, the agents take features as they come."""
        layers = (self.speaker.project, self.listener.encoder.embed)
        kept = [(layer.weight.detach().clone(), layer.bias.detach().clone()) for layer in layers]
        with torch.no_grad():
            for layer in layers:
                layer.weight.div_(self.deviation)
                layer.bias.sub_(layer.weight @ self.mean)
        yield
        with torch.no_grad():
            for layer, (weight, bias) in zip(layers, kept):
                layer.weight.copy_(weight)
                layer.bias.copy_(bias)

    # ------------------------------------------------------------------ epochs
    def run(self, resume: bool) -> Path:
        self.output.mkdir(parents=True, exist_ok=True)
        done = self._resume() if resume else 0
        if not done:
            (self.output / "curve.jsonl").write_text("")
        self.speaker.train()
        for epoch in range(done + 1, self.plan.epochs + 1):
            self._epoch(epoch)
            with self._folded():
                self._save(self.output / "epochs", f"{epoch:03d}.", epoch)
            self._keep(epoch)
        with self._folded():
            return self._save(self.output, "", self.plan.epochs)

    def _epoch(self, epoch: int) -> None:
        random = np.random.default_rng([self.plan.seed, epoch])
        generator = torch.Generator().manual_seed(int(random.integers(2**62)))
        totals: list[dict[str, float]] = []
        for features, captions in batches(self.games, self.plan.batch, random):
            features = (features - self.mean) / self.deviation
            row = (self._supervised if self.plan.stage == "baseline" else self._game)(
                features, captions, epoch, generator
            )
            totals.append(row)
            self.step += 1
            if self.step % 20 == 0:
                recent = totals[-20:]
                self._log({"epoch": epoch, "step": self.step, **_mean(recent)})
        self._log({"epoch": epoch, "step": self.step, "whole_epoch": True, **_mean(totals)})

    def _supervised(
        self, features: torch.Tensor, captions: torch.Tensor, epoch: int, generator: torch.Generator
    ) -> dict[str, float]:
        forced = torch.rand((), generator=generator).item() < self.plan.forcing_decay ** (epoch - 1)
        own = None if forced else sample_messages(self.speaker, features, captions.shape[1] - 1, generator)
        loss = structural_loss(self.speaker, features, captions, own)
        self._update("speaker", loss)
        return {"structural": loss.item()}

    def _game(
        self, features: torch.Tensor, captions: torch.Tensor, epoch: int, generator: torch.Generator
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
        row = {name: getattr(played, name) for name in ("structural", "functional", "entropy", "accuracy", "length")}
        return {**row, "listener": played.listener.item()}

    def _update(self, name: str, loss: torch.Tensor) -> None:
        if not bool(torch.isfinite(loss)):
            raise HarnessError(
                f"training: the {name}'s loss is {loss.item()} at step {self.step + 1}; lower the learning rate"
            )
        optimiser = self.optimisers[name]
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for group in optimiser.param_groups for p in group["params"]], 5.0)
        optimiser.step()

    # ------------------------------------------------------------------ files
    def _log(self, row: dict[str, Any]) -> None:
        with (self.output / "curve.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")
        if self.report is not None:
            self.report(row)

    def _save(self, folder: Path, prefix: str, epoch: int) -> Path:
        meta = {"stage": self.plan.stage, "epoch": epoch, "features": self.source, "plan": _settings(self.plan)}
        self.speaker.save(folder / f"{prefix}speaker.safetensors", **meta)
        if self.plan.stage != "baseline":
            self.listener.save(folder / f"{prefix}listener.safetensors", **meta)
        return folder / f"{prefix}speaker.safetensors"

    def _tensors(self) -> dict[str, torch.Tensor]:
        agents = {"speaker": self.speaker, "listener": self.listener}
        out = {f"{name}.{key}": value for name, agent in agents.items() for key, value in agent.state_dict().items()}
        for name, optimiser in self.optimisers.items():
            for number, state in optimiser.state_dict()["state"].items():
                out |= {f"adam.{name}.{number}.{key}": value for key, value in state.items()}
        return out

    def _keep(self, epoch: int) -> None:
        from safetensors.torch import save_file

        partial = self.output / "state.partial"
        meta = {"epoch": epoch, "step": self.step, "plan": _settings(self.plan)}
        save_file(
            {key: value.contiguous() for key, value in self._tensors().items()}, partial, {"a3ds": json.dumps(meta)}
        )
        partial.replace(self.output / "state.safetensors")

    def _resume(self) -> int:
        """Take up the kept state; the number of finished epochs (0 without one)."""
        from safetensors import safe_open

        path = self.output / "state.safetensors"
        if not path.is_file():
            return 0
        with safe_open(str(path), "pt") as file:
            meta = json.loads(file.metadata()["a3ds"])
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (no mapping)
        ours = _settings(self.plan)
        other = next((key for key in ours if key != "epochs" and ours[key] != meta["plan"].get(key)), None)
        if other is not None:
            raise InputError(
                f"the run here has {other} = {meta['plan'].get(other)!r}, not {ours[other]!r}: resume with its settings",
                str(path),
            )
        for name, agent in (("speaker", self.speaker), ("listener", self.listener)):
            agent.load_state_dict({k: tensors[f"{name}.{k}"] for k in agent.state_dict()})
            optimiser = self.optimisers[name]
            state: dict[int, dict[str, torch.Tensor]] = {}
            for key, value in tensors.items():
                if key.startswith(f"adam.{name}."):
                    number, part = key.split(".")[2:]
                    state.setdefault(int(number), {})[part] = value
            optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
        self.step = meta["step"]
        return int(meta["epoch"])


def _settings(plan: TrainingPlan) -> dict[str, Any]:
    """The plan less what does not change the weights."""
    return asdict(replace(plan, output="")) | {"output": None}


def _mean(rows: list[dict[str, float]]) -> dict[str, float]:
    return {key: round(float(np.mean([row[key] for row in rows])), 5) for key in rows[0]}
