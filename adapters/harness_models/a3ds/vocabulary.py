"""The 47 words of the A3DS agents, and the conversion between text and tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.errors import HarnessError

START, END, UNK, PAD = range(4)
"""Ids of the special words."""
_WORDS = """
    START END UNK PAD a tiny red block in the right corner front of wall on floor
    picture shows standing is close to side near middle nearly left cylinder ball pill
    small medium sized big large huge giant orange yellow light green dark cyan blue
    purple pink
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
