"""Checkpoint files of the agents: the authors' state dicts,
and the safetensors of this project.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from harness.errors import HarnessError, InputError
from harness.files.json_text import parse_json
from harness_models.shared.weights.checkpoints import load_checkpoint

# --------------------------------------------------------------------------- vocabulary
# The 47 words of the A3DS agents, and the conversion between text and tokens.
START, END, UNK, PAD = range(4)
"""Ids of the special words."""
_WORDS = """
    START END UNK PAD a tiny red block in the right corner front of wall on floor picture shows standing is close
    to side near middle nearly left cylinder ball pill small medium sized big large huge giant orange yellow light
    green dark cyan blue purple pink
"""
WORDS: tuple[str, ...] = tuple(_WORDS.split())
"""The published vocabulary in the order of ids. As published, it lacks ``there``,
which short captions contain.
"""
MAX_LENGTH = 25
"""Maximum number of tokens of a caption: START, 23 words, END."""

_SPECIAL = ("START", "END", "UNK", "PAD")
_TOKEN = re.compile(r"[a-z0-9]+|[.,!?()'\"]")


class Vocabulary:
    """Words and their ids. The first four words are START, END, UNK and PAD.

    Examples
    --------
    >>> vocabulary = Vocabulary()
    >>> vocabulary.encode("A red zebra"), vocabulary.decode([0, 4, 6, 2, 1, 3])
    ([0, 4, 6, 2, 1], 'a red unk')
    """

    def __init__(self, words: Sequence[str] = WORDS) -> None:
        if tuple(words[:4]) != _SPECIAL or len(set(words)) != len(words):
            raise HarnessError(
                f"vocabulary begins with {list(words[:4])}; "
                f"expected {list(_SPECIAL)} and no word twice"
            )
        self.words = tuple(words)
        self._ids = {word: number for number, word in enumerate(words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str, max_length: int | None = None) -> list[int]:
        """Return START, the ids of the words, and END.

        The text is lower-cased, hyphens count as spaces, and unknown words have the id
        UNK. Words beyond ``max_length`` ids are cut.
        """
        words = _TOKEN.findall(text.lower().replace("-", " "))
        if max_length is not None:
            words = words[: max_length - 2]
        return [START, *(self._ids.get(word, UNK) for word in words), END]

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the words up to END, joined by spaces, without PAD and START;
        UNK becomes ``unk``.
        """
        words = []
        for token in tokens:
            if token == END:
                break
            if token not in (PAD, START):
                words.append("unk" if token == UNK else self.words[token])
        return " ".join(words)


def read_state(path: str | Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the float32 tensors of a file by name, and the metadata that
    :func:`save_state` stored.

    Files are safetensors, ``.npz``, or state dicts of torch (``.pkl``, ``.pt``). No
    code of the file is run.

    Raises
    ------
    InputError
        If the file does not exist or holds no plain state dict.
    """
    tensors = load_checkpoint(path).tensors
    meta = {}
    if Path(path).suffix == ".safetensors":
        from safetensors import safe_open

        with safe_open(str(path), "pt") as file:
            meta = parse_json((file.metadata() or {}).get("a3ds", "{}"))
    return {key: value.float() for key, value in tensors.items()}, meta


def save_state(
    path: str | Path, state: Mapping[str, torch.Tensor], meta: Mapping[str, Any]
) -> None:
    """Write tensors as float16 safetensors with ``meta`` as JSON in the header,
    atomically.
    """
    from safetensors.torch import save_file

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    save_file(
        {k: v.half().contiguous() for k, v in state.items()},
        partial,
        {"a3ds": json.dumps(meta, sort_keys=True)},
    )
    partial.replace(path)


def joined_listener_state(
    message: Mapping[str, torch.Tensor], image: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Return the state of a listener from the authors' two files,
    the message encoder and the image encoder.

    The weights of the image encoder's ResNet (``resnet.*``) are left out: listeners
    read image features.
    """
    state = {f"rnn.{key}": value for key, value in message.items()}
    return state | {
        f"encoder.{key}": value
        for key, value in image.items()
        if not key.startswith("resnet.")
    }


def stored_vocabulary(
    path: str | Path, count: int, vocabulary: str | Path | None, meta: Mapping[str, Any]
) -> Vocabulary:
    """Return the words of a checkpoint.

    Parameters
    ----------
    path
        Checkpoint, for error messages.
    count
        Number of words of the checkpoint.
    vocabulary
        JSON file of word to id, or None: the words in ``meta``, else the published 47.
    meta
        Metadata of the checkpoint.

    Raises
    ------
    InputError
        If the file is malformed, or the number of words is not ``count``.
    """
    words: tuple[str, ...] = tuple(meta.get("words", WORDS))
    if vocabulary is not None:
        try:
            table = parse_json(Path(vocabulary).read_text())
            words = (
                tuple(sorted(table, key=table.__getitem__))
                if isinstance(table, dict)
                else tuple(table)
            )
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"no JSON vocabulary of word -> id ({error})", str(vocabulary)
            ) from None
    if len(words) != count:
        source = (
            str(vocabulary) if vocabulary is not None else "the published vocabulary"
        )
        raise InputError(
            f"checkpoint of {count} words, but {source} has {len(words)}: "
            "give the checkpoint's vocabulary",
            str(path),
        )
    return Vocabulary(words)
