"""Tokenisers from local files: byte-level BPE of GPT-2 and WordPiece of BERT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from harness.errors import InputError, require


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
                raise InputError("no such tokenizer file (expected GPT-2's vocab.json and merges.txt)", str(file))
        tokenizers = require("tokenizers", extra="models", needed_by="GPT-2's tokenizer")
        try:
            self._tokenizer = tokenizers.ByteLevelBPETokenizer(str(self.files[0]), str(self.files[1]))
        except Exception as error:  # the Rust library raises bare Exceptions
            raise InputError(f"not a GPT-2 vocabulary with merges ({error})", str(folder)) from error

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

    It holds the special tokens, every character at the start of a word and (with ##) inside, and the most frequent words, ordered by
    count and then by spelling. The same texts always give the same list; the trainer of the package tokenizers does not guarantee that.

    Raises :class:`InputError` if ``size`` is below the number of special tokens and characters.
    """
    tokenizers = require("tokenizers", extra="models", needed_by="BERT's tokenizer")
    normaliser = tokenizers.normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    split = tokenizers.pre_tokenizers.BertPreTokenizer()
    counts = Counter(word for text in texts for word, _ in split.pre_tokenize_str(normaliser.normalize_str(text)))
    letters = sorted({letter for word in counts for letter in word})
    pieces = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters)]
    words = sorted((word for word in counts if len(word) > 1), key=lambda word: (-counts[word], word))
    if size < len(pieces):
        raise InputError(
            f"a vocabulary of {size} pieces has no room for the {len(pieces)} single characters of the captions"
        )
    return pieces + words[: size - len(pieces)]


class WordPiece:
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
            raise InputError("no such WordPiece vocabulary (expected BERT's vocab.txt)", str(self.path))
        tokenizers = require("tokenizers", extra="models", needed_by="BERT's tokenizer")
        self.words = self.path.read_text(encoding="utf-8").splitlines()
        self.ids = {word: i for i, word in enumerate(self.words)}
        absent = [name for name in SPECIAL if name not in self.ids]
        if absent:
            raise InputError(f"no {', '.join(absent)} in this vocabulary", str(self.path))
        self._tokenizer = tokenizers.BertWordPieceTokenizer(str(self.path), lowercase=lower, strip_accents=False)

    def __len__(self) -> int:
        return len(self.words)

    def special(self) -> dict[str, int]:
        """Return the ids of the special tokens by name."""
        return {name: self.ids[name] for name in SPECIAL}

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text."""
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids: list[int]) -> str:
        """Return the text of token ids: pieces with ## continue the word before them, other pieces are joined by spaces."""
        return " ".join(self.words[i] for i in ids).replace(" ##", "")

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        """Return the piece of every token id."""
        return tuple(self.words[i] for i in ids)
