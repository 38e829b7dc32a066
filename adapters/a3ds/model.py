"""The reference game's agents: an LSTM speaker that sees target and distractor at every step, a dot-product listener.

Tsvilodub & Franke 2023 (A3DS), after Lazaridou et al. 2020; parameter names are those of the published state dicts, sizes come
from the stored shapes. ``B`` games, ``K`` images of a game (target first), ``T`` tokens, ``V`` words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from harness.adapters.a3ds.vocabulary import WORDS, Vocabulary
from harness.errors import HarnessError, InputError


class SpeakerSizes(NamedTuple):
    """Widths of a speaker; the published one is (47, 512, 512, 512, 2048)."""

    words: int
    embed: int
    visual: int
    hidden: int
    features: int


class ListenerSizes(NamedTuple):
    """Widths of a listener; the published one is (49, 512, 512, 2048)."""

    words: int
    embed: int
    hidden: int
    features: int


class Speaker(nn.Module):
    """Says what tells the target from the distractor: at each step the LSTM reads [target; distractor; last word]."""

    def __init__(
        self, sizes: SpeakerSizes, vocabulary: Vocabulary | None = None, meta: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        self.sizes, self.meta = sizes, dict(meta or {})
        self.vocabulary = _fitting(vocabulary, sizes.words)
        self.embed = nn.Embedding(sizes.words, sizes.embed)
        self.project = nn.Linear(sizes.features, sizes.visual)
        self.lstm = nn.LSTM(2 * sizes.visual + sizes.embed, sizes.hidden, batch_first=True)
        self.linear = nn.Linear(sizes.hidden, sizes.words)

    @classmethod
    def load(cls, path: str | Path, vocabulary: str | Path | None = None) -> Speaker:
        """From our safetensors, or a published state dict (``.pkl``, ``.pt``; read without unpickling code, or ``.npz``).

        ``vocabulary``: JSON of word -> id, where the file was trained with other words than the published 47.
        Raises :class:`InputError` for missing keys, shapes that do not fit together and a vocabulary of another size.
        """
        state, meta = read_state(path)
        try:
            words, embed = state["embed.weight"].shape
            visual, features = state["project.weight"].shape
            hidden = state["linear.weight"].shape[1]
        except KeyError as error:
            raise InputError(f"no speaker: the key {error} is missing", str(path)) from None
        sizes = SpeakerSizes(words, embed, visual, hidden, features)
        speaker = cls(sizes, stored_vocabulary(path, words, vocabulary, meta), meta)
        return _filled(speaker, state, path)

    def image(self, features: torch.Tensor) -> torch.Tensor:
        """(B, 2 visual): projected target and distractor of features (B, 2, D); a single image (B, 1, D) stands twice."""
        seen = self.project(features.to(self.project.weight.dtype))
        if seen.shape[1] == 1:
            seen = seen.expand(-1, 2, -1)
        return seen[:, :2].reshape(len(seen), -1)

    def forward(self, features: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Logits (B, T, V) of the next token after each of ``tokens`` (B, T), START first; features (B, 2, D), target first.

        The LSTM starts from zeros.
        """
        words = self.embed(tokens)
        image = self.image(features)[:, None].expand(-1, tokens.shape[1], -1)
        return self.linear(self.lstm(torch.cat([image, words], dim=-1))[0])

    def step(self) -> SpeakerStep:
        """The speaker token by token, for :func:`harness.adapters.shared.decoding.decode.decode`."""
        return SpeakerStep(self)

    def save(self, path: str | Path, **meta: Any) -> None:
        """Write safetensors (float16) with vocabulary and ``meta`` in its header."""
        save_state(path, self.state_dict(), {**self.meta, **meta, "words": list(self.vocabulary.words)})


class SpeakerState(NamedTuple):
    """What the LSTM holds of R captions: hidden and cell state, and the images' share of the gates."""

    hidden: torch.Tensor
    cell: torch.Tensor
    gates: torch.Tensor


