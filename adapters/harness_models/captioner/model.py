"""Captioner with an LSTM over words, and an image vector in one of four positions.

Tanti, Gatt and Muscat, "Where to put the image in an image caption generator" (2018):
``init`` (the image is the first hidden state of the LSTM), ``pre`` (it is the first
input, before START), ``par`` (it is concatenated with every word), ``merge`` (the LSTM
reads words only, and the image is concatenated with its output before the softmax). The
pre-gen study of the same authors (2018) scores these models.

Shapes: ``B`` images, ``F`` image features, ``R`` rows, ``L`` words, ``V`` vocabulary
entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import nn

from harness.errors import HarnessError, InputError
from harness_models.shared.weights.checkpoints import load_checkpoint
from harness_models.shared.weights.saving import save_checkpoint
from harness_models.shared.weights.strict_loading import load_strictly

Architecture = Literal["init", "pre", "par", "merge"]
ARCHITECTURES: tuple[str, ...] = get_args(Architecture)
END = 0
UNKNOWN = 1
"""Ids of the end of a caption and of unknown words."""
FIRST_WORD = 2
"""Id of the first word of the vocabulary."""
State = dict[str, torch.Tensor]
"""Decoder state: ``h``, ``c`` and ``image``, each (R, width)."""


def check_architecture(name: Any) -> str:
    """Return ``name`` if it is one of the four architectures; raise
    :class:`HarnessError` otherwise.
    """
    if name not in ARCHITECTURES:
        raise HarnessError.of_name(
            "captioner: unknown architecture", name, ARCHITECTURES, "expected"
        )
    return name


class Captioner(nn.Module):
    """Network of P(word | image, words before it).

    Output 0 is the end of a caption, 1 any unknown word, and words follow from 2. START
    is an input only (the last row of the embedding), so it is never predicted.

    Parameters
    ----------
    words
        Vocabulary.
    architecture
        init, pre, par or merge.
    features
        Number F of image features.
    width
        Width of word vectors, image vector and LSTM.
    """

    def __init__(
        self, words: Sequence[str], architecture: str, features: int, width: int = 64
    ) -> None:
        super().__init__()

        self.words = tuple(words)
        self.architecture = check_architecture(architecture)
        self.width = width
        entries = FIRST_WORD + len(self.words)
        self.start = entries

        self.feature_map = nn.Linear(features, width)
        self.embedding = nn.Embedding(entries + 1, width)
        self.cell = nn.LSTM(
            2 * width if architecture == "par" else width, width, batch_first=True
        )
        self.output = nn.Linear(
            2 * width if architecture == "merge" else width, entries
        )
        self._ids = {word: FIRST_WORD + i for i, word in enumerate(self.words)}

    def first_state(self, features: torch.Tensor) -> State:
        """Return the state before START, for image features (B, F)."""
        image = self.feature_map(features)
        zeros = torch.zeros_like(image)
        state = {
            "h": image if self.architecture == "init" else zeros,
            "c": zeros,
            "image": image,
        }
        if self.architecture == "pre":
            _, (h, c) = self.cell(image[:, None])
            state |= {"h": h[0], "c": c[0]}
        return state

    def _run(self, tokens: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """Return the logits (R, L, V) of the word after each of ``tokens`` (R, L),
        and the state after them.
        """
        inputs = self.embedding(tokens)
        image = state["image"][:, None].expand(-1, tokens.shape[1], -1)
        if self.architecture == "par":
            inputs = torch.cat([inputs, image], -1)
        out, (h, c) = self.cell(
            inputs, (state["h"][None].contiguous(), state["c"][None].contiguous())
        )
        if self.architecture == "merge":
            out = torch.cat([out, image], -1)
        return self.output(out), {"h": h[0], "c": c[0], "image": state["image"]}

    def forced_logits(self, state: State, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits (R, L, V); entry t predicts token t of ``tokens`` (R, L) from
        START and the tokens before it.
        """
        starts = tokens.new_full((len(tokens), 1), self.start)
        return self._run(torch.cat([starts, tokens[:, :-1]], 1), state)[0]

    def forward(self, features: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits (B, L, V) that predict ``tokens`` (B, L),
        for image features (B, F).
        """
        return self.forced_logits(self.first_state(features), tokens)

    def step(self, tokens: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """Return the logits (R, V) of the next word and the state after ``tokens``
        (R,).
        """
        logits, state = self._run(tokens[:, None], state)
        return logits[:, 0], state

    def encode(self, words: Iterable[str]) -> list[int]:
        """Return the ids of a caption's words, and END;
        words outside the vocabulary are UNKNOWN.
        """
        return [*(self._ids.get(word, UNKNOWN) for word in words), END]

    def pieces(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Return the name of each id; END and UNKNOWN are ``END`` and ``UNK``."""
        names = ("END", "UNK")
        return tuple(
            names[i] if i < FIRST_WORD else self.words[i - FIRST_WORD] for i in ids
        )

    def text(self, ids: Sequence[int]) -> str:
        """Return the words of ids without END, joined by spaces;
        an unknown word is ``unk``.
        """
        return " ".join(
            "unk" if i == UNKNOWN else self.words[i - FIRST_WORD]
            for i in ids
            if i != END
        )

    def save(
        self, folder: str | Path, settings: Mapping[str, Any], *, force: bool = False
    ) -> Path:
        """Write ``model.safetensors`` and ``config.json`` (settings, architecture,
        words) into a folder and return the weights' path.

        Raises :class:`HarnessError` if the folder holds a model, unless ``force`` is
        true.
        """
        settings = {
            **settings,
            "architecture": self.architecture,
            "words": list(self.words),
        }
        return save_checkpoint(self.state_dict(), settings, folder, force=force)


def load(path: str | Path) -> tuple[Captioner, dict[str, Any]]:
    """Return the captioner of a folder or ``.safetensors`` file, and its settings;
    raise :class:`InputError` for anything else.
    """
    checkpoint = load_checkpoint(path)
    words = checkpoint.words()
    architecture = checkpoint.settings.get("architecture")
    if architecture not in ARCHITECTURES:
        raise InputError(
            f"the settings beside the checkpoint say architecture {architecture!r}; "
            f"expected {', '.join(ARCHITECTURES)}",
            str(checkpoint.path),
        )

    width, features = checkpoint.shape("feature_map.weight", "captioner")
    model = Captioner(words, architecture, features, width)
    load_strictly(model, checkpoint, f"captioner ({architecture}, {len(words)} words)")
    return model, checkpoint.settings
