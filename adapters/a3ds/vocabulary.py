"""The 47 words of the A3DS agents and how text becomes tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.errors import HarnessError

START, END, UNK, PAD = range(4)
WORDS: tuple[str, ...] = (
    *(
        "START",
        "END",
        "UNK",
        "PAD",
        "a",
        "tiny",
        "red",
        "block",
        "in",
        "the",
        "right",
        "corner",
        "front",
        "of",
        "wall",
        "on",
    ),
    *(
        "floor",
        "picture",
        "shows",
        "standing",
        "is",
        "close",
        "to",
        "side",
        "near",
        "middle",
        "nearly",
        "left",
        "cylinder",
    ),
    *(
        "ball",
        "pill",
        "small",
        "medium",
        "sized",
        "big",
        "large",
        "huge",
        "giant",
        "orange",
        "yellow",
        "light",
        "green",
    ),
    *("dark", "cyan", "blue", "purple", "pink"),
)
"""The published vocabulary in id order. ``there`` (short captions) and ``middle-sized``'s parts are as the authors left them."""
MAX_LENGTH = 25
"""START, at most 23 words, END."""

_SPECIAL = ("START", "END", "UNK", "PAD")
_TOKEN = re.compile(r"[a-z0-9]+|[.,!?()'\"]")


class Vocabulary:
    """Words <-> ids; the first four are START, END, UNK and PAD."""

    def __init__(self, words: Sequence[str] = WORDS) -> None:
        if tuple(words[:4]) != _SPECIAL or len(set(words)) != len(words):
            raise HarnessError(f"vocabulary begins with {list(words[:4])}; expected {list(_SPECIAL)} and no word twice")
        self.words = tuple(words)
        self._ids = {word: number for number, word in enumerate(words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str, max_length: int | None = None) -> list[int]:
        """START, the words' ids, END; lower-cased, hyphens as spaces, unknown words UNK; cut to ``max_length`` ids."""
        found = _TOKEN.findall(text.lower().replace("-", " "))
        if max_length is not None:
            found = found[: max_length - 2]
        return [START, *(self._ids.get(word, UNK) for word in found), END]

    def decode(self, tokens: Iterable[int]) -> str:
        """Words up to END, joined by blanks; PAD left out, UNK as ``unk``."""
        words = []
        for token in tokens:
            if token == END:
                break
            if token not in (PAD, START):
                words.append("unk" if token == UNK else self.words[token])
        return " ".join(words)
