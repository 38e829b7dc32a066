"""Training of TVT by cross-entropy with teacher forcing; deterministic on a CPU, resumable after any epoch, logged.

A run directory holds ``curve.jsonl`` (one line per epoch), ``state.pt`` (weights, optimiser, finished epochs: all that ``resume``
needs), and at the end ``model.safetensors`` and ``config.json`` (sizes, words, features, recipe). Every epoch has random numbers
of its own, so that a resumed run gives the same weights as an uninterrupted one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from harness.adapters.checkpoints import save_checkpoint
from harness.adapters.tvt.data import SceneViews, Views, WordList, collate, open_views
from harness.adapters.tvt.model import BOS, EOS, PAD, Tvt, TvtSizes
from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness.seeds import derive

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, kw_only=True)
class TvtRecipe:
    """What is trained and how; the defaults are the seed paper's (appendix A.3)."""

    features: Mapping[str, Any]
    """``{view: file}``, ``{semsynan: file}`` or ``{scenes: {...}}``."""
    captions: str | None = None
    """JSON file of example id -> captions. For scenes, leave it out."""
    scenes: int = 0
    """Rendered scenes to train on, in place of ``captions``."""
    captions_each: int = 5
    """Captions taken of each scene."""
    kind: str = "short"
    """Kind of the scenes' captions: short or exhaustive."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """Sizes of the model (width, heads, encoder_layers, ...)."""
    epochs: int = 300
    batch: int = 64
    learning_rate: float = 3e-4
    weight_decay: float = 1e-5
    decay: float = 0.99
    """The learning rate is multiplied by this after each epoch."""
    least_count: int = 1
    """Words seen less often are unknown."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    seed: int = 1

    def __post_init__(self) -> None:
        if (self.captions is None) == (self.scenes < 1):
            raise HarnessError("tvt: give either captions (a JSON file) or scenes (a number)")
        if self.epochs < 1 or self.batch < 1:
            raise HarnessError(f"tvt: epochs and batch are at least 1; found {self.epochs} and {self.batch}")


def train(recipe: TvtRecipe, output: str | Path, *, resume: bool = False, report: Report | None = None) -> Path:
    """Train and save; gives the path of the weights. Raises :class:`HarnessError` when the folder holds another run."""
    trainer = _Trainer(recipe, Path(output), resume)
    while trainer.epoch < recipe.epochs:
        row = trainer.run_epoch()
        if report:
            report(row)
    return trainer.finish()


