"""Agents of the reference game: an LSTM speaker that reads target and distractor at
every step, and a dot-product listener.

Tsvilodub and Franke 2023 (A3DS), after Lazaridou, Potapenko and Tieleman 2020. The keys
are those of the published state dicts, and sizes come from the shapes of the tensors.

Shapes: ``B`` games, ``K`` images of a game (target first), ``D`` image features, ``T``
tokens, ``R`` captions, ``V`` words.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional

from harness.errors import HarnessError, InputError
from harness_models.a3ds.authors import (
    joined_listener_state,
    read_state,
    save_state,
    stored_vocabulary,
)
from harness_models.a3ds.recurrence import hidden_states
from harness_models.a3ds.vocabulary import Vocabulary
from harness_models.shared.weights.checkpoints import Checkpoint
from harness_models.shared.weights.strict_loading import load_strictly


class SpeakerSizes(NamedTuple):
    """Widths of a speaker; the published ones are (47, 512, 512, 512, 2048)."""

    words: int
    """Number of words, V."""
    embed: int
    """Width of a word vector."""
    visual: int
    """Width of a projected image."""
    hidden: int
    """Width of the LSTM."""
    features: int
    """Width of an image feature vector, D."""


class ListenerSizes(NamedTuple):
    """Widths of a listener; the published ones are (49, 512, 512, 2048)."""

    words: int
    """Number of words, V."""
    embed: int
    """Width of a word vector."""
    hidden: int
    """Width of the LSTM and of a projected image."""
    features: int
    """Width of an image feature vector, D."""


class _Agent(nn.Module):
    """Sizes, words and meta of an agent; raises :class:`HarnessError` if the number of
    words is not ``sizes.words``.
    """

    def __init__(
        self, sizes: Any, vocabulary: Vocabulary | None, meta: Mapping[str, Any] | None
    ) -> None:
        super().__init__()
        self.sizes = sizes
        self.meta = dict(meta or {})
        self.vocabulary = vocabulary or Vocabulary()
        if len(self.vocabulary) != sizes.words:
            raise HarnessError(
                f"agent of {sizes.words} words with a vocabulary of "
                f"{len(self.vocabulary)}"
            )

    def save(self, path: str | Path, **meta: Any) -> None:
        """Write safetensors (float16) with vocabulary and ``meta`` in its header."""
        save_state(
            path,
            self.state_dict(),
            {**self.meta, **meta, "words": list(self.vocabulary.words)},
        )


class Speaker(_Agent):
    """Speaker of the game: at each step an LSTM reads [target; distractor; last word]
    and predicts the next word.

    Parameters
    ----------
    sizes
        Widths of the layers.
    vocabulary
        Words (default: the published ones); raises :class:`HarnessError` if their
        number is not ``sizes.words``.
    meta
        Information about the training, stored with the weights.
    """

    sizes: SpeakerSizes

    def __init__(
        self,
        sizes: SpeakerSizes,
        vocabulary: Vocabulary | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(sizes, vocabulary, meta)
        self.embed = nn.Embedding(sizes.words, sizes.embed)
        self.project = nn.Linear(sizes.features, sizes.visual)
        self.lstm = nn.LSTM(
            2 * sizes.visual + sizes.embed, sizes.hidden, batch_first=True
        )
        self.linear = nn.Linear(sizes.hidden, sizes.words)

    @classmethod
    def load(cls, path: str | Path, vocabulary: str | Path | None = None) -> Speaker:
        """Return the speaker of a file, in evaluation mode.

        Parameters
        ----------
        path
            safetensors file of this project, or a published state dict (``.pkl``,
            ``.pt`` or ``.npz``). No code of the file is run.
        vocabulary
            JSON file of word to id, for weights that were trained with other words than
            the published 47.

        Raises
        ------
        InputError
            If keys are missing, shapes do not fit together, or the vocabulary has
            another size.
        """
        state, meta = read_state(path)
        try:
            # All sizes follow from the shapes; a file without these keys is another
            # model.
            words, embed = state["embed.weight"].shape
            visual, features = state["project.weight"].shape
            hidden = state["linear.weight"].shape[1]
        except KeyError as error:
            raise InputError(
                f"no speaker: the key {error} is missing", str(path)
            ) from None

        sizes = SpeakerSizes(words, embed, visual, hidden, features)
        speaker = cls(sizes, stored_vocabulary(path, words, vocabulary, meta), meta)
        load_strictly(
            speaker,
            Checkpoint(state, path=Path(path)),
            "an A3DS speaker of these sizes",
        )
        return speaker

    def image(self, features: torch.Tensor) -> torch.Tensor:
        """Return the projected target and distractor (B, 2 visual) of features (B, 2,
        D); a single image (B, 1, D) is repeated.
        """
        images = self.project(features.to(self.project.weight.dtype))
        if images.shape[1] == 1:
            images = images.expand(-1, 2, -1)
        return images[:, :2].reshape(len(images), -1)

    def forward(self, features: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return the logits (B, T, V) of the next token after each of ``tokens`` (B,
        T).

        Parameters
        ----------
        features
            Image features (B, 2, D), target first.
        tokens
            Token ids (B, T), START first. The LSTM starts from zeros.

        Notes
        -----
        In training the contributions of the images and of each word to the gates are
        computed once, as in :class:`SpeakerStep`: 2.3 times as fast at the widths of
        the paper, equal up to rounding. The logits are float32.
        """
        if self.training:
            weights = dict(self.lstm.named_parameters())
            width = 2 * self.sizes.visual
            image = self.image(features) @ weights["weight_ih_l0"][:, :width].T
            words = self.embed.weight @ weights["weight_ih_l0"][:, width:].T
            gates = functional.embedding(tokens.T, words.float()) + image
            return self.linear(hidden_states(self.lstm, gates).transpose(0, 1)).float()
        words = self.embed(tokens)
        image = self.image(features)[:, None].expand(-1, tokens.shape[1], -1)
        return self.linear(self.lstm(torch.cat([image, words], dim=-1))[0])

    def step(self) -> SpeakerStep:
        """Return the decoder step of the speaker, for
        :func:`harness_models.shared.decoding.decode.decode`.
        """
        return SpeakerStep(self)


