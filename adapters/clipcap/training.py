"""Training of CLIPCap on image vectors and captions: the mapper and a GPT-2 that starts from nothing (no published weights needed).

Cross-entropy of the caption's tokens as in the paper (padding left out by a mask, not by token id). A byte-level BPE is trained on
the captions; each caption ends with the stop token ``.``, without which the model could not end. A run's folder holds what the
``clipcap`` adapter takes: model.safetensors, config.json, vocab.json, merges.txt; see :mod:`harness.adapters.shared.training.loop` for
the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import torch
from torch.nn import functional as F

from harness.adapters.clipcap.model import ClipCap, ClipCapSizes
from harness.adapters.clipcap.image_vectors import open_vectors
from harness.adapters.shared.layers.gpt2 import Gpt2Sizes
from harness.adapters.shared.layers.standardise import Standard
from harness.adapters.shared.tokenisers.bpe import Gpt2Bpe
from harness.adapters.shared.training.caption_recipe import CaptionRecipe
from harness.adapters.shared.training.loop import Report, has_run
from harness.adapters.shared.weights.checkpoints import save_checkpoint
from harness.contracts import Example
from harness.errors import HarnessError, InputError, require
from harness.stats.seeds import derive

IGNORED = -100


@dataclass(frozen=True, kw_only=True)
class ClipCapRecipe(CaptionRecipe):
    """What is trained and how. ``features``: a file of image vectors by example id, or ``{scenes: {...}}``."""

    system: ClassVar[str] = "clipcap"
    sizes: ClassVar[Mapping[str, Any]] = {
        "width": 256, "layers": 4, "heads": 4, "positions": 128, "vocabulary": 1000,
        "mapper_layers": 4, "mapper_heads": 8,
    }  # fmt: skip
    """Of GPT-2, of the BPE (vocabulary), and of the transformer mapper."""

    mapper: str = "mlp"
    """mlp | transformer."""
    prefix_length: int = 10
    batch: int = 40
    decay: float = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mapper not in ("mlp", "transformer"):
            raise HarnessError(f"clipcap: mapper is mlp or transformer; found {self.mapper!r}")


def train(recipe: ClipCapRecipe, output: str | Path, *, resume: bool = False, report: Report | None = None) -> Path:
    """Train and save; gives the path of the weights. Raises :class:`HarnessError` when the folder holds another run."""
    folder = Path(output)
    pairs = [(name, _ended(text)) for name, text in recipe.pairs()]
    vectors = _vectors(recipe, list(dict.fromkeys(name for name, _ in pairs)))
    sizes = {**recipe.sizes, **recipe.model}
    bpe, keep = _trained_bpe([text for _, text in pairs], sizes["vocabulary"], folder)
    tokens = [bpe.encode(text) for _, text in pairs]
    if max(map(len, tokens)) + recipe.prefix_length > sizes["positions"]:
        raise HarnessError(
            f"clipcap: a caption of {max(map(len, tokens))} tokens does not fit {sizes['positions']} positions"
        )
    torch.manual_seed(derive(recipe.seed, "clipcap"))
    model = ClipCap(_sizes(recipe, sizes, len(bpe), len(next(iter(vectors.values())))))
    standard = Standard.of(np.stack(list(vectors.values())))
    inputs = {name: standard(torch.from_numpy(vector)) for name, vector in vectors.items()}

    def loss(batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        goal = torch.full((len(batch), max(len(tokens[i]) for i in batch)), IGNORED)
        for row, i in zip(goal, batch):
            row[: len(tokens[i])] = torch.tensor(tokens[i])
        logits = model.caption_logits(goal.clamp(min=0), torch.stack([inputs[pairs[i][0]] for i in batch]))
        value = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), goal.reshape(-1), ignore_index=IGNORED)
        return value, int((goal != IGNORED).sum())

    loop = recipe.loop(model, loss, len(pairs), folder, resume=resume)
    keep()
    loop.run(report)
    settings = {"n_head": sizes["heads"], "mapper_heads": sizes["mapper_heads"], **recipe.settings(loop.epoch)}
    first = "clip_project.model.0" if recipe.mapper == "mlp" else "clip_project.linear"
    return save_checkpoint(standard.into(model.state_dict(), first), settings, folder, force=True)


def _vectors(recipe: ClipCapRecipe, ids: Sequence[str]) -> dict[str, np.ndarray]:
    """(clip,) by id, of length 1 for the transformer mapper, as the adapter gives them."""
    source = open_vectors(recipe.source)
    examples = [Example(name, ("-",)) for name in ids]
    source.check(examples)
    rows = {example.id: source.row(example).reshape(-1) for example in examples}
    widths = {len(row) for row in rows.values()}
    if len(widths) > 1:
        raise InputError(f"image vectors differ in their width: {sorted(widths)}", source.name)
    return {name: row / np.linalg.norm(row) for name, row in rows.items()} if recipe.mapper == "transformer" else rows


def _ended(text: str) -> str:
    text = text.strip()
    return text if text.endswith(".") else f"{text}."


def _trained_bpe(texts: list[str], vocabulary: int, folder: Path) -> tuple[Gpt2Bpe, Callable[[], object]]:
    """The BPE of the run in ``folder``, else one trained on the captions; and what writes it there, once nothing else can be wrong."""
    if has_run(folder):
        return Gpt2Bpe(folder), lambda: None
    tokenizers = require("tokenizers", extra="models", needed_by="training CLIPCap")
    made = tokenizers.ByteLevelBPETokenizer()
    made.train_from_iterator(texts, vocab_size=vocabulary, show_progress=False)
    with TemporaryDirectory() as aside:
        made.save_model(aside)
        return Gpt2Bpe(aside), lambda: made.save_model(str(folder))


def _sizes(recipe: ClipCapRecipe, sizes: Mapping[str, int], vocabulary: int, clip: int) -> ClipCapSizes:
    width, length = sizes["width"], recipe.prefix_length
    for name in ("heads", "mapper_heads") if recipe.mapper == "transformer" else ("heads",):
        if width % sizes[name]:
            raise HarnessError(f"clipcap: {name} must divide the width {width}; found {sizes[name]}")
    gpt2 = Gpt2Sizes(
        vocabulary=vocabulary, positions=sizes["positions"], width=width, layers=sizes["layers"], heads=sizes["heads"],
        inner=4 * width,
    )  # fmt: skip
    if recipe.mapper == "mlp":
        return ClipCapSizes(mapper="mlp", clip=clip, prefix_length=length, gpt2=gpt2, hidden=length * width // 2)
    return ClipCapSizes(
        mapper="transformer", clip=clip, prefix_length=length, gpt2=gpt2, hidden=2 * width, clip_length=length,
        layers=sizes["mapper_layers"], heads=sizes["mapper_heads"], normalise=True,
    )  # fmt: skip
