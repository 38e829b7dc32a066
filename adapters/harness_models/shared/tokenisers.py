"""Tokenisers from local files: byte-level BPE of GPT-2, WordPiece of BERT,
and lists of words.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from harness.errors import InputError, require


# --------------------------------------------------------------------------- lists of words
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


# --------------------------------------------------------------------------- GPT-2 and BERT
class Gpt2Bpe:
    """Tokeniser without a leading space and without special tokens.

    Parameters
    ----------
    folder
        Folder with ``vocab.json`` and ``merges.txt``.

    Raises
    ------
    InputError
        If a file is missing or is not a vocabulary with merges.
    """

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        self.files = (folder / "vocab.json", folder / "merges.txt")
        for file in self.files:
            if not file.is_file():
                raise InputError(
                    "no such tokenizer file (expected GPT-2's vocab.json and "
                    "merges.txt)",
                    str(file),
                )
        tokenizers = require(
            "tokenizers", extra="models", needed_by="GPT-2's tokenizer"
        )
        try:
            self._tokenizer = tokenizers.ByteLevelBPETokenizer(
                str(self.files[0]), str(self.files[1])
            )
        except Exception as error:  # the Rust library raises bare Exceptions
            raise InputError(
                f"not a GPT-2 vocabulary with merges ({error})", str(folder)
            ) from error

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text."""
        return self._tokenizer.encode(text).ids

    def decode(self, ids: list[int]) -> str:
        """Return the text of token ids."""
        return self._tokenizer.decode(ids)

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        """Return the text of every single token."""
        return tuple(self._tokenizer.decode([token]) for token in ids)


# --------------------------------------------------------------------------- wordpiece
# WordPiece of BERT, from a local file ``vocab.txt``.
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def vocabulary_of(texts: Iterable[str], size: int) -> list[str]:
    """Return a WordPiece vocabulary of at most ``size`` pieces.

    It holds the special tokens, every character at the start of a word and (with ##)
    inside, and the most frequent words, ordered by count and then by spelling. The same
    texts always give the same list; the trainer of the package tokenizers does not
    guarantee that.

    Raises :class:`InputError` if ``size`` is below the number of special tokens and
    characters.
    """
    tokenizers = require("tokenizers", extra="models", needed_by="BERT's tokenizer")
    normaliser = tokenizers.normalizers.BertNormalizer(
        lowercase=False, strip_accents=False
    )
    split = tokenizers.pre_tokenizers.BertPreTokenizer()
    counts = Counter(
        word
        for text in texts
        for word, _ in split.pre_tokenize_str(normaliser.normalize_str(text))
    )
    letters = sorted({letter for word in counts for letter in word})
    pieces = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters)]
    words = sorted(
        (word for word in counts if len(word) > 1),
        key=lambda word: (-counts[word], word),
    )
    if size < len(pieces):
        raise InputError(
            f"a vocabulary of {size} pieces has no room for the {len(pieces)} single "
            "characters of the captions"
        )
    return pieces + words[: size - len(pieces)]


class WordPiece(WordList):
    """Tokeniser without special tokens in its output.

    Parameters
    ----------
    vocabulary
        File with one piece per line, or a folder with ``vocab.txt``.
    lower
        If true, texts are lower-cased.

    Raises
    ------
    InputError
        If the file is missing or lacks a special token.
    """

    def __init__(self, vocabulary: str | Path, *, lower: bool = False) -> None:
        self.path = Path(vocabulary)
        if self.path.is_dir():
            self.path = self.path / "vocab.txt"
        if not self.path.is_file():
            raise InputError(
                "no such WordPiece vocabulary (expected BERT's vocab.txt)",
                str(self.path),
            )
        tokenizers = require("tokenizers", extra="models", needed_by="BERT's tokenizer")
        super().__init__(self.path.read_text(encoding="utf-8").splitlines())
        absent = [name for name in SPECIAL if name not in self.ids]
        if absent:
            raise InputError(
                f"no {', '.join(absent)} in this vocabulary", str(self.path)
            )
        self._tokenizer = tokenizers.BertWordPieceTokenizer(
            str(self.path), lowercase=lower, strip_accents=False
        )

    def special(self) -> dict[str, int]:
        """Return the ids of the special tokens by name."""
        return {name: self.ids[name] for name in SPECIAL}

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text."""
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of token ids: pieces with ## continue the word before them,
        other pieces are joined by spaces.
        """
        return " ".join(self.words[i] for i in ids).replace(" ##", "")
