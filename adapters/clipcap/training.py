"""Training of CLIPCap on image vectors and captions: the mapper and a GPT-2 that starts from nothing (no published weights needed).

Cross-entropy of the caption's tokens as in the paper (padding left out by a mask, not by token id). A byte-level BPE is trained on
the captions; each caption ends with the stop token ``.``, without which the model could not end. A run's folder holds what the
``clipcap`` adapter takes: model.safetensors, config.json, vocab.json, merges.txt; see :mod:`harness.adapters.training_loop` for
the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional as F

from harness.adapters.bpe import Gpt2Bpe
from harness.adapters.checkpoints import save_checkpoint
from harness.adapters.clipcap.model import ClipCap, ClipCapSizes
from harness.adapters.feature_files import FeatureFile
from harness.adapters.gpt2 import Gpt2Sizes
from harness.adapters.scenes import read_captions
from harness.adapters.training_loop import Loop, Pace, Report
from harness.contracts import Example
from harness.errors import HarnessError, require
from harness.seeds import derive

IGNORED = -100


@dataclass(frozen=True, kw_only=True)
class ClipCapRecipe:
    """What is trained and how."""

    features: str
    """File of image vectors by example id."""
    captions: str
    """JSON file of example id -> captions."""
    mapper: str = "mlp"
    """mlp | transformer."""
    prefix_length: int = 10
    model: Mapping[str, int] = field(default_factory=dict)
    """Sizes of GPT-2: width (256), layers (4), heads (4), positions (128), vocabulary of the BPE (1000)."""
    epochs: int = 10
    batch: int = 40
    learning_rate: float = 3e-4
    weight_decay: float = 0.0
    decay: float = 0.95
    clip: float = 1.0
    seed: int = 1

    def __post_init__(self) -> None:
        if self.mapper not in ("mlp", "transformer"):
            raise HarnessError(f"clipcap: mapper is mlp or transformer; found {self.mapper!r}")
        unknown = set(self.model) - {"width", "layers", "heads", "positions", "vocabulary"}
        if unknown:
            raise HarnessError(f"clipcap: unknown sizes {', '.join(sorted(unknown))}")


def train(recipe: ClipCapRecipe, output: str | Path, *, resume: bool = False, report: Report | None = None) -> Path:
    """Train and save; gives the path of the weights. Raises :class:`HarnessError` when the folder holds another run."""
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [(name, _ended(text)) for name, text in read_captions(recipe.captions)]
    file = FeatureFile(recipe.features)
    vectors = {name: torch.from_numpy(file.row(Example(name, ("-",))).reshape(-1)) for name in dict(pairs)}
    sizes = {"width": 256, "layers": 4, "heads": 4, "positions": 128, "vocabulary": 1000, **recipe.model}
    bpe = _trained_bpe([text for _, text in pairs], sizes["vocabulary"], folder)
    tokens = [bpe.encode(text) for _, text in pairs]
    if max(map(len, tokens)) + recipe.prefix_length > sizes["positions"]:
        raise HarnessError(
            f"clipcap: a caption of {max(map(len, tokens))} tokens does not fit {sizes['positions']} positions"
        )
    torch.manual_seed(derive(recipe.seed, "clipcap"))
    model = ClipCap(_sizes(recipe, sizes, len(bpe), len(next(iter(vectors.values())))))

    def loss(batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        prefix = torch.stack([vectors[pairs[i][0]] for i in batch])
        if model.sizes.normalise:
            prefix = prefix / prefix.norm(dim=-1, keepdim=True)
        goal = torch.full((len(batch), max(len(tokens[i]) for i in batch)), IGNORED)
        for row, i in zip(goal, batch):
            row[: len(tokens[i])] = torch.tensor(tokens[i])
        logits = model.caption_logits(goal.clamp(min=0), prefix)
        value = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), goal.reshape(-1), ignore_index=IGNORED)
        return value, int((goal != IGNORED).sum())

    told = json.dumps({k: v for k, v in asdict(recipe).items() if k != "epochs"}, sort_keys=True)
    pace = Pace(
        epochs=recipe.epochs, batch=recipe.batch, learning_rate=recipe.learning_rate, seed=recipe.seed,
        weight_decay=recipe.weight_decay, decay=recipe.decay, clip=recipe.clip,
    )  # fmt: skip
    loop = Loop(model, loss, len(pairs), pace, folder, told, resume=resume)
    loop.run(report)
    settings: dict[str, Any] = {"n_head": sizes["heads"], "recipe": asdict(recipe), "epochs": loop.epoch}
    return save_checkpoint(model.state_dict(), settings, folder, force=True)


def _ended(text: str) -> str:
    text = text.strip()
    return text if text.endswith(".") else f"{text}."


def _trained_bpe(texts: list[str], vocabulary: int, folder: Path) -> Gpt2Bpe:
    """The folder's BPE, trained on the captions if there is none yet."""
    if not (folder / "vocab.json").exists():
        tokenizers = require("tokenizers", extra="models", needed_by="training CLIPCap")
        made = tokenizers.ByteLevelBPETokenizer()
        made.train_from_iterator(texts, vocab_size=vocabulary, show_progress=False)
        made.save_model(str(folder))
    return Gpt2Bpe(folder)


def _sizes(recipe: ClipCapRecipe, sizes: Mapping[str, int], vocabulary: int, clip: int) -> ClipCapSizes:
    width = sizes["width"]
    gpt2 = Gpt2Sizes(
        vocabulary=vocabulary,
        positions=sizes["positions"],
        width=width,
        layers=sizes["layers"],
        heads=sizes["heads"],
        inner=4 * width,
    )
    if recipe.mapper == "mlp":
        return ClipCapSizes(
            mapper="mlp",
            clip=clip,
            prefix_length=recipe.prefix_length,
            gpt2=gpt2,
            hidden=recipe.prefix_length * width // 2,
        )
    return ClipCapSizes(
        mapper="transformer", clip=clip, prefix_length=recipe.prefix_length, gpt2=gpt2, hidden=2 * width,
        clip_length=recipe.prefix_length, layers=4, normalise=True,
    )  # fmt: skip