class SpeakerStep:
    """One LSTM step: the images' and each word's share of the gates are computed once, not at every step."""

    def __init__(self, speaker: Speaker) -> None:
        weights, width = dict(speaker.lstm.named_parameters()), 2 * speaker.sizes.visual
        with torch.no_grad():
            self._image = weights["weight_ih_l0"][:, :width].detach()
            self._words = speaker.embed.weight @ weights["weight_ih_l0"][:, width:].T
            self._recurrent = weights["weight_hh_l0"].detach().T.contiguous()
            self._bias = (weights["bias_ih_l0"] + weights["bias_hh_l0"]).detach()
            self._out = (speaker.linear.weight.detach(), speaker.linear.bias.detach())
        self._speaker = speaker

    def start(self, features: torch.Tensor) -> SpeakerState:
        """The state before START, for features (B, 2, D)."""
        with torch.no_grad():
            gates = self._speaker.image(features) @ self._image.T + self._bias
        zeros = gates.new_zeros(len(gates), self._speaker.sizes.hidden)
        return SpeakerState(zeros, zeros, gates)

    def __call__(self, tokens: torch.Tensor | None, state: SpeakerState) -> tuple[torch.Tensor, SpeakerState]:
        """Logits (R, V) after ``tokens`` (R,) and the next state."""
        if tokens is None:
            raise ValueError("the speaker's first token is START, never None")
        gates = state.gates + self._words[tokens] + state.hidden @ self._recurrent
        enter, forget, new, out = gates.chunk(4, dim=-1)
        cell = forget.sigmoid() * state.cell + enter.sigmoid() * new.tanh()
        hidden = out.sigmoid() * cell.tanh()
        return torch.addmm(self._out[1], hidden, self._out[0].T), SpeakerState(hidden, cell, state.gates)


class _MessageEncoder(nn.Module):
    def __init__(self, sizes: ListenerSizes) -> None:
        super().__init__()
        self.embed = nn.Embedding(sizes.words, sizes.embed)
        self.lstm = nn.LSTM(sizes.embed, sizes.hidden, batch_first=True)


class _ImageEncoder(nn.Module):
    def __init__(self, sizes: ListenerSizes) -> None:
        super().__init__()
        self.embed = nn.Linear(sizes.features, sizes.hidden)