class SpeakerState(NamedTuple):
    """State of the LSTM for R captions."""

    hidden: torch.Tensor
    """Hidden state (R, hidden)."""
    cell: torch.Tensor
    """Cell state (R, hidden)."""
    gates: torch.Tensor
    """Contribution of the images to the gates (R, 4 hidden)."""


class SpeakerStep:
    """Decoder step of a speaker.

    The contributions of the images and of each word to the gates are computed once.
    """

    def __init__(self, speaker: Speaker) -> None:
        weights = dict(speaker.lstm.named_parameters())
        width = 2 * speaker.sizes.visual
        with torch.no_grad():
            self._image = weights["weight_ih_l0"][:, :width].detach()
            self._words = (
                speaker.embed.weight @ weights["weight_ih_l0"][:, width:].T
            ).float()
            self._recurrent = weights["weight_hh_l0"].detach().T.contiguous()
            self._bias = (weights["bias_ih_l0"] + weights["bias_hh_l0"]).detach()
            self._out = (speaker.linear.weight.detach(), speaker.linear.bias.detach())
        self._speaker = speaker

    def start(self, features: torch.Tensor) -> SpeakerState:
        """Return the state before START, for image features (B, 2, D)."""
        with torch.no_grad():
            gates = (self._speaker.image(features) @ self._image.T).float() + self._bias
        zeros = gates.new_zeros(len(gates), self._speaker.sizes.hidden)
        return SpeakerState(zeros, zeros, gates)

    def __call__(
        self, tokens: torch.Tensor | None, state: SpeakerState
    ) -> tuple[torch.Tensor, SpeakerState]:
        """Return the logits (R, V) after ``tokens`` (R,) and the next state."""
        if tokens is None:
            raise ValueError(
                "the first token of a speaker is START: batch.start must not be None"
            )
        gates = state.gates + self._words[tokens] + state.hidden @ self._recurrent
        enter, forget, new, out = gates.chunk(4, dim=-1)
        cell = forget.sigmoid() * state.cell + enter.sigmoid() * new.tanh()
        hidden = out.sigmoid() * cell.tanh()
        return torch.addmm(self._out[1], hidden, self._out[0].T), SpeakerState(
            hidden, cell, state.gates
        )


