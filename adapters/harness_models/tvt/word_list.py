"""Word list of TVT: lower-cased words, split at spaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from harness.errors import InputError
from harness_models.tvt.model import BOS, EOS, PAD, SPECIAL, UNK


class WordList:
    """Words and their ids, with pad, bos, eos and unk first.

    Parameters
    ----------
    words
        All words, the special ones first.

    Raises
    ------
    InputError
        If the list does not begin with the special words.

    Examples
    --------
    >>> words = WordList.of(["A dog runs", "a cat"])
    >>> words.encode("a bird runs"), words.decode([1, 4, 6, 2])
    ([4, 3, 7], 'a dog')
    """

    def __init__(self, words: Sequence[str]) -> None:
        if tuple(words[: len(SPECIAL)]) != SPECIAL:
            raise InputError(f"a word list begins with {', '.join(SPECIAL)}")
        self.words = list(words)
        self.ids = {word: i for i, word in enumerate(words)}

    @classmethod
    def of(cls, captions: Iterable[str], minimum: int = 1) -> WordList:
        """Return the words with at least ``minimum`` occurrences, most frequent first, then in alphabetical order."""
        counts = Counter(word for caption in captions for word in caption.lower().split())
        frequent = sorted((word for word, n in counts.items() if n >= minimum), key=lambda word: (-counts[word], word))
        return cls([*SPECIAL, *frequent])

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str) -> list[int]:
        """Return the ids of the words of a text; unknown words have the id UNK."""
        return [self.ids.get(word, UNK) for word in text.lower().split()]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the words of ids, without pad, bos and eos, joined by spaces."""
        return " ".join(self.words[i] for i in ids if i not in (PAD, BOS, EOS))
