"""Word lists with special words for masked slots and drafts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness_models.o2na.layers import BOS, EOS, MASK, PAD, UNK, VIS
from harness_models.shared.tokenisers.word_list import WordList
from harness_models.shared.weights.checkpoint_config import read_json

SPECIAL = ("<pad>", "<unk>", "<bos>", "<eos>", "<mask>", "<vis>")
"""Special words in the order of their ids."""


def split_words(text: str) -> list[str]:
    """Return the lower-cased words of a text without punctuation at their ends,
    as in the authors' corpus.

    Tokens without a letter or digit are dropped.

    >>> split_words("A man's dog runs , fast!")
    ['a', "man's", 'dog', 'runs', 'fast']
    """
    words = [word for word in text.lower().split() if any(ch.isalnum() for ch in word)]
    return [word.strip(".,!?;:\"'()") for word in words]


class VideoWords(WordList):
    """Words and their ids, from a file or a list.

    Parameters
    ----------
    source
        JSON file with a list or a mapping of id to word, or the words themselves.
    path
        File that the words were read from, for error messages, where ``source`` is the
        words.

    Raises
    ------
    InputError
        If the file does not exist or does not hold words, or the ids are not 0 to
        N - 1.
    """

    unknown = UNK
    ends = (PAD, EOS)
    hidden = (BOS, MASK, VIS)
    split = staticmethod(split_words)

    def __init__(
        self, source: str | Path | Sequence[str], path: str | Path | None = None
    ) -> None:
        if isinstance(source, (str, Path)):
            self.path = Path(source)
            if not self.path.is_file():
                raise InputError("no such word list", str(self.path))
            data = self.read()
        else:
            self.path = Path(path or ".")
            data = list(source)

        try:
            items = data.items() if isinstance(data, Mapping) else enumerate(data)
            table = {int(i): str(word) for i, word in items}
        except (TypeError, ValueError) as error:
            raise InputError(
                "expected a list of words or a mapping of ids to words", str(self.path)
            ) from error

        # A gap in the numbers would give words to ids of other words.
        if sorted(table) != list(range(len(table))):
            raise InputError(f"word ids are not 0 to {len(table) - 1}", str(self.path))
        super().__init__([table[i] for i in range(len(table))])

    def read(self) -> Any:
        """Return the list or mapping in the file."""
        return read_json(self.path, "word list")
