"""Train CLIPCap on image vectors and captions: ``harness train clipcap recipe.yaml --output models/clipcap``.

The mapper and GPT-2 start from random weights; no published weights are used. The loss is the cross-entropy of the caption's tokens
(Mokady et al. 2021, equation 1), with padding left out by a mask. A byte-level BPE is trained on the captions. Each caption ends with
the stop token ``.``, so that the model learns to end.

The output folder holds what the ``clipcap`` adapter needs (model.safetensors, config.json, vocab.json, merges.txt), the learning curve
(curve.jsonl) and the state of the training (state.pt).
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

from harness.adapters.clipcap.image_vectors import open_vectors
from harness.adapters.clipcap.model import ClipCap, ClipCapSizes
from harness.adapters.shared.layers.gpt2 import Gpt2Sizes
from harness.adapters.shared.layers.standardise import Standardiser
from harness.adapters.shared.tokenisers.bpe import Gpt2Bpe
from harness.adapters.shared.training.caption_recipe import CaptionRecipe
from harness.adapters.shared.training.loop import Report, has_run
from harness.adapters.shared.training.recipe_command import recipe_command
from harness.adapters.shared.weights.checkpoints import save_checkpoint
from harness.contracts import Example
from harness.errors import HarnessError, InputError, require
from harness.stats.seeds import derive

FORMAT_VERSION = 1
"""Raise it when the same recipe and data would give other weights; see :class:`~harness.adapters.shared.training.recipe.Trainer`."""

IGNORED = -100
"""Target value of padding in the loss."""


@dataclass(frozen=True, kw_only=True)
class ClipCapRecipe(CaptionRecipe):
    """Data, sizes and optimisation of a CLIPCap training.

    ``features`` is a file of image vectors by example id, or ``{scenes: {...}}`` for rendered scenes.
    """

    system: ClassVar[str] = "clipcap"
    sizes: ClassVar[Mapping[str, Any]] = {
        "width": 256, "layers": 4, "heads": 4, "positions": 128, "vocabulary": 1000,
        "mapper_layers": 4, "mapper_heads": 8,
    }  # fmt: skip
    """Default sizes of GPT-2, of the BPE (``vocabulary``), and of the transformer mapper."""

    mapper: str = "mlp"
    """Kind of the mapper: mlp or transformer."""
    prefix_length: int = 10
    """Number of input embeddings of GPT-2 that the mapper returns."""
    batch: int = 40
    decay: float = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mapper not in ("mlp", "transformer"):
            raise HarnessError(f"clipcap: mapper is mlp or transformer; found {self.mapper!r}")


def train(recipe: ClipCapRecipe, output: str | Path, *, resume: bool = False, report: Report | None = None) -> Path:
    """Train a model, save it and return the path of its weights.

    Parameters
    ----------
    recipe
        Data, sizes and optimisation.
    output
        Folder of the run.
    resume
        If true, continue after the last epoch of the run in ``output``.
    report
        Function that gets a mapping with ``epoch`` and ``loss`` after every epoch.

    Raises
    ------
    HarnessError
        If the folder holds another run, or the captions do not fit the sizes.
    InputError
        If captions or image vectors are missing or malformed.
    """
    folder = Path(output)
    pairs = [(name, _ended(text)) for name, text in recipe.pairs()]
    vectors = _vectors(recipe, list(dict.fromkeys(name for name, _ in pairs)))
    sizes = {**recipe.sizes, **recipe.model}
    bpe, save_bpe = _trained_bpe([text for _, text in pairs], sizes["vocabulary"], folder)
    tokens = [bpe.encode(text) for _, text in pairs]
    if max(map(len, tokens)) + recipe.prefix_length > sizes["positions"]:
        raise HarnessError(
            f"clipcap: a caption of {max(map(len, tokens))} tokens does not fit {sizes['positions']} positions"
        )
    torch.manual_seed(derive(recipe.seed, "clipcap"))
    model = ClipCap(_sizes(recipe, sizes, len(bpe), len(next(iter(vectors.values())))))
    standard = Standardiser.fit(np.stack(list(vectors.values())))
    inputs = {name: standard(torch.from_numpy(vector)) for name, vector in vectors.items()}

    def loss(batch: Sequence[int]) -> tuple[torch.Tensor, int]:
        goal = torch.full((len(batch), max(len(tokens[i]) for i in batch)), IGNORED)
        for row, i in zip(goal, batch):
            row[: len(tokens[i])] = torch.tensor(tokens[i])
        logits = model.caption_logits(goal.clamp(min=0), torch.stack([inputs[pairs[i][0]] for i in batch]))
        value = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), goal.reshape(-1), ignore_index=IGNORED)
        return value, int((goal != IGNORED).sum())

    loop = recipe.loop(model, loss, len(pairs), folder, resume=resume)
    save_bpe()
    loop.run(report)
    settings = {"n_head": sizes["heads"], "mapper_heads": sizes["mapper_heads"], **recipe.checkpoint_config(loop.epoch)}
    first = "clip_project.model.0" if recipe.mapper == "mlp" else "clip_project.linear"
    return save_checkpoint(standard.fold_into(model.state_dict(), first), settings, folder, force=True)


def _vectors(recipe: ClipCapRecipe, ids: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the vector (clip,) of each id, normalised to length 1 for the transformer mapper, as the adapter normalises it."""
    source = open_vectors(recipe.source)
    examples = [Example(name, ("-",)) for name in ids]
    source.check(examples)
    rows = {example.id: source.row(example).reshape(-1) for example in examples}
    widths = {len(row) for row in rows.values()}
    if len(widths) > 1:
        raise InputError(f"image vectors differ in their width: {sorted(widths)}", source.name)
    return {name: row / np.linalg.norm(row) for name, row in rows.items()} if recipe.mapper == "transformer" else rows


def _ended(text: str) -> str:
    """Return the text with the stop token at its end."""
    text = text.strip()
    return text if text.endswith(".") else f"{text}."


def _trained_bpe(texts: list[str], vocabulary: int, folder: Path) -> tuple[Gpt2Bpe, Callable[[], object]]:
    """Return the BPE of the run in ``folder``, else one trained on the captions, and the function that writes it into the folder.

    The function is called after all checks, so that a failed training leaves no files.
    """
    if has_run(folder):
        return Gpt2Bpe(folder), lambda: None
    tokenizers = require("tokenizers", extra="models", needed_by="training CLIPCap")
    tokeniser = tokenizers.ByteLevelBPETokenizer()
    tokeniser.train_from_iterator(texts, vocab_size=vocabulary, show_progress=False)
    with TemporaryDirectory() as temporary:
        tokeniser.save_model(temporary)
        return Gpt2Bpe(temporary), lambda: tokeniser.save_model(str(folder))


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


trainer, add_arguments, run = recipe_command(ClipCapRecipe, train, FORMAT_VERSION)
