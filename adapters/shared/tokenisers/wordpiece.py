"""BERT's WordPiece from a local ``vocab.txt``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from harness.errors import InputError, require

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def vocabulary_of(texts: Iterable[str], size: int) -> list[str]:
    """A WordPiece vocabulary of at most ``size`` pieces: the special ones, every character at a word's start and (##) inside, and the
    most frequent words, by count and then by spelling: the same texts give the same list, which the trainer of tokenizers does not."""
    tokenizers = require("tokenizers", extra="models", needed_by="BERT's tokenizer")
    normal = tokenizers.normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    split = tokenizers.pre_tokenizers.BertPreTokenizer()
    counts = Counter(word for text in texts for word, _ in split.pre_tokenize_str(normal.normalize_str(text)))
    letters = sorted({letter for word in counts for letter in word})
    pieces = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters)]
    words = sorted((word for word in counts if len(word) > 1), key=lambda word: (-counts[word], word))
    if size < len(pieces):
        raise InputError(
            f"a vocabulary of {size} pieces has no room for the {len(pieces)} single characters of the captions"
        )
    return pieces + words[: size - len(pieces)]


class WordPiece:
    """Text to ids and back; cased unless ``lower``. Raises :class:`InputError` when the file is missing or lacks a special token."""

    def __init__(self, vocabulary: str | Path, *, lower: bool = False) -> None:
        self.path = Path(vocabulary)
        if self.path.is_dir():
            self.path = self.path / "vocab.txt"
        if not self.path.is_file():
            raise InputError("no such WordPiece vocabulary (BERT's vocab.txt is wanted)", str(self.path))
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
        return {name: self.ids[name] for name in SPECIAL}

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids: list[int]) -> str:
        """Pieces that start with ## glued to what stands before, others joined by spaces (so punctuation stands apart)."""
        return " ".join(self.words[i] for i in ids).replace(" ##", "")

    def pieces(self, ids: list[int]) -> tuple[str, ...]:
        return tuple(self.words[i] for i in ids)
