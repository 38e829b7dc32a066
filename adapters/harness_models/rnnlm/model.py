"""Recurrent language model: embedding, LSTM, softmax over words.

Shapes: ``B`` sentences, ``L`` words, ``R`` rows, ``V`` inputs (START, STOP and the
words).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from harness.errors import InputError
from harness_models.shared.weights.checkpoints import load_checkpoint
from harness_models.shared.weights.saving import save_checkpoint
from harness_models.shared.weights.strict_loading import load_strictly

START = 0
STOP = 1
"""Ids of the begin and the end of a sentence."""
FIRST_WORD = 2
"""Id of the first word of the vocabulary."""


class RnnLm(nn.Module):
    """Network of P(word | words before it).

    Input 0 is the begin of a sentence, 1 its end, and words follow from 2.

    Parameters
    ----------
    words
        Vocabulary.
    size
        Width of the embedding and of the LSTM.

    References
    ----------
    The language model of Li et al. (ICML 2020), section 6.3, of size 128.
    """

    def __init__(self, words: Sequence[str], size: int = 128) -> None:
        super().__init__()
        self.words = tuple(words)
        self.embedding = nn.Embedding(FIRST_WORD + len(self.words), size)
        self.lstm = nn.LSTM(size, size, batch_first=True)
        self.output = nn.Linear(size, FIRST_WORD + len(self.words))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the logits (B, L, V) of the word after each of ``tokens`` (B, L)."""
        return self.output(self.lstm(self.embedding(tokens))[0])

    def step(self, tokens: torch.Tensor | None, state: Any) -> tuple[torch.Tensor, Any]:
        """Return the logits (R, V) of the next word, -inf at START,
        and the state after ``tokens`` (R,).

        The state is ``{"h": (R, size), "c": (R, size)}``.
        """
        assert tokens is not None  # the decoder begins with START
        before = (state["h"][None], state["c"][None])
        out, (h, c) = self.lstm(self.embedding(tokens)[:, None], before)
        logits = self.output(out[:, 0])
        logits[:, START] = float("-inf")
        return logits, {"h": h[0], "c": c[0]}

    def first_state(self, rows: int) -> dict[str, torch.Tensor]:
        """Return the state before START: zeros (rows, size)."""
        size = self.lstm.hidden_size
        return {"h": torch.zeros(rows, size), "c": torch.zeros(rows, size)}

    def text(self, ids: Sequence[int]) -> str:
        """Return the words of ids, joined by spaces, without START and STOP."""
        return " ".join(self.words[i - FIRST_WORD] for i in ids if i >= FIRST_WORD)

    def save(
        self, folder: str | Path, settings: Mapping[str, Any], *, force: bool = False
    ) -> Path:
        """Write ``model.safetensors`` and ``config.json`` (settings and words) into a
        folder and return the path of the weights.

        Raises :class:`HarnessError` if the folder holds a model, unless ``force`` is
        true.
        """
        settings = {**settings, "architecture": "rnnlm", "words": list(self.words)}
        return save_checkpoint(self.state_dict(), settings, folder, force=force)


def load(path: str | Path) -> RnnLm:
    """Return the language model of a folder or ``.safetensors`` file; raise
    :class:`InputError` for anything else.
    """
    checkpoint = load_checkpoint(path)
    words = checkpoint.words()
    rows, size = checkpoint.shape("embedding.weight", "rnnlm")

    if rows != FIRST_WORD + len(words):
        raise InputError(
            f"{len(words)} words beside an embedding of {rows} rows; "
            f"expected {rows - FIRST_WORD}",
            str(checkpoint.path),
        )

    model = RnnLm(words, size)
    load_strictly(model, checkpoint, "rnnlm")
    return model