class _Trainer:
    def __init__(self, recipe: TvtRecipe, folder: Path, resume: bool) -> None:
        self.recipe, self.folder, self.epoch = recipe, folder, 0
        self.views: Views = open_views(recipe.features)
        self.pairs = _pairs(recipe)
        self.words = WordList.of((caption for _, caption in self.pairs), recipe.least_count)
        self.rows = self._read()
        self.tokens = [[BOS, *self.words.encode(caption), EOS] for _, caption in self.pairs]
        longest = max(map(len, self.tokens))
        sizes = {"max_length": longest - 1, **recipe.model}
        torch.manual_seed(derive(recipe.seed, "tvt") % 2**63)
        self.model = Tvt(TvtSizes(views=self.views.widths, vocabulary=len(self.words), **sizes))
        self._standardise()
        self.optimiser = torch.optim.Adam(
            self.model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
        )
        self._open(resume)

    def _read(self) -> dict[str, dict[str, np.ndarray]]:
        ids = list(dict.fromkeys(name for name, _ in self.pairs))
        if isinstance(self.views, SceneViews):
            self.views.fetch(int(name) for name in ids)
        return {name: self.views.read(Example(name, ("-",))) for name in ids}

    def _standardise(self) -> None:
        for name, into in self.model.views.items():
            frames = torch.from_numpy(np.concatenate([row[name] for row in self.rows.values()]))
            into.mean.copy_(frames.mean(0))  # type: ignore[union-attr, operator]
            into.deviation.copy_(frames.std(0).clamp(min=1e-4))  # type: ignore[union-attr, operator]

    def _open(self, resume: bool) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path, told = self.folder / "state.pt", self._told()
        if not path.exists():
            (self.folder / "curve.jsonl").write_text("")
            return
        if not resume:
            raise HarnessError(f"{self.folder} holds a run already; choose another folder or say --resume")
        state = torch.load(path, weights_only=True)
        if state["recipe"] != told:
            raise HarnessError(f"{self.folder} holds a run of another recipe; choose another folder")
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.epoch = int(state["epoch"])
        lines = (self.folder / "curve.jsonl").read_text().splitlines()[: self.epoch]
        (self.folder / "curve.jsonl").write_text("".join(line + "\n" for line in lines))

    def _told(self) -> str:
        """The recipe without its length, so that a finished run can be trained further."""
        told = {name: value for name, value in asdict(self.recipe).items() if name != "epochs"}
        return json.dumps(told, sort_keys=True)

    def run_epoch(self) -> dict[str, Any]:
        """One pass over all pairs, shuffled; the state is on disk afterwards."""
        recipe = self.recipe
        seed = derive(recipe.seed, "epoch", self.epoch)
        torch.manual_seed(seed % 2**63)
        for group in self.optimiser.param_groups:
            group["lr"] = recipe.learning_rate * recipe.decay**self.epoch
        order = np.random.default_rng(seed).permutation(len(self.pairs))
        self.model.train()
        loss, count = 0.0, 0
        for start in range(0, len(order), recipe.batch):
            part, words = self._step([int(i) for i in order[start : start + recipe.batch]])
            loss, count = loss + part, count + words
        self.epoch += 1
        row = {
            "epoch": self.epoch,
            "loss": loss / count,
            "learning_rate": recipe.learning_rate * recipe.decay ** (self.epoch - 1),
        }
        with (self.folder / "curve.jsonl").open("a") as log:
            log.write(json.dumps(row) + "\n")
        state = {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "epoch": self.epoch,
            "recipe": self._told(),
        }
        torch.save(state, self.folder / "state.pt.part")
        os.replace(self.folder / "state.pt.part", self.folder / "state.pt")
        return row

    def _step(self, batch: list[int]) -> tuple[float, int]:
        views, masks = collate([self.rows[self.pairs[i][0]] for i in batch])
        longest = max(len(self.tokens[i]) for i in batch)
        tokens = torch.full((len(batch), longest), PAD)
        for row, i in zip(tokens, batch):
            row[: len(self.tokens[i])] = torch.tensor(self.tokens[i])
        logits = self.model(tokens[:, :-1], views, masks)
        goal = tokens[:, 1:]
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), goal.reshape(-1), ignore_index=PAD)
        if not bool(torch.isfinite(loss)):
            raise HarnessError(f"tvt: the loss is {float(loss)} in epoch {self.epoch + 1}; lower learning_rate")
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self.optimiser.step()
        words = int((goal != PAD).sum())
        return float(loss.detach()) * words, words

    def finish(self) -> Path:
        settings = {
            **self.model.settings(), "words": self.words.words, "features": dict(self.recipe.features),
            "recipe": asdict(self.recipe), "epochs": self.epoch,
        }  # fmt: skip
        return save_checkpoint(self.model.state_dict(), settings, self.folder, force=True)


def _pairs(recipe: TvtRecipe) -> list[tuple[str, str]]:
    """(example id, caption) of the training set."""
    if recipe.captions is None:
        return _scene_pairs(recipe)
    path = Path(recipe.captions)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError("no such file of captions", str(path)) from error
    except ValueError as error:
        raise InputError(f"not valid JSON ({error})", str(path)) from error
    if not isinstance(data, dict) or not data or not all(isinstance(v, list) for v in data.values()):
        raise InputError("expected a mapping of example ids to lists of captions", str(path))
    return [(str(name), str(caption)) for name, captions in data.items() for caption in captions]


def _scene_pairs(recipe: TvtRecipe) -> list[tuple[str, str]]:
    from harness.tasks.a3ds.scene import N_SCENES, captions

    random = np.random.default_rng(derive(recipe.seed, "scenes"))
    chosen = random.choice(N_SCENES, size=recipe.scenes, replace=False)
    pairs = []
    for scene in chosen.tolist():
        known = captions(scene, recipe.kind)  # type: ignore[arg-type]
        take = random.permutation(len(known))[: recipe.captions_each]
        pairs += [(str(scene), known[i]) for i in take.tolist()]
    return pairs