class Listener(nn.Module):
    """Picks the image that a message describes: dot product of the message's last hidden state with each projected image."""

    def __init__(
        self, sizes: ListenerSizes, vocabulary: Vocabulary | None = None, meta: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        self.sizes, self.meta = sizes, dict(meta or {})
        self.vocabulary = _fitting(vocabulary, sizes.words)
        self.rnn = _MessageEncoder(sizes)
        self.encoder = _ImageEncoder(sizes)

    @classmethod
    def load(
        cls, path: str | Path, encoder: str | Path | None = None, vocabulary: str | Path | None = None
    ) -> Listener:
        """From one file with keys ``rnn.*`` and ``encoder.*``, or from the authors' two files (message and image encoder).

        Raises :class:`InputError` as :meth:`Speaker.load`.
        """
        state, meta = read_state(path)
        if encoder is not None:
            state = {f"rnn.{key}": value for key, value in state.items()}
            image, _ = read_state(encoder)
            state |= {f"encoder.{key}": value for key, value in image.items() if not key.startswith("resnet.")}
        try:
            words, embed = state["rnn.embed.weight"].shape
            hidden, features = state["encoder.embed.weight"].shape
        except KeyError as error:
            raise InputError(f"no listener: the key {error} is missing", str(path)) from None
        listener = cls(
            ListenerSizes(words, embed, hidden, features), stored_vocabulary(path, words, vocabulary, meta), meta
        )
        return _filled(listener, state, path)

    def message(self, tokens: torch.Tensor) -> torch.Tensor:
        """(B, hidden): last hidden state over messages (B, T) as they stand: END and all after it included, START not."""
        _, (hidden, _) = self.rnn.lstm(self.rnn.embed(tokens))
        return hidden[-1]

    def forward(self, features: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Scores (B, K) of the images' features (B, K, D) for messages (B, T): logits of the choice."""
        return torch.einsum(
            "bkh,bh->bk", self.encoder.embed(features.to(self.encoder.embed.weight.dtype)), self.message(tokens)
        )

    def save(self, path: str | Path, **meta: Any) -> None:
        """Write safetensors (float16) with vocabulary and ``meta`` in its header."""
        save_state(path, self.state_dict(), {**self.meta, **meta, "words": list(self.vocabulary.words)})


# --------------------------------------------------------------------------- files
def read_state(path: str | Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """(float32 tensors by name, what we stored beside them); never runs code from the file."""
    path = Path(path)
    if not path.is_file():
        raise InputError("no such checkpoint", str(path))
    meta: dict[str, Any] = {}
    try:
        if path.suffix == ".safetensors":
            from safetensors import safe_open

            with safe_open(str(path), "pt") as file:
                state = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (no mapping)
                meta = json.loads((file.metadata() or {}).get("a3ds", "{}"))
        elif path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as file:
                state = {key: torch.from_numpy(file[key]) for key in file.files}
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise InputError(f"not a readable state dict ({str(error).splitlines()[0]})", str(path)) from error
    if not isinstance(state, Mapping) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise InputError("holds no plain state dict (names and tensors)", str(path))
    return {key: value.float() for key, value in state.items()}, meta


def save_state(path: str | Path, state: Mapping[str, torch.Tensor], meta: Mapping[str, Any]) -> None:
    """Write tensors as float16 safetensors with ``meta`` as JSON in the header; the file appears whole or not at all."""
    from safetensors.torch import save_file

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    save_file({k: v.half().contiguous() for k, v in state.items()}, partial, {"a3ds": json.dumps(meta, sort_keys=True)})
    partial.replace(path)


def stored_vocabulary(path: str | Path, count: int, given: str | Path | None, meta: Mapping[str, Any]) -> Vocabulary:
    """The given JSON's words, else those in the file, else the published 47; raises :class:`InputError` if there are not ``count``."""
    words: tuple[str, ...] = tuple(meta.get("words", WORDS))
    if given is not None:
        try:
            table = json.loads(Path(given).read_text())
            words = tuple(sorted(table, key=table.__getitem__)) if isinstance(table, dict) else tuple(table)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"no JSON vocabulary of word -> id ({error})", str(given)) from None
    if len(words) != count:
        source = str(given) if given is not None else "the published vocabulary"
        raise InputError(
            f"checkpoint of {count} words, but {source} has {len(words)}: give its own vocabulary", str(path)
        )
    return Vocabulary(words)


def _fitting(vocabulary: Vocabulary | None, count: int) -> Vocabulary:
    vocabulary = vocabulary or Vocabulary()
    if len(vocabulary) != count:
        raise HarnessError(f"agent of {count} words with a vocabulary of {len(vocabulary)}")
    return vocabulary


def _filled(agent: Any, state: Mapping[str, torch.Tensor], path: str | Path) -> Any:
    """``agent`` with the weights of ``state``; raises :class:`InputError` where name or shape differs."""
    expected = agent.state_dict()
    for key, value in expected.items():
        if key not in state:
            raise InputError(f"the key '{key}' is missing", str(path))
        if state[key].shape != value.shape:
            raise InputError(f"'{key}' has shape {tuple(state[key].shape)}, expected {tuple(value.shape)}", str(path))
    unknown = sorted(set(state) - set(expected))
    if unknown:
        raise InputError(f"unknown key '{unknown[0]}'", str(path))
    agent.load_state_dict(state)
    return agent.eval()
