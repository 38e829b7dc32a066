"""Lists of words with ids."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar


def frequent_words(
    captions: Iterable[Sequence[str]], minimum: int, special: Sequence[str]
) -> list[str]:
    """Return the special words, then the words with at least ``minimum`` occurrences,
    most frequent first, then in alphabetical order.

    >>> frequent_words([["a", "dog"], ["the", "dog"]], 1, ["<pad>"])
    ['<pad>', 'dog', 'a', 'the']
    """
    counts = Counter(word for words in captions for word in words)
    frequent = [
        word for word, n in counts.items() if n >= minimum and word not in special
    ]
    return [*special, *sorted(frequent, key=lambda word: (-counts[word], word))]


class WordList:
    """Words and their ids; a subclass names its special words and splits texts.

    Parameters
    ----------
    words
        All words in the order of their ids.
    """

    unknown: ClassVar[int]
    """Id of words that are not in the list."""
    ends: ClassVar[tuple[int, ...]] = ()
    """Ids at which a text ends."""
    hidden: ClassVar[tuple[int, ...]]
    """Ids that a text leaves out."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self.ids = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    @staticmethod
    def split(text: str) -> list[str]:
        """Return the words of a text."""
        return text.lower().split()

    def encode(self, text: str) -> list[int]:
        """Return the ids of the words of a text;
        unknown words have the id :attr:`unknown`.
        """
        return [self.ids.get(word, self.unknown) for word in self.split(text)]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the words of ids up to the first end, without hidden ones,
        joined by spaces.
        """
        before_end = itertools.takewhile(lambda i: i not in self.ends, ids)
        return " ".join(self.words[i] for i in before_end if i not in self.hidden)

    def pieces(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Return the word of each id."""
        return tuple(self.words[i] for i in ids)
