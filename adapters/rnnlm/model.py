"""The recurrent language model: embedding, LSTM, softmax over words; state dict and vocabulary in one folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from harness.adapters.shared.weights.checkpoints import load_checkpoint, load_strictly, save_checkpoint
from harness.errors import InputError

START, STOP = 0, 1
FIRST_WORD = 2


class RnnLm(nn.Module):
    """P(word | words before it). Inputs: 0 begins a sentence, 1 ends it, words from 2 on.

    Source: the language model of Li et al. (ICML 2020), section 6.3: embedding and LSTM of one size (128).
    """

    def __init__(self, words: Sequence[str], size: int = 128) -> None:
        super().__init__()
        self.words = tuple(words)
        self.embedding = nn.Embedding(FIRST_WORD + len(self.words), size)
        self.lstm = nn.LSTM(size, size, batch_first=True)
        self.output = nn.Linear(size, FIRST_WORD + len(self.words))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits (B, L, V) of what follows each of ``tokens`` (B, L)."""
        return self.output(self.lstm(self.embedding(tokens))[0])

    def step(self, tokens: torch.Tensor | None, state: Any) -> tuple[torch.Tensor, Any]:
        """One step of the decoder: logits (R, V) and the state, ``{"h": (R, size), "c": (R, size)}``."""
        assert tokens is not None  # the decoder begins with START
        held = (state["h"][None], state["c"][None])
        out, (h, c) = self.lstm(self.embedding(tokens)[:, None], held)
        logits = self.output(out[:, 0])
        logits[:, START] = float("-inf")
        return logits, {"h": h[0], "c": c[0]}

    def first_state(self, rows: int) -> dict[str, torch.Tensor]:
        size = self.lstm.hidden_size
        return {"h": torch.zeros(rows, size), "c": torch.zeros(rows, size)}

    def text(self, ids: Sequence[int]) -> str:
        return " ".join(self.words[i - FIRST_WORD] for i in ids if i >= FIRST_WORD)

    def save(self, folder: str | Path, settings: Mapping[str, Any], *, force: bool = False) -> Path:
        """``model.safetensors`` and ``config.json`` (settings and words) in ``folder``."""
        settings = {**settings, "architecture": "rnnlm", "words": list(self.words)}
        return save_checkpoint(self.state_dict(), settings, folder, force=force)


def load(path: str | Path) -> RnnLm:
    """The model of a folder or ``.safetensors`` file; raises :class:`InputError` when it is none of this kind."""
    checkpoint = load_checkpoint(path)
    words = checkpoint.settings.get("words")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError("the settings beside the checkpoint hold no list of words", str(checkpoint.path))
    rows, size = checkpoint.shape("embedding.weight", "rnnlm")
    if rows != FIRST_WORD + len(words):
        raise InputError(
            f"{len(words)} words beside an embedding of {rows} rows; expected {rows - FIRST_WORD}", str(checkpoint.path)
        )
    model = RnnLm(words, size)
    load_strictly(model, checkpoint, "rnnlm")
    return model