class _MessageEncoder(nn.Module):
    def __init__(self, sizes: ListenerSizes) -> None:
        super().__init__()
        self.embed = nn.Embedding(sizes.words, sizes.embed)
        self.lstm = nn.LSTM(sizes.embed, sizes.hidden, batch_first=True)


class _ImageEncoder(nn.Module):
    def __init__(self, sizes: ListenerSizes) -> None:
        super().__init__()
        self.embed = nn.Linear(sizes.features, sizes.hidden)


class Listener(_Agent):
    """Listener of the game: scores each image by the dot product of its projection with
    the message's last hidden state.

    Parameters
    ----------
    sizes
        Widths of the layers.
    vocabulary
        Words (default: the published ones); raises :class:`HarnessError` if their
        number is not ``sizes.words``.
    meta
        Information about the training, stored with the weights.
    """

    sizes: ListenerSizes

    def __init__(
        self,
        sizes: ListenerSizes,
        vocabulary: Vocabulary | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(sizes, vocabulary, meta)
        self.rnn = _MessageEncoder(sizes)
        self.encoder = _ImageEncoder(sizes)

    @classmethod
    def load(
        cls,
        path: str | Path,
        encoder: str | Path | None = None,
        vocabulary: str | Path | None = None,
    ) -> Listener:
        """Return the listener of a file, in evaluation mode.

        Parameters
        ----------
        path
            File with keys ``rnn.*`` and ``encoder.*``, or the authors' file of the
            message encoder.
        encoder
            The authors' file of the image encoder, where ``path`` is the message
            encoder.
        vocabulary
            JSON file of word to id, for weights that were trained with other words than
            the published 47.

        Raises
        ------
        InputError
            As :meth:`Speaker.load`.
        """
        state, meta = read_state(path)
        if encoder is not None:
            state = joined_listener_state(state, read_state(encoder)[0])
        try:
            words, embed = state["rnn.embed.weight"].shape
            hidden, features = state["encoder.embed.weight"].shape
        except KeyError as error:
            raise InputError(
                f"no listener: the key {error} is missing", str(path)
            ) from None

        listener = cls(
            ListenerSizes(words, embed, hidden, features),
            stored_vocabulary(path, words, vocabulary, meta),
            meta,
        )

        load_strictly(
            listener,
            Checkpoint(state, path=Path(path)),
            "an A3DS listener of these sizes",
        )
        return listener

    def message(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the last hidden state (B, hidden) over messages (B, T).

        START is not part of a message; END and everything after it is.
        """
        if self.training:
            words = (
                self.rnn.embed.weight
                @ dict(self.rnn.lstm.named_parameters())["weight_ih_l0"].T
            )
            return hidden_states(
                self.rnn.lstm, functional.embedding(tokens.T, words.float())
            )[-1]
        _, (hidden, _) = self.rnn.lstm(self.rnn.embed(tokens))
        return hidden[-1]

    def forward(self, features: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return scores (B, K) of images with features (B, K, D) for messages (B, T):
        logits of the choice.
        """
        return torch.einsum(
            "bkh,bh->bk",
            self.encoder.embed(features.to(self.encoder.embed.weight.dtype)),
            self.message(tokens),
        )
